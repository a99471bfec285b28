"""Locks, deadlocks, refused clients and long statements in a log of PostgreSQL, where nothing else was measured."""

from collections.abc import Callable
from pathlib import Path

import pytest

from doctord.analyse.locking.logged_locks import logged_locks
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.read.formats import read_file
from doctord.report.phrases import said
from doctord.report.wording import verdict

Log = Callable[[str], Dataset]
AT = "2026-11-20 10:{:02d}:{:02d}.000 UTC [{}] LOG:  "
DETAIL = "2026-11-20 10:{:02d}:{:02d}.000 UTC [{}] DETAIL:  "
TABLE = "AccessExclusiveLock on relation 4711 of database 5"
ROW = "ShareLock on transaction 815"


@pytest.fixture
def log(tmp_path: Path) -> Log:
    def read(text: str) -> Dataset:
        file = tmp_path / "postgresql.log"
        file.write_text(text)
        return Dataset.from_batches(read_file(file).batches)

    return read


def found(dataset: Dataset) -> dict[str, Finding]:
    return {finding.cause: finding for finding in diagnose(dataset).findings}


def waiting(second: int, pid: int, what: str, holder: str = "7", *, queue: str = "", minute: int = 0) -> str:
    line = AT.format(minute, second, pid) + f"process {pid} still waiting for {what} after 1000.123 ms\n"
    holding = "Process holding" if "," not in holder else "Processes holding"
    return line + DETAIL.format(minute, second, pid) + f"{holding} the lock: {holder}. Wait queue: {queue or pid}.\n"


def acquired(second: int, pid: int, what: str, ms: float) -> str:
    return AT.format(0, second, pid) + f"process {pid} acquired {what} after {ms:.3f} ms\n"


def test_a_table_that_one_process_holds_and_others_stand_in_line_for(log: Log) -> None:
    another = TABLE.replace("AccessExclusive", "RowShare")
    dataset = log(waiting(1, 12, TABLE) + waiting(41, 13, another, queue="12, 13, 14"))
    (waits,) = logged_locks(dataset)
    assert (waits.of_rows, waits.queue, waits.longest_s, waits.told) == (False, 3, 41.0, 2)
    finding = found(dataset)["table_locks"]
    assert finding.severity == "warning"
    title = "3 sessions wait in line for locks on tables or other objects, 41 s and longer"
    assert said(finding.title) == title
    assert said(finding.for_[0].figure) == "41 s at least: relation 4711 of database 5 is held by process 7"
    assert said(finding.for_[0].why) == "3 sessions in line"


@pytest.mark.parametrize(
    ("ms", "severity", "title"),
    [
        (34739.826, "warning", "A session waited 34.7 s for row locks"),
        (1500.0, "note", "A session waited 1.5 s for row locks"),
    ],
)
def test_a_row_that_was_waited_for(log: Log, ms: float, severity: str, title: str) -> None:
    finding = found(log(acquired(30, 12, ROW, ms)))["row_locks"]
    assert (finding.severity, said(finding.title)) == (severity, title)


def test_rows_and_tables_are_told_apart_and_holders_too(log: Log) -> None:
    tuples = waiting(5, 21, "ExclusiveLock on tuple (0,1) of relation 4711 of database 5", "8, 9")
    dataset = log(waiting(1, 12, TABLE) + tuples + acquired(9, 12, ROW, 8000) + acquired(10, 13, ROW, 2000))
    rows, tables = logged_locks(dataset)
    assert (rows.of_rows, rows.acquired, rows.waited_s, [held.holder for held in rows.held]) == (True, 2, 10, ["8, 9"])
    assert [held.holder for held in tables.held] == ["7"]
    assert {"row_locks", "table_locks"} <= found(dataset).keys()


def test_another_holder_holds_from_then_on(log: Log) -> None:
    dataset = log(waiting(1, 12, TABLE, "7") + waiting(1, 13, TABLE, "9", minute=30))
    (waits,) = logged_locks(dataset)
    assert [held.seconds for held in waits.held] == [1.0, 1.0]
    assert found(dataset)["table_locks"].severity == "note"


