"""WAL that is kept: for a slot that nobody reads, or an archiver that fails."""

import threading
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest

from checkups import checkup
from diagnose.hosts import DB, GIB, START, host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said
from servers import PostgresServer

MIB = 2**20
SETTINGS = {"max_wal_size": "1024", "data_directory": "/var/lib/postgresql/15/main"}
NEARLY_FULL = {"mount": "/var/lib", "device": "/dev/vdb", "size_bytes": 100 * GIB, "used_bytes": 90 * GIB}


def slot(
    *, begin: float, grows: float = 0.0, active: float = 0.0, name: str = "standby2", **more: float
) -> list[dict[str, Any]]:
    """Looks at a slot, five seconds apart."""
    about = {"component": "postgresql", "db": DB, "entity": name, "kind": "gauge", "host": "host", "interval_s": None}
    return [
        about | {"ts": START + timedelta(seconds=second), "name": f"pg_replication_slots.{column}", "value": value}
        for second in range(0, 21, 5)
        for column, value in {"retained_bytes": begin + grows * second, "active": active, **more}.items()
    ]


def found(looks: Sequence[dict[str, Any]] = (), **more: Any) -> list[Finding]:
    """What is found of a host with its statistics and the looks at a slot."""
    dataset = host(**({"settings": SETTINGS} | more))
    rows = {name: dataset.frame(name).to_dicts() for name in dataset.tables}
    rows["statistic"] = [*rows.get("statistic", []), *looks]
    return list(diagnose(Dataset.from_rows(**rows)).findings)


def test_a_slot_that_nobody_reads_and_the_disk_that_it_will_fill() -> None:
    [finding] = found(slot(begin=200 * MIB, grows=10 * MIB), filesystems=[{}, NEARLY_FULL])
    assert (finding.cause, finding.severity, finding.impact.known) == ("slot_keeps_wal", "critical", "none_yet")
    assert said(finding.title) == "Nobody reads slot standby2: 400 MiB of WAL are kept for it"
    assert "the file system is full in 17 min" in " ".join(said(item.why) for item in finding.for_)


@pytest.mark.parametrize(
    ("begin", "grows", "severity"),
    [(10 * MIB, 0.0, None), (200 * MIB, 0.0, "note"), (2 * GIB, 0.0, "warning"), (100 * MIB, MIB, "warning")],
    ids=["little", "an idle server", "more than max_wal_size", "it grows"],
)
def test_how_bad_it_is(begin: float, grows: float, severity: str | None) -> None:
    causes = {finding.cause: finding for finding in found(slot(begin=begin, grows=grows))}
    finding = causes.get("slot_keeps_wal")
    assert (finding and finding.severity) == severity


def test_a_limit_loses_the_slot_and_not_the_disk() -> None:
    [finding] = found(slot(begin=200 * MIB, grows=MIB, safe_wal_size_bytes=600.0 * MIB))
    assert finding.severity == "critical"
    assert "the slot is lost in 10 min" in " ".join(said(item.why) for item in finding.for_)
    [lost] = found(slot(begin=10 * MIB, is_lost=1.0))
    assert said(lost.title) == "Slot standby2 is lost: its reader cannot go on"


@pytest.mark.parametrize(
    ("begin", "grows", "is_found"), [(4 * GIB, MIB, True), (4 * GIB, 0.0, False), (GIB / 2, MIB, False)]
)
def test_a_reader_that_lags_is_told_apart(begin: float, grows: float, *, is_found: bool) -> None:
    findings = found(slot(begin=begin, grows=grows, active=1.0))
    assert [finding.cause for finding in findings] == ["slot_keeps_wal"] * is_found
    for finding in findings:
        assert "is 4.0 GiB of WAL behind" in said(finding.title)
        assert "it may catch up" in " ".join(said(item.why) for item in finding.against)


@pytest.mark.parametrize(
    ("begin", "mount", "is_its_work"),
    [(20 * GIB, "/var/lib", True), (20 * GIB, "/home", False), (200 * MIB, "/var/lib", False)],
    ids=["the log's", "another one", "a slot that keeps little"],
)
def test_a_full_file_system_is_its_work_where_it_is_the_logs(begin: float, mount: str, *, is_its_work: bool) -> None:
    full = NEARLY_FULL | {"mount": mount, "used_bytes": 99 * GIB}
    told = {one.cause: one.explained_by for one in found(slot(begin=begin), filesystems=[{}, full])}
    assert told["filesystem_full"] == ("slot_keeps_wal" if is_its_work else None)


def week(kept: Sequence[float], active: Sequence[float], *, is_still_there: bool = True) -> list[dict[str, Any]]:
    """A slot at looks ten minutes apart, and that it was looked."""
    looks = [
        row | {"ts": START + timedelta(minutes=10 * number)}
        for number, (size, reads) in enumerate(zip(kept, active, strict=True))
        for row in slot(begin=size, active=reads)[:2]
    ]
    looked = {**looks[0], "entity": None, "name": "pg_is_in_recovery", "value": 0.0}
    times = sorted({row["ts"] for row in looks})
    more = [] if is_still_there else [times[-1] + timedelta(minutes=10)]
    return [*looks, *({**looked, "ts": ts} for ts in (*times, *more))]


