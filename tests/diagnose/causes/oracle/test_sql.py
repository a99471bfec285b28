"""Statements, sessions and network of Oracle."""

from typing import Any

import pytest

from diagnose.oracle_hosts import HEALTHY_CPU_S_PER_S, found
from doctord.report.phrases import said

SQL: dict[str, Any] = {
    "statement_id": "7ws837zynp1zv", "text": "select * from t where a = :1", "calls_per_s": 10.0,
    "elapsed_s_per_s": 0.6, "cpu_s_per_s": 0.15, "rows_per_s": 10.0,
}  # fmt: skip


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


@pytest.mark.parametrize(
    ("event", "cause"),
    [
        ("SQL*Net more data to client", "large_results"),
        ("SQL*Net message from dblink", "database_links"),
        ("SQL*Net break/reset to client", "calls_fail"),
        ("PX Deq: Slave Session Stats", "parallel_servers_short"),
    ],
)
def test_what_comes_with_calls(event: str, cause: str) -> None:
    assert set(found(waits={event: (100.0, 3.0)})) == {cause}
    assert found(waits={event: (10.0, 3.0)}) == {}


@pytest.mark.parametrize(("logons", "against"), [(30.0, False), (0.1, True)])
def test_logons(logons: float, *, against: bool) -> None:
    line = "v$sys_time_model.connection management call elapsed time"
    finding = found(figures={line: HEALTHY_CPU_S_PER_S / 4, "v$sysstat.logons cumulative": logons})["connection_churn"]
    assert bool(finding.against) is against
    assert "connection_churn" not in found(figures={line: 0.001, "v$sysstat.logons cumulative": 30.0})


def test_many_logons_that_no_time_model_weighs_have_an_unknown_impact() -> None:
    finding = found(figures={"v$sysstat.logons cumulative": 30.0})["connection_churn"]
    assert finding.impact.known == "not_measured"
    assert any("pool of fixed size" in said(step) for step in finding.remedy)
    assert "connection_churn" not in found(figures={"v$sysstat.logons cumulative": 5.0})


@pytest.mark.parametrize(("down", "short"), [(0.0001, False), (0.05, False), (0.5, True)])
def test_parallel_operations_that_were_downgraded(down: float, *, short: bool) -> None:
    figures = {
        "v$sysstat.Parallel operations not downgraded": 1.0,
        "v$sysstat.Parallel operations downgraded to serial": down,
    }
    assert ("parallel_servers_short" in found(figures=figures)) is short


def test_a_wait_for_others_comes_before_the_statement_that_waits() -> None:
    none = {"db file sequential read": None, "log file sync": None, "db file scattered read": None}
    waits = none | {"cursor: pin S wait on X": (0.05, 20_000.0), "enq: TX - row lock contention": None}
    statement = SQL | {"elapsed_s_per_s": 1.0, "cpu_s_per_s": 0.0}
    findings = found(statements=[statement], waits=waits, cpu_s_per_s=0.01, unaccounted_s_per_s=0.0)
    assert list(findings)[:2] == ["cursor_contention", "statement_dominates"]
    against = findings["statement_dominates"].against[0]
    assert "of the time is cursor: pin S wait on X" in said(against.figure)
