"""Work that was put off until COMMIT."""

from typing import Any

import pytest

from diagnose.hosts import DB, host
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

COMMIT = {"statement_id": "9", "text": "COMMIT", "calls_per_s": 4.0, "elapsed_s_per_s": 0.8, "rows_per_s": 0.0}
INSERT = {
    "statement_id": "7", "text": "insert into lines values ($1, $2)", "calls_per_s": 4.0, "elapsed_s_per_s": 0.004,
    "rows_per_s": 4.0,
}  # fmt: skip
TRIGGER = {
    "component": "pg_trigger", "db": DB, "name": "bench.public.lines balance",
    "value": "after insert for each row, deferred: public.check_balance",
}  # fmt: skip
KINDS = {"CPU": "cpu", "DataFileRead": "single read", "WALSync": "log sync", "SyncRep": "replication"}


def told(
    wait: tuple[str, str] = ("CPU", "CPU"), samples: int = 16, setting: dict[str, str] = TRIGGER, **changes: Any
) -> Finding | None:
    session = {"statement_id": "9", "wait_class": wait[0], "event": wait[1], "wait_kind": KINDS[wait[1]]}
    dataset = host(
        time={("CPU", "CPU"): 0.1},
        sessions=[session | {"samples": samples}],
        statements=[COMMIT | changes, INSERT],
        extra={"setting": [setting]},
    )
    return next((one for one in diagnose(dataset).findings if one.cause == "work_at_commit"), None)


def test_a_commit_that_works_is_told_with_the_deferred_trigger() -> None:
    finding = told()
    assert finding is not None
    assert (finding.severity, finding.confidence) == ("critical", 0.85)
    assert said(finding.title).startswith("COMMIT takes 200.0 ms, 100 % of it work, and not the log: deferred trigger")
    assert any("function public.check_balance" in said(item.figure) for item in finding.for_)


def test_reads_in_a_commit_are_work_too() -> None:
    assert told(("User I/O", "DataFileRead")) is not None


@pytest.mark.parametrize("wait", [("Commit", "WALSync"), ("Commit", "SyncRep")])
def test_a_commit_that_waits_for_the_log_is_another_cause(wait: tuple[str, str]) -> None:
    assert told(wait) is None


@pytest.mark.parametrize(
    "changes",
    [{"elapsed_s_per_s": 0.016}, {"samples": 8}, {"text": "COMMIT PREPARED $1"}, {"text": "select 1"}],
)
def test_what_is_quick_rare_or_no_commit_is_silent(changes: dict[str, Any]) -> None:
    assert told(**changes) is None


def test_a_trigger_that_fires_at_once_is_not_to_blame() -> None:
    at_once = TRIGGER | {"value": "after insert for each row: public.check_balance"}
    finding = told(setting=at_once)
    assert finding is not None
    assert "trigger" not in said(finding.title)
    assert finding.confidence == 0.7


def emptying(tables: int, use: str | None = None) -> Finding | None:
    basket = {
        "statement_id": "7", "text": "insert into basket values ($1)", "calls_per_s": 4.0, "elapsed_s_per_s": 0.001,
        "rows_per_s": 4.0,
    }  # fmt: skip
    session = {"statement_id": "7", "wait_class": "CPU", "event": "CPU", "wait_kind": "cpu", "samples": 80}
    named = [f"bench.pg_temp_5.gtt_{number}" for number in range(tables)]
    figures = {(name, "pg_stat_user_tables.seq_scan"): 1.3 for name in named}
    if use:
        figures |= {(name, f"pg_stat_user_tables.{use}"): 1.3 for name in named}
    findings = diagnose(
        host(time={("CPU", "CPU"): 0.4}, sessions=[session], statements=[basket], postgres=figures)
    ).findings
    return next((one for one in findings if one.cause == "work_at_commit"), None)


def test_a_commit_that_empties_many_temporary_tables_is_not_planning() -> None:
    finding = emptying(90)
    assert finding is not None
    assert "its commit empties 90 and more temporary tables: insert into basket" in said(finding.title)
    assert finding.impact.known == "at_most"
    assert "ON COMMIT DROP" in said(finding.remedy[0])


@pytest.mark.parametrize(("tables", "use"), [(5, None), (90, "n_tup_ins"), (90, "seq_tup_read")])
def test_few_temporary_tables_or_such_as_are_used_are_silent(tables: int, use: str | None) -> None:
    assert emptying(tables, use) is None
