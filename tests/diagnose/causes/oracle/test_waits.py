"""Oracle's other waits."""

import pytest

from diagnose.oracle_hosts import START, found, oracle_host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.case import Case
from doctord.diagnose.cause import CAUSES
from doctord.diagnose.engine import diagnose
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


def test_other_servers_have_other_causes() -> None:
    row = {"ts": START, "interval_s": 60.0, "db": "postgresql:5432", "kind": "foreground", "wait_class": "Lock",
           "event": "tuple", "average_active_sessions": 2.0}  # fmt: skip
    assert "other_waits" not in {finding.cause for finding in diagnose(Dataset.from_rows(wait=[row])).findings}


@pytest.mark.parametrize(("ms", "severity"), [(10.0, "note"), (30.0, None)])
def test_a_small_wait_of_which_only_the_name_is_known_is_a_note(ms: float, severity: str | None) -> None:
    for event, cause in (("rdbms ipc reply", "other_waits"), ("enq: PV - syncstart", "other_enqueues")):
        case = Case(oracle_host(waits={event: (12.0, ms)}))
        assert [claim.severity for claim in CAUSES[cause].examine(case)] == [severity]
