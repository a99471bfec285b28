"""Percentiles of hours and days."""

from datetime import UTC, datetime, timedelta

import pytest

from doctord.analyse.capacity.percentiles import SHOWN, percentiles_of, share_of
from doctord.analyse.capacity.series import Labels
from doctord.dataset.dataset import Dataset
from histories import FIGURES

MIDNIGHT = datetime(2026, 11, 20, tzinfo=UTC)
CPU = FIGURES["cpu_used_pct"]
KEY = (CPU.name, Labels("a", None, ""))


def dataset(*used: float) -> Dataset:
    """CPU used, a value each half hour."""
    rows = [
        {"ts": MIDNIGHT + timedelta(minutes=30 * (step + 1)), "interval_s": 1800.0, "host": "a", "usr_pct": value}
        | {"sys_pct": 0.0}
        for step, value in enumerate(used)
    ]
    return Dataset.from_rows(cpu=rows)


def test_a_day_and_one_hour_of_it() -> None:
    spread, end = percentiles_of(dataset(*range(1, 49)), [CPU]), MIDNIGHT + timedelta(days=1)
    day, hour = (spread.of_day(end, {KEY: of}, SHOWN)[KEY] for of in (None, 23))
    assert day == pytest.approx({"rows": 48, "p1": 1, "p5": 3, "p50": 24, "p95": 46, "p99": 48}, rel=0.01)
    assert hour == pytest.approx({"rows": 2, "p1": 47, "p5": 47, "p50": 47, "p95": 48, "p99": 48}, rel=0.01)


def test_of_a_day_without_rows_there_are_none() -> None:
    assert percentiles_of(dataset(1.0), [CPU]).of_day(MIDNIGHT, {}, SHOWN) == {}
    assert percentiles_of(Dataset(), [CPU]).of_day(MIDNIGHT, {}, SHOWN) == {}


def test_a_series_has_a_percentile_for_each_hour_and_none_for_a_gap() -> None:
    (series,) = percentiles_of(dataset(1.0, 9.0, float("nan"), float("inf"), 4.0, 2.0), [CPU]).series(
        [(CPU.name, "p99")]
    )
    assert (series.of, series.start) == ("p99", MIDNIGHT + timedelta(hours=1))
    assert series.values.tolist() == pytest.approx([9.0, float("nan"), 4.0], rel=0.01, nan_ok=True)
    assert series.name == "CPU used, p99 (a)"


@pytest.mark.parametrize("name", ["", "p", "95", "p0", "p100", "p-5", "pnan", "pinf"])
def test_what_is_no_percentile(name: str) -> None:
    with pytest.raises(ValueError, match=r"percentile|convert"):
        share_of(name)
