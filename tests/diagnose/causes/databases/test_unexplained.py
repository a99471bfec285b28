"""Waits that no other cause explains."""

import pytest

from diagnose.hosts import host
from diagnose.oracle_hosts import found, oracle_host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.case import Case
from doctord.diagnose.cause import CAUSES
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said


@pytest.mark.parametrize(
    ("event", "sure"),
    [
        ("direct path write", True),
        ("Failed Logon Delay", True),
        ("latch: redo allocation", False),
        ("unheard of", False),
    ],
)
def test_an_event_without_a_cause_of_its_own_is_named(event: str, *, sure: bool) -> None:
    (finding,) = found(waits={event: (10.0, 30.0)}).values()
    assert finding.cause == "other_waits"
    assert (finding.confidence > 0.6) is sure
    assert found(waits={event: (1.0, 30.0)}) == {}


@pytest.mark.parametrize(
    "event",
    [
        "log file sync", "enq: TM - contention", "gc cr block lost", "free buffer waits", "cursor: pin S",
        "resmgr:cpu quantum", "SQL*Net more data to client", "PX qref latch", "control file parallel write",
        "db file scattered read", "read by other session", "latch: cache buffers chains", "local write wait",
    ],
)  # fmt: skip
def test_what_another_cause_tells_is_not_told_twice(event: str) -> None:
    findings = found(waits={event: (100.0, 30.0)})
    assert findings
    assert "other_waits" not in findings


def test_the_latches_waited_for_are_named() -> None:
    (finding,) = found(
        waits={"latch: redo copy": (10.0, 30.0)}, figures={("v$latch.wait_time", "redo copy"): 0.2}
    ).values()
    assert any("redo copy" in said(item.figure) for item in finding.for_)


@pytest.mark.parametrize(("ms", "severity"), [(10.0, "note"), (30.0, None)])
def test_a_small_wait_of_which_only_the_name_is_known_is_a_note(ms: float, severity: str | None) -> None:
    for event, cause in (("rdbms ipc reply", "other_waits"), ("enq: PV - syncstart", "other_enqueues")):
        case = Case(oracle_host(waits={event: (12.0, ms)}))
        assert [claim.severity for claim in CAUSES[cause].examine(case)] == [severity]


def of(dataset: Dataset) -> dict[str, Finding]:
    """What is said of waits that nobody explains, by their events."""
    told = [finding for finding in diagnose(dataset).findings if finding.cause == "other_waits"]
    return {str(finding.for_[0].filter).split("'")[1]: finding for finding in told}


@pytest.mark.parametrize(
    ("wait_class", "event"),
    [
        ("Network", "SSLOpenServer"),
        ("Concurrency", "LockManager"),
        ("Concurrency", "BufferContent"),
        ("Concurrency", "MultiXactMemberSLRU"),
        ("Concurrency", "extend"),
        ("Other", "ProcSignalBarrier"),
        ("Other", "PgFdwReceive"),
        ("Application", "SafeSnapshot"),
    ],
)
def test_a_session_that_stands_still_is_told_whatever_it_waits_for(wait_class: str, event: str) -> None:
    """On PostgreSQL as on Oracle: a warning that names no cause, and never sure of itself."""
    found = of(host(time={(wait_class, event): 1.0, ("CPU", "CPU"): 4.0}))
    assert list(found) == [event]
    assert found[event].severity == "warning"
    assert found[event].impact.share == pytest.approx(0.2)
    assert found[event].confidence <= 0.5
    assert said(found[event].remedy[0]).startswith("Usually: ")
    assert said(found[event].remedy[1]).startswith("To tell, collect: ")
    assert found[event].for_[0].why


@pytest.mark.parametrize(("share", "severity"), [(0.04, None), (0.06, "note"), (0.12, "warning")])
def test_less_than_a_tenth_alarms_nobody(share: float, severity: str | None) -> None:
    found = of(host(time={("Concurrency", "LockManager"): 4 * share, ("CPU", "CPU"): 4 * (1 - share)}))
    assert [finding.severity for finding in found.values()] == ([severity] if severity else [])


