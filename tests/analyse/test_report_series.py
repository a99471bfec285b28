"""Several reports in a row."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from doctord.analyse.report_series import Rise, entities_of, latency_of, mean_of, rate_rises, rises, rising_run
from doctord.dataset.dataset import Dataset

START = datetime(2026, 11, 20, 0, 0, tzinfo=UTC)
DB = "oracle:P"
DAYS = [0.1] * 8 + [3.0] * 4 + [0.1] * 12


def _waits(event: str, values: list[float | None], wait_class: str = "User I/O", **more: Any) -> list[dict[str, Any]]:
    return [
        {"ts": START + timedelta(hours=hour + 1), "interval_s": 3600.0, "db": DB, "kind": "foreground",
         "wait_class": wait_class, "event": event, "average_active_sessions": value, **more}
        for hour, value in enumerate(values)
        if value is not None
    ]  # fmt: skip


def _of(dataset: Dataset, kind: str) -> dict[str, Rise]:
    return {rise.name: rise for rise in rises(dataset) if rise.kind == kind}


@pytest.mark.parametrize(
    ("series", "run"),
    [
        ([], None),
        ([1.0], None),
        ([1.0, 1.0], None),
        ([0.0, 0.0, 0.0], None),
        ([1.0, 2.0], (1, 1)),
        ([2.0, 1.0], (0, 0)),
        ([1.0, 1.4], None),
        ([1.0] * 10 + [2.0] * 10, (10, 19)),
        ([1.0] * 5 + [9.0, 8.0] + [1.0] * 5, (5, 6)),
        (DAYS * 5, None),
        (DAYS * 4 + [0.1] * 8 + [9.0] * 4 + [0.1] * 12, (104, 107)),
        (DAYS + [0.1] * 144 + DAYS, None),
    ],
)
def test_a_run_that_is_higher_than_any_other(series: list[float], run: tuple[int, int] | None) -> None:
    assert rising_run(series) == run


def test_class_event_and_statement_rise_together_and_since_when() -> None:
    reads = _waits("db file sequential read", [1.0, 1.1, 0.9, 2.5, 2.4])
    cpu = _waits("CPU", [2.0] * 5, "CPU")
    statements = [
        {"ts": START + timedelta(hours=hour + 1), "interval_s": 3600.0, "db": DB, "statement_id": name,
         "elapsed_s_per_s": value}
        for name, values in {"abc": [0.5, 0.4, 0.5, 1.9, 2.0], "xyz": [1.0] * 5}.items()
        for hour, value in enumerate(values)
    ]  # fmt: skip
    dataset = Dataset.from_rows(wait=[*reads, *cpu], statement=statements)
    (rise,) = _of(dataset, "wait class").values()
    assert (rise.name, rise.before, rise.now, rise.within, rise.others) == ("User I/O", 1.0, pytest.approx(2.45), 2, 3)
    assert rise.since == START + timedelta(hours=3)
    assert rise.ends == (START + timedelta(hours=4), START + timedelta(hours=5))
    assert rise.lasting
    assert rise.whole_before == pytest.approx(3.0)
    assert set(_of(dataset, "event")) == {"db file sequential read"}
    assert set(_of(dataset, "statement")) == {"abc"}


def test_what_a_list_of_the_top_leaves_out_took_no_more_than_its_last() -> None:
    listed = _waits("db file sequential read", [5.0, 5.0, 5.0]) + _waits("log file sync", [None, None, 1.2], "Commit")
    short = _waits("latch free", [1.0, 1.0, 1.0], "Other")
    assert "log file sync" not in _of(Dataset.from_rows(wait=[*listed, *short]), "event")
    low = _waits("latch free", [0.1, 0.1, 0.1], "Other")
    assert "log file sync" in _of(Dataset.from_rows(wait=[*listed, *low]), "event")


def test_instances_that_end_seconds_apart_are_one_interval() -> None:
    later = timedelta(seconds=7)
    one = _waits("CPU", [1.0, 1.0, 1.0, 4.0], "CPU", instance="p1")
    two = [row | {"ts": row["ts"] + later} for row in _waits("CPU", [1.0, 1.0, 1.0, 4.0], "CPU", instance="p2")]
    (rise,) = _of(Dataset.from_rows(wait=[*one, *two]), "wait class").values()
    assert (rise.before, rise.now, rise.within, rise.others) == (2.0, 8.0, 1, 3)


def test_classes_alone_are_enough() -> None:
    rows = [
        {"ts": START + timedelta(hours=hour + 1), "interval_s": 3600.0, "db": DB, "component": "oracle",
         "name": "wait_class.waited", "entity": "Commit", "value": value}
        for hour, value in enumerate([0.1, 0.1, 0.9])
    ]  # fmt: skip
    assert set(_of(Dataset.from_rows(statistic=rows), "wait class")) == {"Commit"}


def test_the_work_before_and_now() -> None:
    calls = [
        {"ts": START + timedelta(hours=hour + 1), "interval_s": 3600.0, "db": DB, "name": "calls", "value": value}
        for hour, value in enumerate([10.0, 20.0, 60.0])
    ]
    dataset = Dataset.from_rows(wait=_waits("CPU", [1.0, 1.0, 3.0], "CPU"), statistic=calls)
    (rise,) = _of(dataset, "wait class").values()
    assert mean_of(dataset, "calls", rise) == (pytest.approx(15.0), pytest.approx(60.0))
    assert mean_of(dataset, "not counted", rise) is None


def test_what_was_sampled_each_second_is_no_row_of_reports() -> None:
    waits = [row | {"interval_s": 1.0} for row in _waits("db file sequential read", [1.0, 1.0, 1.0, 5.0, 5.0])]
    assert rises(Dataset.from_rows(wait=waits)) == []


def _counted(name: str, values: list[float], entity: str | None = None) -> list[dict[str, Any]]:
    return [
        {"ts": START + timedelta(hours=hour + 1), "interval_s": 3600.0, "db": DB, "name": name, "entity": entity,
         "value": value}
        for hour, value in enumerate(values)
    ]  # fmt: skip


def test_what_nothing_accounts_for_is_a_class_of_its_own() -> None:
    whole = _counted("v$sys_time_model.DB time", [1.6, 1.6, 1.6, 3.5, 3.5])
    cpu, reads = _waits("CPU", [1.0] * 5, "CPU"), _waits("db file sequential read", [0.5] * 5)
    (rise,) = _of(Dataset.from_rows(wait=[*cpu, *reads], statistic=whole), "wait class").values()
    assert (rise.name, rise.before, rise.now) == ("Unaccounted", pytest.approx(0.1), pytest.approx(2.0))
    assert rise.whole_before == pytest.approx(1.6)
    top_events = [row | {"kind": None} for row in reads]
    assert not _of(Dataset.from_rows(wait=[*cpu, *top_events], statistic=whole), "wait class")


def test_rates_rise_by_the_intervals_in_which_they_were_counted() -> None:
    calls = _counted("calls", [10.0, 10.0, 10.0, 50.0])
    (rise,) = rate_rises(Dataset.from_rows(statistic=[*calls, *_counted("commits", [5.0] * 4)]), ["calls", "commits"])
    assert (rise.kind, rise.name, rise.times, rise.within, rise.others) == ("rate", "calls", 5.0, 1, 3)


def test_latencies_and_segments_before_and_since() -> None:
    reads = _waits("db file sequential read", [1.0, 1.0, 3.0, 3.0])
    timed = [row | {"waits_per_s": 100.0, "avg_wait_ms": row["average_active_sessions"] * 10} for row in reads]
    segments = _counted("reads", [1.0, 1.0, 9.0, 9.0], "A") + _counted("reads", [5.0, 5.0, 6.0, 6.0], "B")
    dataset = Dataset.from_rows(wait=timed, statistic=segments)
    rise = _of(dataset, "event")["db file sequential read"]
    assert latency_of(dataset, "db file sequential read", rise) == (10.0, 30.0)
    assert latency_of(dataset, "unheard of", rise) is None
    assert entities_of(dataset, "reads", rise) == [("A", 1.0, 9.0), ("B", 5.0, 6.0)]
    assert entities_of(dataset, "writes", rise) == []
