"""Slots that are read and for which the log is kept: by a reader that is behind or silent, or an open transaction."""

import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
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
SETTINGS = {"max_wal_size": "1024"}
OTHER = "postgresql:5433"
SECONDS = 20


def gauge(name: str, entity: str | None, of: Callable[[int], float], db: str = DB) -> list[dict[str, Any]]:
    """Readings five seconds apart."""
    return [
        {"ts": START + timedelta(seconds=second), "host": "host", "component": "postgresql", "db": db, "name": name,
         "entity": entity, "value": of(second), "kind": "gauge", "interval_s": None}
        for second in range(0, SECONDS + 1, 5)
    ]  # fmt: skip


def slot(
    restart: Callable[[int], float], confirmed: Callable[[int], float] | None, *, active: float = 1.0, db: str = DB
) -> list[dict[str, Any]]:
    """A slot by its positions, while 20 MiB of the log are written a second; one of a standby confirms none."""
    here = lambda second: 10 * GIB + 20 * MIB * second  # noqa: E731 - a position by the second
    columns = {
        "active": lambda _: active,
        "retained_bytes": lambda at: here(at) - restart(at),
        "restart_lsn_bytes": restart,
    }
    if confirmed is not None:
        columns |= {"confirmed_flush_lsn_bytes": confirmed, "unconfirmed_bytes": lambda at: here(at) - confirmed(at)}
    looked = gauge("pg_is_in_recovery", None, lambda _: 0.0, db)
    return [
        *looked,
        *(row for name, of in columns.items() for row in gauge(f"pg_replication_slots.{name}", "cdc", of, db)),
    ]


def moving(second: int) -> float:
    """A position close to the end of the log."""
    return 10 * GIB + 20 * MIB * second - 5 * MIB


def fixed(_: int) -> float:
    """A position five gigabytes back."""
    return 5.0 * GIB


def writing(pid: int, age_s: float, db: str = DB) -> list[dict[str, Any]]:
    """A transaction that has written, so old at the last look."""
    of = lambda second: age_s - SECONDS + second  # noqa: E731
    return gauge("pg_stat_activity.writing_transaction_s", str(pid), of, db)


def prepared(gid: str, age_s: float) -> list[dict[str, Any]]:
    return gauge("pg_prepared_xacts.age_s", gid, lambda second: age_s - SECONDS + second)


def session(pid: int, state: str, db: str = DB) -> dict[str, Any]:
    return {"sid": pid, "pid": pid, "user": "report", "program": "monthly", "state": state, "db": db,
            "wait_class": "Idle" if state != "active" else "CPU"}  # fmt: skip


def found(
    *rows: list[dict[str, Any]], sessions: tuple[dict[str, Any], ...] = (), cause: str = "slot_keeps_wal"
) -> list[Finding]:
    dataset = host(settings=SETTINGS, sessions=sessions)
    tables = {name: dataset.frame(name).to_dicts() for name in dataset.tables}
    told = [row for one in rows for row in one]
    dataset = Dataset.from_rows(**(tables | {"statistic": [*tables.get("statistic", []), *told]}))
    return [finding for finding in diagnose(dataset).findings if finding.cause == cause]


def test_a_transaction_that_stays_open_holds_the_slot_and_is_named() -> None:
    idle = session(4711, "idle in transaction")
    [finding] = found(slot(fixed, moving), writing(4711, 720), sessions=(idle,))
    assert said(finding.title) == (
        "Slot cdc keeps 5.4 GiB of WAL for a transaction that has been open for 12 min: "
        "session 4711 (monthly, report), idle in transaction"
    )
    assert (finding.confidence, finding.database) == (0.9, DB)
    steps = " ".join(map(said, finding.remedy))
    assert "pg_terminate_backend(4711)" in steps
    assert "Leave the slot and its reader alone" in steps
    assert "pg_drop_replication_slot" not in steps
    assert any("its reader keeps up" in said(item.why) for item in finding.for_)


def test_one_that_is_at_work_may_end_by_itself() -> None:
    [finding] = found(slot(fixed, moving), writing(4711, 720), sessions=(session(4711, "active"),))
    assert finding.severity == "note"
    assert "it may end by itself" in [said(item.why) for item in finding.against]


def test_a_prepared_transaction_holds_it_too() -> None:
    [finding] = found(slot(fixed, moving), prepared("order-7", 7200), writing(4711, 100))
    assert said(finding.title).endswith("open for 2 h: prepared transaction order-7")
    assert "ROLLBACK PREPARED 'order-7'" in said(finding.remedy[0])
    assert any("session 4711, 100 s old" in said(item.figure) for item in finding.against)


def test_a_reader_that_is_behind_is_told_whoever_has_a_transaction_open() -> None:
    behind = lambda second: 5 * GIB + 2 * MIB * second  # noqa: E731
    [finding] = found(slot(behind, behind), writing(4711, 720))
    assert said(finding.title).startswith("The reader of slot cdc is 5.4 GiB of WAL behind")


