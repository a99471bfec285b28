"""Sessions that get at files only once another process or server has answered."""

from typing import Any

import pytest

from diagnose.hosts import DB, host
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

CAUSE = "file_access_waits_for_an_answer"
AGENT = "process 812 (scannerd), state S in hrtimer_nanosleep, asked of files of /srv/data"


def found(event: str, average: float = 1.5, **more: Any) -> dict[str, Finding]:
    time = {("Other", event): average, ("CPU", "CPU"): 0.1}
    return {finding.cause: finding for finding in diagnose(host(time=time, **more)).findings}


def test_an_agent_that_answers_late_is_named() -> None:
    findings = found("fanotify_handle_event", settings={"answered_by.fanotify_handle_event": AGENT})
    assert next(iter(findings)) == CAUSE
    finding = findings[CAUSE]
    title = "Sessions wait until process 812 (scannerd) answers before they get at files: 94 % of database time"
    assert (said(finding.title), finding.severity, finding.database) == (title, "critical", DB)
    assert AGENT in [said(item.figure) for item in finding.for_]
    assert not finding.not_measured
    assert "other_waits" not in findings


@pytest.mark.parametrize(
    ("event", "who"),
    [
        ("fanotify_handle_event", "an agent that is asked before a file is opened (fanotify)"),
        ("request_wait_answer", "the program that serves a file system (FUSE)"),
        ("rpc_wait_bit_killable", "a server of files on the network (NFS)"),
    ],
)
def test_where_the_process_is_not_seen_its_kind_is_said(event: str, who: str) -> None:
    finding = found(event)[CAUSE]
    assert f"until {who} answers" in said(finding.title)
    assert finding.confidence == 0.75
    assert [said(one.what) for one in finding.not_measured] == ["which process or server has to answer"]


def test_a_little_of_it_and_other_places_are_none_of_it() -> None:
    assert CAUSE not in found("fanotify_handle_event", 0.01)
    assert CAUSE not in found("jbd2_log_wait_commit")
