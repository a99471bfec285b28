"""A log of statements that grows by megabytes a second."""

from typing import Any

import pytest

from diagnose.hosts import DB, GIB, host
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

MIB = 2**20
PLANS = {
    "shared_preload_libraries": "auto_explain", "auto_explain.log_min_duration": "0", "auto_explain.log_analyze": "on",
    "auto_explain.log_timing": "on", "auto_explain.log_nested_statements": "on",
}  # fmt: skip
CALL = {
    "statement_id": "5",
    "text": "SELECT total($1)",
    "calls_per_s": 60.0,
    "elapsed_s_per_s": 0.6,
    "rows_per_s": 60.0,
}
BUSY = {("CPU", "CPU"): 0.6}


def log(size: float, lines: float, **more: float) -> dict[tuple[str | None, str], float]:
    told = {(None, "log.written_bytes"): size, (None, "log.written_lines"): lines}
    return told | {("bench", "pg_stat_database.xact_commit"): 60.0} | {(None, name): it for name, it in more.items()}


def found(**more: Any) -> Finding | None:
    findings = diagnose(host(**{"time": BUSY, "settings": PLANS, "statements": [CALL]} | more)).findings
    return next((finding for finding in findings if finding.cause == "statements_logged_heavily"), None)


def test_plans_within_functions_that_a_call_spends_its_time_on() -> None:
    finding = found(postgres=log(40 * MIB, 300_000))
    assert finding
    assert (finding.severity, finding.confidence, finding.database) == ("warning", 0.85, DB)
    assert said(finding.title) == (
        "The log grows by 40.0 MiB/s, 300,000 lines/s, by auto_explain.log_min_duration = 0; a statement that takes "
        "10.0 ms pays for it"
    )
    figures = " | ".join(said(item.figure) for item in finding.for_)
    for figure in ("5,000.0 lines for each transaction", "auto_explain.log_nested_statements = on",
                   "auto_explain.log_timing = on"):  # fmt: skip
        assert figure in figures


def test_plans_that_are_written_after_the_execution() -> None:
    """The server times 1 ms of each call; its session is on a CPU for 10 ms."""
    quick = CALL | {"elapsed_s_per_s": 0.06}
    sampled = [{"statement_id": "5", "wait_kind": "cpu"}]
    finding = found(postgres=log(3 * MIB, 30_000), statements=[quick], sessions=sampled)
    assert finding
    assert finding.severity == "warning"


def test_cpus_that_others_saturate_are_not_its_symptom() -> None:
    others = [{"command": "stress", "usr_pct": 90.0}, {"command": "stress", "usr_pct": 90.0}]
    busy = {"idle_pct": 0.5, "usr_pct": 95.0, "run_queue": 9.0, "pressure_some_pct": 90.0}
    told = diagnose(host(time=BUSY, settings=PLANS, statements=[CALL], postgres=log(20 * MIB, 300_000), cpu=busy,
                         other_processes=others)).findings  # fmt: skip
    assert "statements_logged_heavily" in [one.cause for one in told]
    assert "statements_logged_heavily" not in [one.explained_by for one in told if one.cause == "cpu_saturated"]


def test_dozens_of_lines_for_each_transaction_of_a_small_server() -> None:
    quick, sampled = CALL | {"elapsed_s_per_s": 0.06}, [{"statement_id": "5", "wait_kind": "cpu"}]
    assert found(postgres=log(0.5 * MIB, 6_000), statements=[quick], sessions=sampled)
    assert found(postgres=log(0.5 * MIB, 600), statements=[quick], sessions=sampled) is None


def test_statements_that_are_quick_all_the_same_are_a_note() -> None:
    quick = CALL | {"calls_per_s": 20_000.0, "elapsed_s_per_s": 0.6}
    finding = found(postgres=log(4 * MIB, 20_000), statements=[quick], settings={"log_statement": "all"})
    assert finding
    assert finding.severity == "note"
    assert any("20,000" in said(item.figure) for item in finding.against)


def test_a_file_system_that_the_log_fills_within_hours() -> None:
    room = {"mount": "/log", "device": "/dev/vdb", "size_bytes": 40 * GIB, "used_bytes": 10 * GIB}
    holds = [{"component": "kernel", "db": DB, "name": f"path./log/pg.{part}", "value": value}
             for part, value in (("holds", "log"), ("mount", "/log"))]  # fmt: skip
    finding = found(postgres=log(4 * MIB, 20_000), statements=[], filesystems=[{}, room], extra={"setting": holds})
    assert finding
    assert finding.severity == "warning"
    assert any("until its file system is full" in said(item.figure) for item in finding.for_)


def test_planning_is_not_what_the_log_costs() -> None:
    """A log of 1 MiB/s takes a sixth of a CPU at the most; the statement is planned for 9 ms of 10, sixty times a s."""
    quick, sampled = CALL | {"elapsed_s_per_s": 0.06}, [{"statement_id": "5", "wait_kind": "cpu"}]
    finding = found(postgres=log(1.1 * MIB, 1000), statements=[quick], sessions=sampled)
    assert finding
    assert finding.severity == "note"


def test_the_room_is_that_of_its_own_log() -> None:
    mounts = [{"mount": "/a", "device": "/dev/vdb", "size_bytes": 40 * GIB, "used_bytes": 10 * GIB},
              {"mount": "/b", "device": "/dev/vdc", "size_bytes": 40 * GIB, "used_bytes": 10 * GIB}]  # fmt: skip
    holds = [{"component": "kernel", "db": db, "name": f"path.{mount}/pg.{part}", "value": value}
             for db, mount in ((DB, "/a"), ("postgresql:5433", "/b"))
             for part, value in (("holds", "log"), ("mount", mount))]  # fmt: skip
    finding = found(postgres=log(4 * MIB, 20_000), statements=[], filesystems=[{}, *mounts], extra={"setting": holds})
    assert finding
    assert [item.filter for item in finding.for_ if item.table == "filesystem"] == ["mount = '/a'"]


def test_errors_that_fill_the_log_speak_against_it() -> None:
    errors = {("ERROR", "log.messages"): 9000.0}
    finding = found(postgres=log(4 * MIB, 20_000) | errors)
    assert finding
    assert any("errors" in said(item.figure) for item in finding.against)


@pytest.mark.parametrize(
    ("size", "lines"), [(90e3, 700.0), (0.9 * MIB, 9_000.0)], ids=["a hundred transactions", "just below"]
)
def test_every_statement_logged_cheaply_is_healthy(size: float, lines: float) -> None:
    assert diagnose(host(postgres=log(size, lines), settings={"log_statement": "all"})).healthy


def test_a_log_that_was_not_read_is_none_that_stands_still() -> None:
    assert found(postgres={}) is None
