from datetime import timedelta

import polars as pl
import pytest

from doctord.dataset.dataset import Dataset
from doctord.report.series import MOST_STEPS, active_by_class, layers, line
from report import datasets
from report.examples import SINCE


def frame(*rows: tuple[float, float | None, float | None]) -> pl.DataFrame:
    """Rows of cpu: seconds after SINCE, interval, usr_pct."""
    return Dataset.from_rows(
        cpu=[{"ts": SINCE + timedelta(seconds=ts), "interval_s": s, "usr_pct": value} for ts, s, value in rows]
    ).frame("cpu")


def test_a_late_sample_is_no_gap_and_a_lost_one_is() -> None:
    (series,) = line("a", frame((1, 1, 5.0), (2.2, 1, 6.0), (4.2, 1, 7.0)), "usr_pct", colour=0)
    since = SINCE.timestamp()
    edges = [moment - since for step in series.steps for moment in (step.start, step.end)]
    assert edges == pytest.approx([0, 1, 1, 2.2, 3.2, 4.2])


def test_null_is_a_gap_and_not_zero() -> None:
    (series,) = line("a", frame((1, 1, 5.0), (2, 1, None), (3, 1, 7.0)), "usr_pct", colour=0)
    assert [step.mean for step in series.steps] == [5.0, 7.0]
    assert series.steps[1].start > series.steps[0].end
    assert series.mean == 6.0


def test_what_was_never_measured_gives_no_series() -> None:
    assert line("a", frame((1, 1, None)), "usr_pct", colour=0) == []
    assert layers(frame((1, 1, None)), {"a": ("usr_pct", 0)}) == []


def test_readings_without_an_interval_stand_for_the_time_between_them() -> None:
    (series,) = line("a", frame((10, None, 5.0), (20, None, 6.0), (30, None, 7.0)), "usr_pct", colour=0)
    assert [step.end - step.start for step in series.steps] == pytest.approx([10, 10, 10])


def test_thinning_keeps_extremes_and_gaps() -> None:
    rows = [(float(i), 1.0, 99.0 if i == 777 else 1.0) for i in range(1, 3601) if not 2000 < i <= 2010]
    (series,) = line("a", frame(*rows), "usr_pct", colour=0)
    assert len(series.steps) <= MOST_STEPS + 1
    assert series.highest == 99.0
    breaks = [(a.end, b.start) for a, b in zip(series.steps, series.steps[1:], strict=False) if b.start > a.end]
    since = SINCE.timestamp()
    assert breaks == [(since + 2000, since + 2010)]


def test_layers_share_their_steps() -> None:
    rows = [
        {"ts": SINCE + timedelta(seconds=i), "interval_s": 1.0, "usr_pct": 1.0, "sys_pct": s}
        for i, s in enumerate((1.0, None, 3.0))
    ]
    user, kernel = layers(Dataset.from_rows(cpu=rows).frame("cpu"), {"user": ("usr_pct", 0), "kernel": ("sys_pct", 1)})
    assert [step.start for step in user.steps] == [step.start for step in kernel.steps]
    assert len(user.steps) == 2


def test_active_sessions_are_counted_by_class_and_gaps_kept() -> None:
    since = SINCE.timestamp()
    by_name = {series.name: series for series in active_by_class(datasets.dataset(20, missing=range(9, 12)))}
    assert list(by_name) == ["CPU", "Commit", "Application"]
    assert {round(step.mean, 6) for step in by_name["CPU"].steps} == {1.0}
    missing = [
        (a.end - since, b.start - since)
        for a, b in zip(by_name["CPU"].steps, by_name["CPU"].steps[1:], strict=False)
        if b.start > a.end
    ]
    assert missing == [(8.0, 11.0)]


def test_a_server_without_work_is_zero_and_one_not_seen_for_long_is_a_gap() -> None:
    at = [SINCE + timedelta(seconds=i) for i in range(1, 10)]
    common = {"interval_s": 1.0, "db": datasets.DB}
    dataset = Dataset.from_rows(
        cpu=[{"ts": ts, "interval_s": 1.0} for ts in at],
        session=[{"ts": at[0], "kind": "client", "state": "active", "wait_class": "CPU", **common}],
        statistic=[{"ts": at[1], **common}],
    )
    (series,) = active_by_class(dataset)
    assert [step.mean for step in series.steps] == [1.0, *[0.0] * 6]


def test_counted_waits_serve_where_no_session_was_sampled() -> None:
    waits = [
        ("Commit", 0.5, "foreground"),
        ("Commit", 0.25, None),
        ("User I/O", 2.0, "foreground"),
        ("User I/O", 0.7, "background"),
        ("Idle", 9.0, "foreground"),
    ]
    dataset = Dataset.from_rows(
        wait=[
            {"ts": SINCE, "interval_s": 60.0, "db": datasets.DB, "event": str(i), "wait_class": c, "kind": kind}
            | {"average_active_sessions": s}
            for i, (c, s, kind) in enumerate(waits)
        ]
    )
    assert {series.name: series.mean for series in active_by_class(dataset)} == {"User I/O": 2.0, "Commit": 0.75}


def test_a_server_without_any_session_gives_no_layer() -> None:
    at = [SINCE + timedelta(seconds=i) for i in range(1, 10)]
    idle = [{"ts": ts, "interval_s": 1.0, "db": datasets.DB} for ts in at]
    assert active_by_class(Dataset.from_rows(statistic=idle)) == []
    assert active_by_class(Dataset.from_rows(cpu=[{"ts": ts, "interval_s": 1.0} for ts in at])) == []
