"""Statements that take many times as long as before, by the server's own count of their past."""

from typing import Any

import pytest

from diagnose.hosts import host
from diagnose.mysql_servers import found as by_cause
from diagnose.mysql_servers import mysql
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

LIGHT = {("CPU", "CPU"): 0.2, ("Commit", "WALSync"): 0.05}
# Ten calls a second of 18 ms, each of which looks at 900 blocks, where 40,000 took 1.5 ms and 4 blocks before.
INSERTS = {
    "statement_id": "7", "text": "INSERT INTO orders VALUES ($1, $2)", "calls_per_s": 10.0, "elapsed_s_per_s": 0.18,
    "rows_per_s": 10.0, "hit_blocks_per_s": 9000.0, "read_blocks_per_s": 0.0,
}  # fmt: skip
PAST = {"calls": 40000.0, "ms_per_call": 1.5, "rows_per_call": 1.0, "blocks_per_call": 4.0}


def found(statement: dict[str, Any] = INSERTS, past: dict[str, float] = PAST, **more: Any) -> dict[str, Finding]:
    figures = {("7", f"pg_stat_statements.past_{name}"): value for name, value in past.items()}
    diagnosis = diagnose(host(**{"time": LIGHT, "statements": [statement], "postgres": figures} | more))
    return {finding.cause: finding for finding in diagnosis.findings}


def test_a_statement_that_took_a_tenth_before() -> None:
    finding = found()["statement_slower_than_before"]
    assert said(finding.title) == "Statement 7 takes 18.0 ms a call, 1.5 ms before"
    assert finding.severity == "warning"
    assert finding.impact.share == pytest.approx(0.18 / 0.25 * (1 - 1.5 / 18), abs=0.02)
    told = " | ".join(f"{said(item.figure)} ({said(item.threshold)}): {said(item.why)}" for item in finding.for_)
    assert "18.0 ms a call, 10 a second (1.5 ms, the mean of 40,000 calls before)" in told
    assert "900 blocks looked at a call (4 before): a call does more work than before" in told


def test_the_same_work_done_more_slowly_is_told_as_such() -> None:
    finding = found(INSERTS | {"hit_blocks_per_s": 40.0})["statement_slower_than_before"]
    assert "a call does the same work more slowly" in [said(item.why) for item in finding.for_]


@pytest.mark.parametrize(
    "statement",
    [
        INSERTS | {"elapsed_s_per_s": 0.05},  # a busy hour: three times as long
        INSERTS | {"calls_per_s": 100.0, "rows_per_s": 100.0, "elapsed_s_per_s": 0.18},  # nobody feels 2 ms
        INSERTS | {"rows_per_s": 900.0},  # 90 rows where one was asked for
        INSERTS | {"calls_per_s": 0.2, "rows_per_s": 0.2},  # a report
    ],
)
def test_what_is_no_loss_is_no_finding(statement: dict[str, Any]) -> None:
    assert "statement_slower_than_before" not in found(statement)


def test_without_a_past_nothing_is_said() -> None:
    assert "statement_slower_than_before" not in found(past={})


def test_what_another_finding_explains_is_not_told_again() -> None:
    waiting = {"statement_id": "7", "wait_class": "Lock", "event": "transactionid", "wait_kind": "row lock"}
    statement = INSERTS | {"elapsed_s_per_s": 1.0}
    as_much_work = statement | {"hit_blocks_per_s": 40.0}
    findings = found(as_much_work, sessions=[waiting])
    assert findings["row_locks"].severity != "note"
    assert "statement_slower_than_before" not in findings
    on_cpu = {"statement_id": "7", "wait_class": "CPU", "event": "CPU", "wait_kind": "cpu"}
    assert "statement_slower_than_before" in found(as_much_work, sessions=[on_cpu])


def test_who_waits_for_a_cpu_looks_at_no_more_blocks() -> None:
    crowded = {"cpu": {"idle_pct": 0.5, "run_queue": 9.0, "pressure_some_pct": 70.0}, "backend": {"run_wait_pct": 60.0}}
    saturated = {"time": {("CPU", "CPU"): 3.0}, **crowded}
    assert "statement_slower_than_before" not in found(
        INSERTS | {"elapsed_s_per_s": 1.0, "hit_blocks_per_s": 40.0}, **saturated
    )
    findings = found(INSERTS | {"elapsed_s_per_s": 1.0}, **saturated)
    assert {"cpu_saturated", "statement_slower_than_before"} <= set(findings)


def of_mysql(examined: float, past: dict[str, float]) -> dict[str, Finding]:
    statement = {key: value for key, value in INSERTS.items() if not key.endswith("blocks_per_s")}
    view = "events_statements_summary_by_digest"
    figures = {("7", f"{view}.past_{name}"): value for name, value in past.items()}
    figures |= {("7", f"{view}.sum_rows_examined"): examined}
    own = {"statement_id": "7", "interval_s": 0.18}
    return by_cause(mysql(sessions=[own], statements=[statement], gauges=figures))


def test_mysql_s_digests_have_a_past_too() -> None:
    past = {"calls": 40000.0, "ms_per_call": 1.5, "rows_per_call": 1.0, "examined_per_call": 4.0}
    finding = of_mysql(9000.0, past)["statement_slower_than_before"]
    told = " | ".join(f"{said(item.figure)} ({said(item.threshold)}): {said(item.why)}" for item in finding.for_)
    assert "900 rows looked at a call (4 before): a call does more work than before" in told
    assert "statement_slower_than_before" not in of_mysql(9000.0, past | {"ms_per_call": 17.0})
    assert "statement_slower_than_before" not in of_mysql(9000.0, {})