REFUSED = (
    "2026-11-20 10:00:0{}.000 UTC [{}] FATAL:  remaining connection slots are reserved for roles with privileges\n"
)


@pytest.mark.parametrize(("times", "severity"), [(1, "note"), (8, "warning")])
def test_clients_that_were_refused_are_lost_service(log: Log, times: int, severity: str) -> None:
    finding = found(log("".join(REFUSED.format(n, 100 + n) for n in range(times))))["connections_near_limit"]
    assert finding.severity == severity
    was = "client was" if times == 1 else "clients were"
    assert said(finding.title) == f"No connection to postgresql was left: {times} {was} refused"


def test_mysql_counts_them_in_its_status() -> None:
    row = {"ts": 60_000_000, "interval_s": 60.0, "db": "mysql", "component": "mysql", "kind": "rate", "value": 0.5}
    rows = [row | {"name": "global_status.connection_errors_max_connections"}]
    finding = found(Dataset.from_rows(statistic=rows))["connections_near_limit"]
    assert "30 clients were refused" in said(finding.title)


def test_what_mysql_counts_in_its_status_and_its_log_is_told_once() -> None:
    row = {"ts": 60_000_000, "interval_s": 60.0, "db": "mysql", "component": "mysql", "kind": "rate"}
    names = {"global_status.connection_errors_max_connections": 0.5, "log.connections_refused": 0.25}
    rows = [row | {"name": name, "value": value} for name, value in names.items()]
    told = [
        one for one in diagnose(Dataset.from_rows(statistic=rows)).findings if one.cause == "connections_near_limit"
    ]
    assert ["30 clients were refused" in said(one.title) for one in told] == [True]


DEADLOCK = """\
2026-11-20 10:{0:02d}:00.000 UTC [41] ERROR:  deadlock detected
2026-11-20 10:{0:02d}:00.000 UTC [41] DETAIL:  Process 41 waits for ShareLock on transaction 1; blocked by process 42.
\tProcess 42 waits for ShareLock on transaction 2; blocked by process 41.
"""


@pytest.mark.parametrize(("count", "severity", "title"), [(1, "note", "1 deadlock in the log"), (12, "warning", None)])
def test_a_deadlock_is_a_note_and_many_are_not(log: Log, count: int, severity: str, title: str | None) -> None:
    finding = found(log("".join(DEADLOCK.format(minute) for minute in range(count))))["deadlocks_reported"]
    assert (finding.severity, said(finding.title)) == (severity, title or f"{count} deadlocks in the log")
    assert "Process 41 waits for ShareLock" in said(finding.for_[0].why)


INSERT = "duration: {} ms  statement:{}INSERT INTO metric{}VALUES ('2026', 8)\n"


@pytest.mark.parametrize("tab", ["\t", " " * 8], ids=["tabs", "pasted"])
def test_a_statement_of_minutes_is_a_note_that_names_it(log: Log, tab: str) -> None:
    finding = found(log(AT.format(0, 1, 9) + INSERT.format("142056.081", f"\n{tab}", f"\n{tab}")))["statements_slow"]
    assert finding.severity == "note"
    assert said(finding.title) == "A statement took 2 min 22 s: INSERT INTO metric VALUES (?, ?)"


def test_what_another_program_indents_is_no_part_of_an_error(log: Log) -> None:
    dataset = log("2026-11-20 10:00:00.000 UTC [9] ERROR:  syntax error\n        at com.example.Secret(hunter2)\n")
    assert not any("hunter2" in str(row) for table in dataset.tables for row in dataset.frame(table).to_dicts())


def test_a_log_of_checkpoints_says_what_it_tells_and_that_it_is_no_verdict(log: Log) -> None:
    told = diagnose(log("".join(AT.format(minute, 0, 25) + "checkpoint starting: time\n" for minute in (0, 5, 10))))
    assert told.health == "not_judged"
    assert verdict(told) == "No verdict: no durations in a log of 3 messages, 3 checkpoints by time"
    (unseen,) = told.not_measured
    assert "log_min_duration_statement" in said(unseen.grant)
    timed = log(AT.format(0, 0, 9) + "duration: 1.500 ms  statement: SELECT 1\n")
    assert not diagnose(timed).not_measured
