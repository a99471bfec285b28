"""A figure over time, with its extremes."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from doctord.analyse.capacity.series import Labels, Series
from doctord.analyse.over_time.buckets import Buckets
from doctord.analyse.over_time.envelopes import envelopes, rows_of, rows_of_series, spacing_s
from doctord.dataset.dataset import Dataset
from doctord.dataset.figure import own_figures

START = datetime(2026, 11, 20, 10, tzinfo=UTC)
AT = int(START.timestamp())
CPU_USED = next(one for one in own_figures() if one.name == "cpu_used_pct")


def used(values: list[float], every_s: float = 1.0) -> Dataset:
    times = [START + timedelta(seconds=every_s * (number + 1)) for number in range(len(values))]
    rows = [
        {"ts": ts, "interval_s": every_s, "host": "h", "usr_pct": value, "sys_pct": 0.0}
        for ts, value in zip(times, values, strict=True)
    ]
    return Dataset.from_rows(cpu=rows)


@pytest.mark.parametrize("width_s", [1, 10, 100])
def test_one_sample_is_seen_at_every_zoom(width_s: int) -> None:
    rows = rows_of(used([1.0] * 57 + [99.0] + [1.0] * 42), CPU_USED)
    [one] = envelopes(rows, Buckets(AT, width_s, 100 // width_s))
    assert one.envelope.high[57 // width_s] == 99.0
    assert one.mean == pytest.approx(1.98)
    assert one.newest == 1.0


def test_what_was_not_measured_is_null() -> None:
    [one] = envelopes(rows_of(used([1.0, 2.0]), CPU_USED), Buckets(AT - 1, 1, 4))
    assert np.isnan(one.envelope.mean).tolist() == [True, False, False, True]
    assert list(envelopes(rows_of(Dataset(), CPU_USED), Buckets(AT, 1, 4))) == []


def test_steps_keep_the_extremes_of_what_they_are_of() -> None:
    values, low, high = (np.array(numbers) for numbers in ([5.0, np.nan, 6.0], [1.0, np.nan, 2.0], [9.0, np.nan, 8.0]))
    series = Series(CPU_USED, Labels("h"), 60, START + timedelta(seconds=60), values, low, high)
    rows = rows_of_series([series])
    [one] = envelopes(rows, Buckets(AT, 180, 1))
    assert (one.envelope.low[0], one.envelope.high[0], one.envelope.mean[0]) == (1.0, 9.0, 5.5)
    assert spacing_s(rows) == 120
    assert rows_of_series([]).is_empty()


def test_how_far_apart_it_was_measured() -> None:
    assert spacing_s(rows_of(used([1.0] * 9, every_s=5.0), CPU_USED)) == 5.0
    assert spacing_s(rows_of(used([1.0]), CPU_USED)) == 0.0
