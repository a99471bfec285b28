from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from doctord.analyse.sizing.found import FINDERS, Measured, find, where
from doctord.analyse.sizing.question import Curve, Input
from doctord.analyse.sizing.questions import QUESTIONS
from doctord.analyse.sizing.working import Given
from doctord.dataset.dataset import Dataset
from sizes import GIB, MIB

AT = datetime(2026, 11, 20, tzinfo=UTC)
INPUTS = {(question.name, one.option): one for question in QUESTIONS.values() for one in question.inputs}


def found(question: str, option: str, **tables: list[dict[str, Any]]) -> float | tuple[tuple[float, float], ...] | None:
    """The value of an input in a dataset of these rows."""
    figure = find(INPUTS[question, option], Measured(Dataset.from_rows(**tables)))
    return figure.points if isinstance(figure, Curve) else figure.value if figure else None


def statistic(name: str, value: float, **more: Any) -> dict[str, Any]:
    return {"ts": AT, "interval_s": 10.0, "name": name, "value": value, **more}


def setting(name: str, value: str, unit: str | None = None) -> dict[str, Any]:
    return {"ts": AT, "component": "x", "name": name, "value": value, "unit": unit}


def test_every_finder_serves_an_input_and_says_where_it_looks() -> None:
    assert set(FINDERS) <= {one.name for one in INPUTS.values()}
    assert all(where(one) for one in INPUTS.values() if one.name in FINDERS)


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("dataset", [Dataset(), Dataset.from_rows(setting=[setting("x", "y")])], ids=["empty", "other"])
def test_what_was_not_measured_is_null(question: str, dataset: Dataset) -> None:
    assert [find(one, Measured(dataset)) for one in QUESTIONS[question].inputs if find(one, Measured(dataset))] == []


def test_the_redo_rate_is_the_highest() -> None:
    rows = [statistic("v$sysstat.redo size", value, unit="bytes_per_s") for value in (5e6, 9e6)]
    assert found("redo", "rate", statistic=rows) == 9e6


def test_the_size_of_a_log_from_its_switches() -> None:
    rows = [statistic("v$sysstat.redo size", 5e6), statistic("thread_activity.log switches (derived)", 0.01)]
    assert found("redo", "size", statistic=rows) == pytest.approx(5e8)
    rows[1]["value"] = 0.0
    assert found("redo", "size", statistic=rows) is None


@pytest.mark.parametrize(
    ("option", "row", "value"),
    [
        (("wal", "timeout"), setting("checkpoint_timeout", "900", "s"), 900),
        (("wal", "timeout"), setting("checkpoint_timeout", "15min"), 900),
        (("wal", "max-wal-size"), setting("max_wal_size", "1024"), GIB),
        (("wal", "completion"), setting("checkpoint_completion_target", "0.7"), 0.7),
        (("huge-pages", "shared-buffers"), setting("shared_buffers", "16384", "8kB"), 128 * MIB),
        (("huge-pages", "shared"), setting("shared_buffers", "16384", "8kB"), None),
        (("page-tables", "shared"), setting("shared_buffers", "16384", "8kB"), 128 * MIB),
        (("huge-pages", "shared"), setting("sga_target", "6G"), 6 * GIB),
        (("huge-pages", "shared"), setting("sga_target", "40802189312, 0"), 40_802_189_312),
        (("huge-pages", "shared"), setting("sga_target", "0"), None),
        (("work-memory", "sessions"), setting("max_connections", "300"), 300),
        (("listener", "backlog"), setting("net.core.somaxconn", "4096"), 4096),
    ],
)
def test_settings_in_their_units(option: tuple[str, str], row: dict[str, Any], value: float | None) -> None:
    assert found(*option, setting=[row]) == value


def test_memory_of_the_host_as_last_read() -> None:
    rows = [{"ts": AT + timedelta(seconds=at), "total_bytes": 100 + at, "huge_pages_total": 0} for at in (1, 0)]
    assert found("huge-pages", "total", memory=rows) == 101
    assert found("huge-pages", "have", memory=rows) == 0