def test_a_nearly_idle_server_waits_for_nothing_worth_saying() -> None:
    assert of(host(time={("Concurrency", "LockManager"): 0.05, ("CPU", "CPU"): 0.1})) == {}


@pytest.mark.parametrize(
    ("wait_class", "event"),
    [
        ("CPU", "CPU"),
        ("User I/O", "DataFileRead"),
        ("User I/O", "DataFileExtend"),
        ("Commit", "WALSync"),
        ("Commit", "WALWrite"),
        ("Network", "ClientRead"),
        ("Other", "HashBuildHashInner"),
        ("Other", "MessageQueueSend"),
    ],
)
def test_work_is_no_trouble(wait_class: str, event: str) -> None:
    """Loads, index builds, parallel queries and commits at their usual speed."""
    dataset = host(time={(wait_class, event): 0.9})
    assert diagnose(dataset).healthy
    assert of(dataset) == {}


def test_work_that_fills_most_of_a_busy_servers_time_is_a_note() -> None:
    dataset = host(time={("Commit", "WALSync"): 3.0, ("CPU", "CPU"): 1.0})
    assert diagnose(dataset).healthy
    (finding,) = of(dataset).values()
    assert finding.severity == "note"
    assert "nothing that was measured shows it to be ill" in said(finding.title)


def test_cpu_time_is_never_told_here() -> None:
    assert of(host(time={("CPU", "CPU"): 1.8})) == {}


@pytest.mark.parametrize("event", ["transactionid", "relation", "advisory", "SyncRep"])
def test_what_a_cause_explains_is_not_told_again(event: str) -> None:
    wait_class = "Commit" if event == "SyncRep" else "Application"
    dataset = host(time={(wait_class, event): 3.0, ("CPU", "CPU"): 1.0})
    assert not diagnose(dataset).healthy
    assert of(dataset) == {}


def test_who_is_in_it_is_named() -> None:
    waiting = {"wait_class": "Other", "event": "PgFdwReceive", "user": "report", "program": "export"}
    sessions = [{**waiting, "statement_id": "42"}, {**waiting, "statement_id": "42"}, {**waiting, "user": "app"}]
    text = {"statement_id": "42", "text": "select * from orders", "calls_per_s": 1.0, "elapsed_s_per_s": 0.5}
    found = of(host(sessions=sessions, statements=[text]))["PgFdwReceive"]
    told = [said(item.figure) for item in found.for_[1:]]
    assert told[0] == "statement 42: 67 % of this waiting"
    assert told[1] == "user report, program export: 67 % of this waiting"
    assert found.for_[1].why == "select * from orders"
    assert found.database == "postgresql:5432"


@pytest.mark.parametrize(
    ("event", "text", "severity"),
    [
        ("poll_schedule_timeout", "create database ci_4 template ci", "note"),
        ("hrtimer_nanosleep", "DROP DATABASE ci_4", "note"),
        ("CheckpointDone", "create database ci_4 template ci", "warning"),  # that is no sleep of its own
        ("poll_schedule_timeout", "select 1", "warning"),
    ],
)
def test_to_wait_until_nobody_is_in_a_database_is_a_note(event: str, text: str, severity: str) -> None:
    waiting = {"wait_class": "Other", "event": event, "statement_id": "7"}
    making = {"statement_id": "7", "text": text, "calls_per_s": 0.3, "elapsed_s_per_s": 0.5}
    dataset = host(time={("CPU", "CPU"): 0.1}, sessions=[waiting], statements=[making])
    finding = next(one for one in diagnose(dataset).findings if one.cause == "other_waits")
    assert finding.severity == severity
    assert ("only in CREATE and DROP DATABASE" in [said(item.figure) for item in finding.for_]) is (severity == "note")