def test_a_reader_that_confirms_nothing_is_told_apart() -> None:
    [finding] = found(slot(fixed, fixed), writing(4711, 10))
    assert said(finding.title).startswith("The reader of slot cdc is connected and confirms nothing: 5.4 GiB")
    assert "heartbeat" in said(finding.remedy[0])


def test_a_standby_that_is_behind_has_confirmed_nothing_to_tell_of() -> None:
    [finding] = found(slot(lambda second: 5 * GIB + 2 * MIB * second, None), writing(4711, 720))
    assert said(finding.title).startswith("The reader of slot cdc is")


@pytest.mark.parametrize(
    "others",
    [
        [],
        writing(4711, 12),
        writing(4711, 720, OTHER),
        [row for row in writing(4711, 720) if row["ts"] < START + timedelta(seconds=10)],
    ],
    ids=["none is seen", "it began just now", "of another server", "it has ended"],
)
def test_where_none_is_seen_that_could_hold_it_none_is_named(others: list[dict[str, Any]]) -> None:
    [finding] = found(slot(fixed, moving), others)
    assert said(finding.title).endswith("though its reader keeps up: a transaction that stays open?")
    assert (finding.confidence, bool(finding.not_measured)) == (0.6, True)


def test_one_younger_than_the_stand_of_the_slot_does_not_hold_it() -> None:
    """For ten minutes the slot has stood still, the transaction is a minute old."""
    earlier = [row | {"ts": row["ts"] - timedelta(minutes=10)} for row in slot(fixed, moving)]
    [finding] = found(earlier, slot(fixed, moving), writing(4711, 60))
    assert "session 4711" not in said(finding.title)


def test_a_transaction_beside_a_slot_that_moves_is_nothing() -> None:
    assert found(slot(moving, moving), writing(4711, 720)) == []


def test_a_reader_that_went_away_a_moment_ago_is_not_connected() -> None:
    went = [
        row | ({"value": 0.0} if row["name"].endswith("active") and row["ts"] > START else {})
        for row in slot(fixed, fixed)
    ]
    [finding] = found(went, writing(4711, 720))
    assert said(finding.title).startswith("The reader of slot cdc is 5.4 GiB of WAL behind")


def test_a_slot_that_nobody_reads_is_told_as_such() -> None:
    [finding] = found(slot(fixed, fixed, active=0.0), writing(4711, 720))
    assert said(finding.title).startswith("Nobody reads slot cdc")


@pytest.mark.parametrize("holder", [writing(4711, 720), prepared("order-7", 720), []], ids=["open", "prepared", "none"])
def test_vacuum_of_the_catalogues_waits_for_who_holds_the_slot(holder: list[dict[str, Any]]) -> None:
    """The slot keeps their rows, and is not what to drop."""
    old = gauge("pg_replication_slots.catalog_xmin_age", "cdc", lambda _: 5e6)
    held = next(one for one in found(slot(fixed, moving), old, holder, cause="vacuum_held_back"))
    title = "Vacuum is held back by replication slot cdc (system catalogues)"
    assert said(held.title).startswith(title)
    assert (", which is read and waits for" in said(held.title)) is bool(holder)


def _write(server: PostgresServer, stop: threading.Event) -> None:
    while not stop.is_set():
        server.execute("INSERT INTO filler SELECT repeat('x', 1000) FROM generate_series(1, 20000)")
        time.sleep(0.2)


@pytest.mark.server
@pytest.mark.slow
def test_live_an_open_transaction_holds_a_slot_that_is_read(postgres_server: Callable[..., PostgresServer]) -> None:
    server = postgres_server(settings={"wal_level": "logical", "max_wal_size": "64MB", "min_wal_size": "32MB"})
    server.execute("CREATE TABLE filler (t text)", "CREATE PUBLICATION all_of_it FOR ALL TABLES",
                   "SELECT pg_create_logical_replication_slot('cdc', 'pgoutput')")  # fmt: skip
    command = [
        str(server.bin / "pg_recvlogical"), "-d", server.dsn(), "--slot=cdc", "--start", "--file=/dev/null",
        "--option=proto_version=1", "--option=publication_names=all_of_it", "--status-interval=1", "--fsync-interval=1",
    ]  # fmt: skip
    stop = threading.Event()
    writer = threading.Thread(target=_write, args=(server, stop))
    with subprocess.Popen(command) as reader, server.connect(application_name="monthly") as holder:
        try:
            pid = holder.info.backend_pid
            holder.execute("BEGIN")
            holder.execute("INSERT INTO filler VALUES ('open')")
            writer.start()
            time.sleep(8)
            _, verdict = checkup(server.dsn(), 12)
        finally:
            stop.set()
            writer.join()
            reader.terminate()
            with suppress(subprocess.TimeoutExpired):
                reader.wait(timeout=10)
    told = {finding["cause"]: finding for finding in verdict["findings"]}
    assert f"session {pid} (monthly, postgres), idle in transaction" in told["slot_keeps_wal"]["title"]
