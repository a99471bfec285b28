"""How far resources are from saturation."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from doctord.analyse.capacity.load import saturation
from doctord.analyse.capacity.load.observed import observed
from doctord.analyse.capacity.load.responses import WAITS
from doctord.analyse.capacity.load.saturation import busy_hours, databases, resources, saturations
from doctord.analyse.capacity.load.scaling import law
from doctord.analyse.capacity.series import DAY_S, HOUR_S, Labels, Series, series_of
from doctord.analyse.capacity.thresholds.threshold import Threshold
from doctord.analyse.capacity.whatif import Change
from doctord.app.capacity.saturation import Saturated
from doctord.dataset.dataset import Dataset
from doctord.dataset.figure import own_figures
from doctord.report.capacity import saturation as capacity_saturation

START = datetime(2026, 9, 1, tzinfo=UTC)
FIGURES = {figure.name: figure for figure in own_figures()}
HOURS = 24 * 40
BY_DAY = 1 + 0.5 * np.sin(np.arange(HOURS) * 2 * np.pi / 24)


def hour(number: int, **columns: object) -> dict[str, object]:
    return {"ts": START + timedelta(hours=number + 1), "interval_s": 3600.0, "host": "alpha", **columns}


def disk(rate: float, response_ms: float, number: int, device: str = "sda") -> dict[str, object]:
    return hour(number, device=device, reads_per_s=rate, writes_per_s=0.0, read_ms=response_ms)


def growing_disk() -> Dataset:
    """A disk of 200 requests per second, whose busy hour takes 75 and grows by one percent of that a day."""
    random = np.random.default_rng(4)
    rates = 50 * BY_DAY * (1 + 0.01 * np.arange(HOURS) / 24) * random.normal(1, 0.02, HOURS)
    return Dataset.from_rows(disk=[disk(rate, 5 / (1 - rate / 200), number) for number, rate in enumerate(rates)])


def loads(dataset: Dataset) -> list[Series]:
    figures = FIGURES | {WAITS.name: WAITS}
    return list(series_of(dataset, [figures[name] for name in saturation.LOADS.values()], HOUR_S))


def test_a_growing_disk_reaches_its_knee_at_a_date() -> None:
    dataset = growing_disk()
    (found,) = saturations(list(resources(observed(dataset, FIGURES))), loads(dataset), 90 * DAY_S)
    assert found.knee is not None
    assert found.load is not None
    assert found.knee.value == pytest.approx(100, rel=0.03)
    assert found.load == pytest.approx(75 * 1.4, rel=0.05)
    assert found.when.verdict == "violated"


def test_before_that_its_headroom_and_its_date_are_told() -> None:
    rows = growing_disk().frame("disk")[: 24 * 25].to_dicts()
    dataset = Dataset.from_rows(disk=rows)
    (found,) = saturations(list(resources(observed(dataset, FIGURES))), loads(dataset), 90 * DAY_S)
    assert found.headroom_pct is not None
    assert 3 < found.headroom_pct < 12
    assert found.when.verdict == "date"
    assert found.when.date is not None
    assert found.when.earliest is not None
    days = (found.when.date - START).days
    assert 27 <= days <= 45
    assert found.when.earliest <= found.when.date <= (found.when.latest or found.when.date)


def test_a_knee_that_is_hardly_known_has_neither_headroom_nor_date() -> None:
    random = np.random.default_rng(12)
    rates = 50 * BY_DAY[:240] * random.normal(1, 0.02, 240)
    noise = np.exp(random.normal(0, 0.25, 240))
    dataset = Dataset.from_rows(
        disk=[disk(rate, 5 * noise[number] / (1 - rate / 300), number) for number, rate in enumerate(rates)]
    )
    (found,) = saturations(list(resources(observed(dataset, FIGURES))), loads(dataset), 30 * DAY_S)
    assert found.knee is not None
    assert found.knee.high is None or found.knee.high > 3 * found.knee.low
    assert (found.headroom_pct, found.when.verdict, found.when.why) == (
        None,
        "cannot be told",
        saturation.KNEE_NOT_TOLD,
    )


def test_growth_brings_the_date_nearer() -> None:
    dataset = Dataset.from_rows(disk=growing_disk().frame("disk")[: 24 * 25].to_dicts())
    queues, history = list(resources(observed(dataset, FIGURES))), loads(dataset)
    ((as_it_is,), (more,)) = (
        saturations(queues, history, 90 * DAY_S, changes) for changes in ((), [Change("5% more", factor=1.05)])
    )
    assert as_it_is.when.date is not None
    assert more.when.date is not None
    assert more.when.date < as_it_is.when.date
    assert more.headroom_pct == as_it_is.headroom_pct


def test_growth_is_answered_by_the_queue_not_by_a_straight_line() -> None:
    rows = growing_disk().frame("disk")[: 24 * 10].to_dicts()
    dataset = Dataset.from_rows(disk=rows)
    changes = [
        Change("50% more", factor=1.5),
        Change("400% more", factor=5.0),
        Change("40GB", added=4e10, unit="bytes"),
    ]
    (found,) = saturations(list(resources(observed(dataset, FIGURES))), loads(dataset), 90 * DAY_S, changes)
    some, much = found.grown
    assert found.load is not None
    assert some.load == pytest.approx(1.5 * found.load)
    assert some.response.value == pytest.approx(0.005 / (1 - some.load / 200), rel=0.05)
    assert not some.is_far
    assert much.response.value == np.inf
    assert much.is_far


def test_a_device_that_answers_in_a_millisecond_at_any_load_is_called_a_cache() -> None:
    random = np.random.default_rng(4)
    rows = [disk(rate, float(random.normal(0.5, 0.02)), number) for number, rate in enumerate(9000 * BY_DAY[:300])]
    (found,) = resources(observed(Dataset.from_rows(disk=rows), FIGURES))
    assert "does not depend on the load" in found.queue.why
    assert "0.5 ms is a cache's or flash's time" in found.queue.why


def test_an_event_that_is_one_request_to_storage_is_a_queue_too_and_thresholds_are_told_by_load() -> None:
    random = np.random.default_rng(4)
    rates = 2000 * BY_DAY[:300] * random.normal(1, 0.02, 300)
    about = {"db": "oracle:DW", "instance": "1", "event": "db file sequential read", "wait_class": "User I/O"}
    rows = [
        hour(number, waits_per_s=rate, avg_wait_ms=5 / (1 - rate / 4600), average_active_sessions=1.0, **about)
        for number, rate in enumerate(rates)
    ]
    dataset = Dataset.from_rows(wait=[*rows, *(row | {"event": "latch free", "wait_class": "Other"} for row in rows)])
    limits = [
        Threshold("reads are slow", "wait_ms", 20.0, entity="*db file sequential read"),
        Threshold("reads are not free", "wait_ms", 4.0),
        Threshold("log waits", "wait_ms", 20.0, entity="*log file sync"),
        Threshold("disks are slow", "disk_read_ms", 20.0),
    ]
    (found,) = saturations(list(resources(observed(dataset, FIGURES))), loads(dataset), 30 * DAY_S, (), limits)
    assert found.resource.kind == "wait"
    assert found.resource.labels.entity == "1 db file sequential read"
    assert found.resource.queue.saturation.value == pytest.approx(4600, rel=0.03)
    slow, free = found.passed
    assert slow.load is not None
    assert slow.load.value == pytest.approx(4600 * 0.75, rel=0.03)
    assert free.load is None


def cpu(number: int, used_pct: float, **columns: object) -> dict[str, object]:
    return hour(number, usr_pct=used_pct * 0.8, sys_pct=used_pct * 0.2, **columns)


@pytest.mark.parametrize(
    ("columns", "whole", "why"),
    [
        ({"run_queue": 3.0}, False, saturation.CPUS_NOT_TOLD),
        ({}, True, saturation.QUEUE_NOT_TOLD),
        ({"run_queue": 3.0}, True, "tasks hardly wait"),
    ],
)
def test_cpus_say_what_is_missing(columns: dict[str, object], *, whole: bool, why: str) -> None:
    rows = [cpu(number, 30 * load, **columns) for number, load in enumerate(BY_DAY[:200])]
    rows += [hour(0, cpu=number) for number in range(8 if whole else 0)]
    found = [one for one in resources(observed(Dataset.from_rows(cpu=rows), FIGURES)) if one.kind == "cpu"]
    assert why in found[0].queue.why
    assert found[0].cpus == (8 if whole else None)


def test_a_host_s_cpus_are_judged_by_their_run_queue_or_by_their_pressure() -> None:
    used = 60 * BY_DAY[:300] / 100
    run_queue = [cpu(number, 100 * rho, run_queue=rho / (1 - rho)) for number, rho in enumerate(used)]
    pressure = [cpu(number, 100 * rho, pressure_some_pct=100 * rho * rho) for number, rho in enumerate(used)]
    for rows in (run_queue, pressure):
        dataset = Dataset.from_rows(cpu=[*rows, hour(299, cpu=0)])
        (found,) = saturations(list(resources(observed(dataset, FIGURES))), loads(dataset), 30 * DAY_S)
        assert found.knee is not None
        assert found.knee.value == pytest.approx(0.5, rel=0.02)
        assert found.when.verdict == "violated"


def test_a_database_s_throughput_peaks_where_the_law_says() -> None:
    random = np.random.default_rng(9)
    users = random.uniform(1, 60, 400)
    done = law(users, np.array([50.0, 0.03, 0.0008])) * random.normal(1, 0.05, 400)
    about = {"component": "oracle", "db": "oracle:DW", "instance": "1", "kind": "rate"}
    rows = [
        hour(number, name=name, value=value, **about)
        for number in range(400)
        for name, value in (("v$sys_time_model.DB time", users[number]), ("v$sysstat.user commits", done[number]))
    ]
    (found,) = databases(observed(Dataset.from_rows(statistic=rows), FIGURES))
    at = found.scaling.users
    assert (found.done, found.labels.db) == ("commits_per_s", "oracle:DW")
    assert at is not None
    assert at.low <= np.sqrt(0.97 / 0.0008) <= (at.high or 0)
    text = capacity_saturation.render(Saturated([], [found], 0.0, []), 80, colour=False)
    assert text.startswith("alpha, oracle:DW, 1: throughput peaks at 34.2")
    assert "beyond it in one minute of twenty, with 5" in text


def test_active_sessions_of_postgresql_come_of_its_samples() -> None:
    about = {"db": "postgresql:5432", "host": "alpha", "interval_s": 10.0}
    rows = [
        about
        | {"ts": START + timedelta(seconds=10 * (second + 1)), "database": "shop", "sid": sid, "state": "active"}
        | {"kind": "client", "wait_class": "CPU"}
        for second in range(720)
        for sid in range(1 + second // 6 % 4)
    ]
    commits = [
        {"ts": START + timedelta(minutes=minute + 1), "interval_s": 60.0, "host": "alpha", "db": "postgresql:5432"}
        | {"component": "postgresql", "entity": "shop", "name": "pg_stat_database.xact_commit", "value": 100.0}
        for minute in range(120)
    ]
    seen = observed(Dataset.from_rows(session=rows, statistic=commits), FIGURES).databases
    assert seen["users"].to_list()[:5] == pytest.approx([1, 2, 3, 4, 1])
    assert seen["entity"].unique().to_list() == ["shop"]


def test_the_busiest_hour_of_each_day_counts_and_days_without_any_are_gaps() -> None:
    values = np.concatenate([np.arange(10.0), np.full(24, np.nan), np.arange(24.0)])
    days = busy_hours(Series(FIGURES["cpu_used_pct"], Labels("alpha"), HOUR_S, START, values, values, values))
    assert days.step_s == DAY_S
    assert days.end == START + timedelta(hours=57)
    assert days.values[[0, 2]].tolist() == [9.0, 23.0]
    assert np.isnan(days.values[1])