def test_advice_of_the_default_pool_by_size() -> None:
    rows = [
        statistic("v$db_cache_advice.estd_physical_reads", reads, entity=entity)
        for entity, reads in (("D 2048", 500.0), ("D 1024", 900.0), ("K 1024", 7.0))
    ]
    rows.append(statistic("v$db_cache_advice.size_factor", 1.0, entity="D 2048"))
    assert found("buffer-cache", "advice", statistic=rows) == ((1024 * MIB, 900.0), (2048 * MIB, 500.0))
    assert found("buffer-cache", "size", statistic=rows) == 2048 * MIB


def test_the_fullest_device_and_how_it_answers_by_load() -> None:
    rows = [
        {"ts": AT + timedelta(seconds=at), "interval_s": 1.0, "device": device, "reads_per_s": load, "read_ms": ms}
        for device, loads in (("sda", 12), ("sdb", 2))
        for at, (load, ms) in enumerate((100.0 * (1 + n), 1.0 + n) for n in range(loads))
    ]
    assert found("queue-depth", "iops", disk=rows) == 1200
    assert found("queue-depth", "response", disk=rows) == pytest.approx(0.012)
    points = found("queue-depth", "curve", disk=rows)
    assert isinstance(points, tuple)
    assert len(points) == 6
    assert points[0] == (150.0, pytest.approx((100 * 1 + 200 * 2) / 300 / 1000))
    assert found("queue-depth", "curve", disk=rows[:3]) is None


def test_reads_and_writes_of_the_busiest_moment() -> None:
    rows = [
        {
            "ts": AT + timedelta(seconds=at),
            "interval_s": 1.0,
            "device": device,
            "reads_per_s": 10.0 * at,
            "writes_per_s": 1.0,
        }
        for at in (3, 5, 4)
        for device in ("sda", "sdb")
    ]
    assert found("disks", "reads", disk=rows) == 100
    assert found("disks", "writes", disk=rows) == 2


def test_what_a_transaction_takes() -> None:
    rows = [
        statistic("v$sysstat.user commits", 10.0, db="o"),
        statistic("v$sys_time_model.DB time", 5.0, db="o", unit="s_per_s"),
        statistic("v$sys_time_model.DB CPU", 2.0, db="o", unit="s_per_s"),
    ]
    assert found("pool", "rate", statistic=rows) == 10
    assert found("pool", "cpu", statistic=rows) == pytest.approx(0.2)


def test_sessions_of_all_databases_at_the_most() -> None:
    rows = [
        statistic("pg_stat_database.numbackends", value, db="postgresql:5432", entity=entity)
        | {"ts": AT + timedelta(seconds=at)}
        for at, counts in enumerate(((3, 4), (6, 2)))
        for entity, value in zip("ab", counts, strict=True)
    ]
    assert found("page-tables", "sessions", statistic=rows) == 8


def test_a_figure_without_a_finder_is_not_found() -> None:
    assert find(Input("x", "nobody measures this", "count", ""), Measured(Dataset())) is None


def test_of_several_servers_the_largest_counts() -> None:
    rows = [setting("sga_target", size) | {"db": db} for db, size in (("a", "4G"), ("b", "6G"), ("b", "5G"))]
    figure = find(INPUTS["huge-pages", "shared"], Measured(Dataset.from_rows(setting=rows)))
    assert isinstance(figure, Given)
    assert (figure.value, figure.origin) == (5 * GIB, "setting: sga_target, the largest of 2")


def test_advice_on_the_pga_without_sizes_that_oracle_would_exceed() -> None:
    rows = [
        statistic(f"v$pga_target_advice.{column}", value, entity=size)
        for column, values in (("estd_extra_bytes_rw", (9e9, 5e9, 4e9)), ("estd_overalloc_count", (3.0, 0.0, 0.0)))
        for size, value in zip(("1024", "2048", "4096"), values, strict=True)
    ]
    assert found("work-memory", "advice", statistic=rows) == ((2048 * MIB, 5e9), (4096 * MIB, 4e9))
