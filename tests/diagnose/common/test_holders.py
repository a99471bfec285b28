"""Statements and segments by name in findings and their first steps."""

import pytest

from diagnose.hosts import host
from diagnose.oracle_hosts import found, oracle_host
from doctord.diagnose.case import Case
from doctord.diagnose.common.holders import named, to_begin_with
from doctord.diagnose.engine import diagnose
from doctord.report.phrases import said

FULL = {"idle_pct": 3.0, "wait_io_pct": 2.0}
BUSY = {"statement_id": "abc", "text": "select * from sale", "elapsed_s_per_s": 1.6, "cpu_s_per_s": 1.5,
        "calls_per_s": 20.0, "read_blocks_per_s": 200.0}  # fmt: skip
FIGURES = {("v$sqlstats.gets", "abc"): 45e3, ("v$segment_statistics.logical reads", "APP.SALE"): 42e3}


def test_a_statement_with_a_third_of_the_cpu_is_named_in_evidence_and_remedy() -> None:
    finding = found(host=FULL, unaccounted_s_per_s=3.0, cpu_s_per_s=4.5, statements=[BUSY], figures=FIGURES)[
        "host_cpu_short"
    ]
    told = [said(item.figure) for item in finding.for_]
    assert any(figure.startswith("abc: 33 % of the CPU time") and "75 % of the logical reads" in figure
               for figure in told)  # fmt: skip
    assert any(figure.startswith("APP.SALE: 70 % of the logical reads") for figure in told)
    assert said(finding.remedy[0]) == "First: statement abc (33 % of the CPU time): select * from sale."
    assert len(finding.remedy) > 1


@pytest.mark.parametrize("event", ["db file sequential read", "db file scattered read", "read by other session"])
def test_whoever_is_told_to_read_less_is_told_which_statement_reads(event: str) -> None:
    findings = found(waits={event: (2000.0, 1.0)}, statements=[BUSY], figures=FIGURES)
    assert any("62 % of the physical reads" in said(one.remedy[0]) for one in findings.values())


def test_chains_of_buffers_name_the_statement_with_most_gets() -> None:
    finding = found(waits={"latch: cache buffers chains": (100.0, 5.0)}, statements=[BUSY], figures=FIGURES)
    assert "75 % of the logical reads" in said(finding["hot_buffers"].remedy[0])


def test_saturated_cpus_of_a_live_server_name_the_statement() -> None:
    session = {"statement_id": "42", "event": "CPU", "wait_class": "CPU", "pid": 1000}
    dataset = host(
        cpu={"idle_pct": 1.0, "wait_io_pct": 0.0, "run_queue": 8.0, "pressure_some_pct": 90.0},
        backend={"run_wait_pct": 60.0, "usr_pct": 40.0},
        sessions=[session] * 4,
    )
    (finding,) = [one for one in diagnose(dataset).findings if one.cause == "cpu_saturated"]
    assert said(finding.remedy[0]).startswith("First: statement 42 (")


def test_who_holds_little_is_not_what_to_begin_with() -> None:
    little = BUSY | {"cpu_s_per_s": 0.05, "elapsed_s_per_s": 0.05, "read_blocks_per_s": 1.0}
    case = Case(oracle_host(statements=[little]))
    assert named(case, "cpu_share") == []
    assert to_begin_with(case, "cpu_share") == []


def test_statements_that_wait_for_rows_are_named() -> None:
    waiting = {"statement_id": "77", "event": "transactionid", "wait_class": "Application", "wait_kind": "row lock"}
    (finding, *_) = [one for one in diagnose(host(sessions=[waiting] * 2)).findings if one.cause == "row_locks"]
    assert any(said(item.figure) == "77: 100 % of this waiting" for item in finding.for_)