@pytest.mark.parametrize("is_still_there", [True, False])
def test_a_slot_that_was_dropped_meanwhile_keeps_nothing(*, is_still_there: bool) -> None:
    causes = [one.cause for one in found(week([2 * GIB] * 12, [0.0] * 12, is_still_there=is_still_there))]
    assert causes == ["slot_keeps_wal"] * is_still_there


def test_a_slot_whose_reader_went_away_in_the_middle_of_a_recording() -> None:
    [finding] = found(week([70.0 * MIB] * 10 + [900.0 * MIB] * 10, [1.0] * 10 + [0.0] * 10))
    assert said(finding.title).startswith("Nobody reads slot standby2")
    assert "it was not active at any look, for 1 h 40 min" in said(finding.for_[0].why)


def test_ten_minutes_at_the_end_of_days_that_fill_the_disk_within_the_hour() -> None:
    steady = [200.0 * MIB] * 300
    [finding] = found(week([*steady, 13 * GIB], [0.0] * 301), filesystems=[{}, NEARLY_FULL])
    assert finding.severity == "critical"


def test_a_slot_that_was_lost_while_we_looked() -> None:
    looks = slot(begin=200 * MIB)
    lost = [row | {"value": None} if row["name"].endswith("retained_bytes") else row for row in looks[-2:]]
    assert "slot_keeps_wal" in [one.cause for one in found([*looks[:-2], *lost])]


def test_whether_anybody_reads_it_must_be_known() -> None:
    looks = [row for row in slot(begin=4 * GIB, grows=MIB) if not row["name"].endswith("active")]
    assert found(looks) == []


FAILING = {
    (None, "pg_stat_archiver.last_failed_s"): 12.0,
    (None, "pg_stat_archiver.last_archived_s"): 900.0,
    (None, "pg_ls_archive_statusdir.ready"): 31.0,
    (None, "pg_ls_waldir.size_bytes"): 31 * 16.0 * MIB,
}


def test_an_archiver_that_fails() -> None:
    [finding] = found(postgres=FAILING)
    assert (finding.cause, finding.severity) == ("archiver_stuck", "warning")
    assert said(finding.title) == f"The archiver of {DB} fails: 31 segments wait to be archived"
    assert not any(step for step in finding.remedy if said(step).startswith("Oracle:"))


@pytest.mark.parametrize(
    "change",
    [
        {(None, "pg_stat_archiver.last_archived_s"): 3.0},
        {(None, "pg_stat_archiver.last_failed_s"): 700.0},
        {(None, "pg_ls_archive_statusdir.ready"): 0.0},
    ],
    ids=["it was made good", "long ago", "nothing waits"],
)
def test_a_failure_that_is_over_is_none(change: dict[tuple[None, str], float]) -> None:
    assert found(postgres=FAILING | change) == []


def test_an_archiver_that_never_succeeded() -> None:
    told = {name: value for name, value in FAILING.items() if "archived" not in name[1]}
    [finding] = found(postgres=told)
    assert "none has succeeded yet" in said(finding.for_[0].why)


def _write(server: PostgresServer, stop: threading.Event) -> None:
    server.execute("CREATE TABLE filler (t text)")
    while not stop.is_set():
        server.execute(
            "INSERT INTO filler SELECT repeat('x', 1000) FROM generate_series(1, 30000)", "SELECT pg_switch_wal()"
        )
        time.sleep(0.2)


def _checked(server: PostgresServer, seconds: int) -> dict[str, Any]:
    stop = threading.Event()
    writer = threading.Thread(target=_write, args=(server, stop))
    writer.start()
    try:
        _, verdict = checkup(server.dsn(), seconds)
    finally:
        stop.set()
        writer.join()
    return {finding["cause"]: finding for finding in verdict["findings"]}


@pytest.mark.server
@pytest.mark.slow
def test_live_a_slot_is_no_archiver(postgres_server: Callable[..., PostgresServer]) -> None:
    server = postgres_server(settings={"max_wal_size": "64MB", "min_wal_size": "32MB"})
    server.execute("SELECT pg_create_physical_replication_slot('left_behind', true)")
    told = _checked(server, 12)
    assert "left_behind" in told["slot_keeps_wal"]["title"]
    assert told["slot_keeps_wal"]["severity"] != "note"
    assert "archiver_stuck" not in told


@pytest.mark.server
@pytest.mark.slow
def test_live_an_archiver_is_no_slot(postgres_server: Callable[..., PostgresServer]) -> None:
    server = postgres_server(settings={"archive_mode": "on", "archive_command": "false"})
    told = _checked(server, 20)
    assert "wait to be archived" in told["archiver_stuck"]["title"]
    assert "slot_keeps_wal" not in told


@pytest.mark.server
@pytest.mark.slow
def test_live_a_command_that_hangs_and_one_that_is_busy(postgres_server: Callable[..., PostgresServer]) -> None:
    hangs = {"archive_mode": "on", "archive_command": "while [ ! -e release ]; do sleep 0.3; done"}
    server = postgres_server(settings=hangs)
    try:
        told = _checked(server, 35)
    finally:
        (server.datadir / "release").touch()
    assert "does not come back" in told["archiver_stuck"]["title"]
    busy = postgres_server(settings={"archive_mode": "on", "archive_command": "sleep 0.5"})
    assert "archiver_stuck" not in _checked(busy, 25)
