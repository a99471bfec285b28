"""What is said of a history before anybody relies on it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import polars as pl
import pytest

from doctord.analyse.capacity.data_quality import changed_units, is_counted_once, overfull
from doctord.dataset.dataset import Dataset
from histories import FIGURES

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def cpu(*ends_s: float, interval_s: float = 60.0) -> Dataset:
    rows = [
        {"ts": NOON + timedelta(seconds=end), "interval_s": interval_s, "host": "a", "usr_pct": 1.0, "sys_pct": 1.0}
        for end in ends_s
    ]
    return Dataset.from_rows(cpu=rows)


@pytest.mark.parametrize(
    ("dataset", "is_doubted"),
    [
        (cpu(*range(60, 3601, 60)), False),
        (cpu(*range(30, 3601, 60)), False),
        (cpu(*range(60, 3601, 60), *range(75, 1875, 60)), True),
        (cpu(14, 3600, interval_s=3600.0), False),
        (cpu(900, interval_s=14_400.0), False),
        (cpu(900, 1800, 2700, interval_s=3600.0), True),
    ],
)
def test_an_hour_holds_no_more_than_an_hour(dataset: Dataset, *, is_doubted: bool) -> None:
    assert bool(list(overfull(dataset, [FIGURES["cpu_used_pct"]]))) is is_doubted


def test_a_mean_over_several_entities_may_hold_more() -> None:
    figure = FIGURES["disk_requests_per_s"]
    assert is_counted_once(figure)
    assert not is_counted_once(replace(figure, each=()))
    assert not is_counted_once(replace(figure, weight="reads_per_s"))


def test_a_unit_that_changed_is_told_with_since_when() -> None:
    labels = {"host": "a", "db": None, "component": "x", "instance": None, "name": "size", "entity": None}
    rows = [labels | {"unit": unit, "ts": NOON + timedelta(days=day)} for day, unit in enumerate(["kB", "kB", "MB"])]
    (said,) = changed_units(pl.DataFrame(rows))
    assert said.startswith("size (a): its unit was 'kB' and is 'MB' since 2026-11-22 12:00 UTC")
    assert list(changed_units(pl.DataFrame(rows[:2]))) == []
