"""What grew from one report to the next."""

from datetime import timedelta
from typing import Any

import pytest

from diagnose.oracle_hosts import START, oracle_host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

SLOWER = {"db file sequential read": (300.0, 4.0)}
BUSY_SQL = {"statement_id": "7ws837zynp1zv", "text": "select * from t", "elapsed_s_per_s": 0.9, "cpu_s_per_s": 0.1}


def _grown(before: int = 4, now: int = 2, **changes: Any) -> list[Finding]:
    quiet = BUSY_SQL | {"elapsed_s_per_s": 0.1}
    first = oracle_host(reports=before, statements=[quiet])
    then = oracle_host(reports=now, start=START + timedelta(hours=before), statements=[BUSY_SQL], **changes)
    found = diagnose(Dataset.joined([first, then])).findings
    return [finding for finding in found if finding.cause == "time_grew"]


def test_the_class_its_event_and_the_statement_since_when() -> None:
    (finding,) = _grown(waits=SLOWER)
    assert "User I/O takes" in said(finding.title)
    assert "since the interval ending 2026-11-20 15:00" in said(finding.title)
    told = " ".join(said(item.figure) for item in finding.for_)
    assert "db file sequential read" in told
    assert "7ws837zynp1zv" in told
    assert finding.impact.share == pytest.approx(1.05 * 2 / 6 / 1.75, abs=0.05)
    assert not finding.against


def test_as_much_more_work_speaks_against_it() -> None:
    (plain,) = _grown(4, 3, waits=SLOWER)
    (finding,) = _grown(4, 3, waits=SLOWER, figures={"v$sysstat.user calls": 12_000.0})
    assert "more work" in said(finding.against[0].why)
    assert finding.confidence < plain.confidence


@pytest.mark.parametrize(("before", "now"), [(1, 1), (2, 4)])
def test_two_moments_that_differ_are_less_sure_than_two_levels(before: int, now: int) -> None:
    (finding,) = _grown(before, now, waits=SLOWER)
    assert finding.confidence < 0.5


def test_alike_reports_are_silent_and_so_is_one() -> None:
    assert diagnose(oracle_host(reports=6)).healthy
    assert diagnose(oracle_host()).healthy


def test_work_after_idleness_is_no_finding() -> None:
    idle = oracle_host(
        reports=4, cpu_s_per_s=0.01, unaccounted_s_per_s=0.0, waits={"db file sequential read": (1.0, 0.5),
        "log file sync": None, "db file scattered read": None},
    )  # fmt: skip
    busy = oracle_host(reports=2, start=START + timedelta(hours=4))
    assert diagnose(Dataset.joined([idle, busy])).healthy


def test_a_small_rise_is_no_finding() -> None:
    assert not _grown(waits={"enq: TX - row lock contention": (0.1, 300.0)})


def _found(before: int = 4, now: int = 3, **changes: Any) -> dict[str, Finding]:
    first = oracle_host(reports=before, **changes.pop("first", {}))
    then = oracle_host(reports=now, start=START + timedelta(hours=before), **changes)
    return {finding.cause: finding for finding in diagnose(Dataset.joined([first, then])).findings}


def test_time_that_nothing_accounts_for_grows_too_and_storage_is_ruled_out() -> None:
    finding = _found(unaccounted_s_per_s=3.0)["time_grew"]
    assert said(finding.title).startswith("Unaccounted takes 150.0 times as much time")
    told = {said(item.figure): said(item.why) for item in finding.for_}
    assert told["db file sequential read: 500.0 us each"] == "as quick as before: storage is ruled out"
    assert told["1.00 times the calls and executions"] == "no more work: more work is ruled out"


def test_reads_that_grow_slow_rule_nothing_out() -> None:
    finding = _found(waits=SLOWER)["time_grew"]
    assert not any("storage is ruled out" in said(item.why) for item in finding.for_)


def test_rates_of_load_and_the_segment_behind_them() -> None:
    more = {"v$sysstat.session logical reads": 420e3, "v$sysstat.logons cumulative": 3.0,
            ("v$segment_statistics.logical reads", "APP.SALE"): 350e3}  # fmt: skip
    few = {("v$segment_statistics.logical reads", "APP.SALE"): 10e3}
    finding = _found(unaccounted_s_per_s=3.0, figures=more, first={"figures": few})["time_grew"]
    told = {said(item.figure): said(item.why) for item in finding.for_}
    assert told["420,000 logical reads a second"] == "7.0 times the load"
    assert told["3 logons a second"] == "30.0 times the load"
    assert told["APP.SALE: 350,000 logical reads a second"] == "94 % of what was added"


@pytest.mark.parametrize(("before", "now"), [(1, 1), (4, 3)])
def test_a_jump_in_logical_reads_with_one_table_behind_it_is_told(before: int, now: int) -> None:
    more = {"v$sysstat.session logical reads": 420e3, ("v$segment_statistics.logical reads", "APP.SALE"): 350e3}
    few = {("v$segment_statistics.logical reads", "APP.SALE"): 10e3}
    findings = _found(before, now, figures=more, first={"figures": few})
    assert said(findings["load_grew"].title).startswith("7.0 times as many logical reads")
    assert findings["load_grew"].impact.known == "none_yet"
    assert any("APP.SALE" in said(item.figure) for item in findings["load_grew"].for_)


def test_a_jump_of_one_hour_with_no_table_behind_it_is_not_told() -> None:
    assert "load_grew" not in _found(2, 1, figures={"v$sysstat.session logical reads": 420e3})
