"""One statement with much of the time: on servers that sample their sessions, and in Oracle's reports."""

from typing import Any

import pytest

from diagnose.causes.tables.test_indexes import BUSY, LOOKED, LOOKUP
from diagnose.hosts import host
from diagnose.oracle_hosts import found
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.report.phrases import said

SLOW = {"statement_id": "42", "text": "select sum(x) from t where y > $1", "calls_per_s": 1.0, "elapsed_s_per_s": 0.9}


SQL: dict[str, Any] = {
    "statement_id": "7ws837zynp1zv", "text": "select * from t where a = :1", "calls_per_s": 10.0,
    "elapsed_s_per_s": 0.6, "cpu_s_per_s": 0.15, "rows_per_s": 10.0,
}  # fmt: skip


def one(number: int = 1, **changes: object) -> Dataset:
    """A host on which sessions are in one statement at every moment."""
    session = {"statement_id": "42", "wait_class": "CPU", "event": "CPU"} | changes
    return host(time={("CPU", "CPU"): 0.1}, sessions=[session] * number, statements=[SLOW])


def causes(dataset: Dataset) -> list[str]:
    return [finding.cause for finding in diagnose(dataset).findings]


def test_a_statement_that_a_session_is_always_in_is_a_note() -> None:
    verdict = diagnose(one())
    assert verdict.healthy
    (finding,) = verdict.findings
    assert finding.cause == "statement_dominates"
    assert said(finding.title).startswith("Statement 42 takes 9")
    assert any("explain (analyze" in said(step) for step in finding.remedy)


@pytest.mark.parametrize(("ms", "told"), [(99.0, False), (101.0, True)])
def test_calls_that_nobody_feels_are_not_told(ms: float, *, told: bool) -> None:
    statement = SLOW | {"elapsed_s_per_s": 0.9, "calls_per_s": 900.0 / ms}
    dataset = host(
        time={("CPU", "CPU"): 0.1},
        sessions=[{"statement_id": "42", "wait_class": "CPU", "event": "CPU"}],
        statements=[statement],
    )
    assert ("statement_dominates" in causes(dataset)) is told


def test_what_still_runs_is_long_enough() -> None:
    session = {"statement_id": "42", "wait_class": "CPU", "event": "CPU"}
    assert causes(host(time={("CPU", "CPU"): 0.1}, sessions=[session])) == ["statement_dominates"]


def test_a_statement_that_waits_for_others_is_not_to_blame() -> None:
    assert causes(one(3, wait_class="Application", event="transactionid")) == ["row_locks"]


def test_a_statement_that_seldom_runs_is_not_told() -> None:
    session = {"statement_id": "42", "wait_class": "CPU", "event": "CPU", "samples": 3}
    assert causes(host(time={("CPU", "CPU"): 0.01}, sessions=[session])) == []


@pytest.mark.parametrize(("elapsed", "dominates"), [(0.2, False), (0.6, True)])
def test_a_statement_that_takes_a_quarter(elapsed: float, *, dominates: bool) -> None:
    assert ("statement_dominates" in found(statements=[SQL | {"elapsed_s_per_s": elapsed}])) is dominates


def test_what_runs_a_small_part_of_the_time_is_a_note() -> None:
    quiet = {"db file sequential read": None, "log file sync": None}
    seldom = SQL | {"elapsed_s_per_s": 0.1, "cpu_s_per_s": 0.1}
    (finding,) = found(statements=[seldom], waits=quiet, cpu_s_per_s=0.3, unaccounted_s_per_s=0.0).values()
    assert (finding.cause, finding.severity) == ("statement_dominates", "note")
    assert found(statements=[SQL])["statement_dominates"].severity == "warning"


def test_what_a_statement_does_is_told_for_each_execution() -> None:
    figures = {
        ("v$sqlstats.gets", "7ws837zynp1zv"): 5000.0,
        ("v$sqlstats.user_io_wait_time", "7ws837zynp1zv"): 0.3,
    }
    finding = found(statements=[SQL | {"read_blocks_per_s": 200.0}], figures=figures)["statement_dominates"]
    told = said(finding.for_[0].why)
    for part in ("10 a second", "60.0 ms each", "25 % of it on a CPU", "50 % in reads", "500 buffer gets", "20 blocks"):
        assert part in told
    assert not finding.against


def test_a_block_counts_its_statements_again() -> None:
    finding = found(statements=[SQL | {"text": "BEGIN p.run(:1); END;"}])["statement_dominates"]
    assert any("named on its own" in said(item.why) for item in finding.against)


def test_a_wait_for_others_comes_before_the_statement_that_waits() -> None:
    none = {"db file sequential read": None, "log file sync": None, "db file scattered read": None}
    waits = none | {"cursor: pin S wait on X": (0.05, 20_000.0), "enq: TX - row lock contention": None}
    statement = SQL | {"elapsed_s_per_s": 1.0, "cpu_s_per_s": 0.0}
    findings = found(statements=[statement], waits=waits, cpu_s_per_s=0.01, unaccounted_s_per_s=0.0)
    assert list(findings)[:2] == ["cursor_contention", "statement_dominates"]
    against = findings["statement_dominates"].against[0]
    assert "of the time is cursor: pin S wait on X" in said(against.figure)


def test_a_missing_index_of_another_server_does_not_explain_it() -> None:
    elsewhere = {"db": "postgresql:5433"}
    session = {"statement_id": "42", "wait_class": "CPU", "event": "CPU"} | elsewhere
    both = host(time=BUSY, sessions=[session], statements=[LOOKUP, SLOW | elsewhere], postgres=LOOKED)
    findings = {finding.cause: finding for finding in diagnose(both).findings}
    assert "missing_index" in findings
    assert findings["statement_dominates"].explained_by is None
