"""Figures over time."""

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from doctord.analyse.capacity.series import MOST_STEPS, series_of
from doctord.dataset.dataset import Dataset
from doctord.dataset.figure import Figure, own_figures

MIDNIGHT = datetime(2026, 11, 20, tzinfo=UTC)
READS = Figure("reads", "reads", "storage", "disk", "reads_per_s", "per_s", each=("device",))


def disk(minute: float, value: float | None, **columns: Any) -> dict[str, Any]:
    known = {"interval_s": 600.0, "host": "a", "device": "vda", "reads_per_s": value}
    return {"ts": MIDNIGHT + timedelta(minutes=minute)} | known | columns


def values(*rows: dict[str, Any], figure: Figure = READS) -> list[list[float]]:
    return [series.values.tolist() for series in series_of(Dataset.from_rows(disk=list(rows)), [figure])]


def test_a_row_belongs_to_the_hour_in_which_it_ends() -> None:
    (series,) = series_of(Dataset.from_rows(disk=[disk(10, 1.0), disk(60, 3.0), disk(70, 5.0)]), [READS])
    assert series.start == MIDNIGHT + timedelta(hours=1)
    assert series.values.tolist() == [2.0, 5.0]
    assert (series.low.tolist(), series.high.tolist()) == ([1.0, 5.0], [3.0, 5.0])
    assert series.at(1) == series.end == MIDNIGHT + timedelta(hours=2)


def test_means_are_weighted_and_what_was_not_measured_is_left_out() -> None:
    assert values(disk(10, 1.0, interval_s=100.0), disk(20, 4.0, interval_s=200.0), disk(30, None)) == [[3.0]]


def test_hours_without_rows_are_no_zeros() -> None:
    ((first, *between, last),) = values(disk(60, 1.0), disk(240, 2.0))
    assert (first, last) == (1.0, 2.0)
    assert np.isnan(between).all()
    assert len(between) == 2


def test_each_entity_is_its_own() -> None:
    found = values(disk(10, 1.0), disk(10, 2.0, device="vdb"), disk(10, 3.0, host="b"))
    assert sorted(found) == [[1.0], [2.0], [3.0]]


@pytest.mark.parametrize(("how", "value"), [("max", 9.0), ("min", 1.0), ("last", 2.0), ("mean", 4.0)])
def test_how_an_hour_is_summed_up(how: Any, value: float) -> None:
    figure = Figure("reads", "reads", "storage", "disk", "reads_per_s", "per_s", each=("device",), sum=how)
    assert values(disk(10, 1.0), disk(20, 9.0), disk(30, 2.0), figure=figure) == [[value]]


def test_nan_and_infinity_are_not_measured() -> None:
    assert values(disk(10, float("nan")), disk(20, float("inf")), disk(30, 2.0)) == [[2.0]]


def test_a_clock_that_was_wrong_does_not_fill_the_memory() -> None:
    ((*_, last),) = values(disk(10, 1.0, ts=datetime(1970, 1, 1, 1, tzinfo=UTC)), disk(10, 2.0))
    assert last == 2.0
    assert len(values(disk(10, 1.0, ts=datetime(1970, 1, 1, 1, tzinfo=UTC)), disk(10, 2.0))[0]) <= MOST_STEPS


def test_waits_of_background_processes_are_no_database_time() -> None:
    """An AWR report lists an event once for sessions and once for background processes: a mean of both is neither's."""

    def wait(kind: str | None, event: str, sessions: float, ms: float) -> dict[str, Any]:
        told = {"kind": kind, "event": event, "average_active_sessions": sessions, "avg_wait_ms": ms}
        at = {"ts": MIDNIGHT, "interval_s": 3600.0, "db": "oracle:A", "wait_class": "Other", "waits_per_s": 9.0}
        return at | told

    rows = [
        wait("foreground", "CPU", 3.19, 1.0),
        wait("background", "CPU", 0.07, 1.0),
        wait("foreground", "db file sequential read", 2.0, 8.0),
        wait("background", "db file sequential read", 0.2, 2.0),
        wait("background", "log file parallel write", 0.1, 3.0),
        wait(None, "buffer busy waits", 0.5, 4.0),
    ]
    kept = [figure for figure in own_figures() if figure.name in {"wait_s_per_s", "wait_ms"}]
    found = {
        (series.figure.name, series.labels.entity): series.values.tolist()
        for series in series_of(Dataset.from_rows(wait=rows), kept)
    }
    assert found == {
        ("wait_s_per_s", "CPU"): [3.19],
        ("wait_s_per_s", "db file sequential read"): [2.0],
        ("wait_s_per_s", "buffer busy waits"): [0.5],
        ("wait_ms", "CPU"): [1.0],
        ("wait_ms", "db file sequential read"): [8.0],
        ("wait_ms", "buffer busy waits"): [4.0],
        ("wait_ms", "log file parallel write"): [3.0],
    }
