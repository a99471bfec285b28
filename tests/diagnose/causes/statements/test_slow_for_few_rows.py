"""Statements that take most of the time for next to no rows, without a reason that was measured."""

from typing import Any

import pytest

from diagnose.hosts import host
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

RANDOM = {
    "statement_id": "42", "text": "select * from prizes order by random() limit $1", "calls_per_s": 2.0,
    "elapsed_s_per_s": 1.0, "rows_per_s": 2.0, "hit_blocks_per_s": 800.0, "read_blocks_per_s": 0.0,
}  # fmt: skip


def told(*, sessions: int = 1, event: tuple[str, str] = ("CPU", "CPU"), **changes: Any) -> Finding | None:
    """What is said of a statement that a session is in at every moment."""
    session = {"statement_id": "42", "wait_class": event[0], "event": event[1], "wait_kind": None}
    session["wait_kind"] = {"CPU": "cpu", "DataFileRead": "single read"}.get(event[1], "row lock")
    dataset = host(time={("CPU", "CPU"): 0.1}, sessions=[session] * sessions, statements=[RANDOM | changes])
    return next((one for one in diagnose(dataset).findings if one.cause == "slow_for_few_rows"), None)


def test_most_of_the_time_for_one_row_is_a_warning_that_asks_for_the_plan() -> None:
    finding = told()
    assert finding is not None
    assert (finding.severity, finding.confidence) == ("warning", 0.6)
    assert "500.0 ms a call for one row or none, and nothing says why" in said(finding.title)
    words = " ".join(said(item.why) for item in finding.for_)
    assert "2.0 calls/s" in words
    assert "1.0 rows a call" in words
    assert "looks at 400 blocks" in words
    assert any("100 % CPU" in said(item.figure) for item in finding.for_)
    assert "explain (analyze, buffers" in said(finding.remedy[0])
    assert "plans are not recorded" in said(finding.not_measured[0].why)


def test_a_function_that_is_dear_on_purpose_is_named() -> None:
    finding = told(text="select name, crypt($1, hash) = hash from users where id = $2")
    assert finding is not None
    assert finding.confidence == 0.75
    assert "and it calls crypt(), which is dear on purpose" in said(finding.title)
    assert said(finding.remedy[0]).startswith("First: look at the cost")


@pytest.mark.parametrize(
    "changes",
    [
        {"text": "select count(*) from orders where total > $1"},  # few rows of many, by its nature
        {"text": "select branch, sum(total) from orders group by branch"},
        {"text": "select close_the_month($1)"},  # a procedure: a job
        {"text": "call close_the_month($1)"},
        {"rows_per_s": 200.0},  # 5 ms a row
        {"rows_per_s": None},
        {"calls_per_s": 0.4, "rows_per_s": 0.4, "elapsed_s_per_s": 1.0},  # a report
        {"calls_per_s": 20.0, "rows_per_s": 20.0},  # 50 ms: nobody feels it
    ],
)
def test_work_that_may_be_wanted_is_silent(changes: dict[str, Any]) -> None:
    assert told(**changes) is None


def test_a_statement_that_waits_for_others_is_silent() -> None:
    assert told(sessions=3, event=("Application", "transactionid")) is None


def test_time_in_the_run_queue_is_not_its_own() -> None:
    """On busy CPUs a call of 50 ms takes 500."""
    session = {"statement_id": "42", "wait_class": "CPU", "event": "CPU", "wait_kind": "cpu"}
    queue = {"statement_id": "42", "wait_class": "Scheduler", "event": "run queue", "wait_kind": "run queue"}
    dataset = host(time={("CPU", "CPU"): 0.1}, sessions=[session, *[queue] * 9], statements=[RANDOM])
    assert "slow_for_few_rows" not in [one.cause for one in diagnose(dataset).findings]


def test_what_another_finding_explains_is_not_said_again() -> None:
    blocks = {"hit_blocks_per_s": 8000.0}
    assert told(**blocks) is None
