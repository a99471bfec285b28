"""An event trigger that makes each definition slow."""

from typing import Any

import pytest

from diagnose.hosts import DB, host
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

TIME = {("CPU", "CPU"): 0.2}
TOTAL = ("bench.public.record", "pg_stat_user_functions.total_time")


def found(value: str = "ddl_command_end: public.record", text: str = "create temp table basket as select $1",
          ms: float = 20.0, calls: float = 8.0, function_ms: float | None = None) -> dict[str, Finding]:  # fmt: skip
    """The findings where a statement runs so often and takes so long, and a database has this event trigger."""
    trigger = {"component": "pg_event_trigger", "db": DB, "name": "bench.record_schema", "value": value}
    statement: dict[str, Any] = {"statement_id": "7", "text": text, "calls_per_s": calls}
    statement |= {"elapsed_s_per_s": calls * ms / 1000, "rows_per_s": calls}
    figures = {} if function_ms is None else {TOTAL: function_ms}
    seen = host(time=TIME, statements=[statement], postgres=figures, extra={"setting": [trigger]})
    return {finding.cause: finding for finding in diagnose(seen).findings}


def test_a_service_that_makes_temporary_tables() -> None:
    finding = found()["event_trigger_slow"]
    what = "runs for each statement that defines something: 20 ms a call, 8 calls/s"
    assert said(finding.title) == f"Event trigger record_schema {what}"
    assert (finding.severity, finding.confidence, finding.impact.known) == ("warning", 0.6, "at_most")
    assert "pg_temp" in said(finding.remedy[0])


def test_the_functions_own_time_says_how_much_of_it_is_the_triggers() -> None:
    finding = found(function_ms=150.0)["event_trigger_slow"]
    assert (finding.confidence, finding.impact.known) == (0.9, "measured")
    assert "94 % of that in its function" in [said(item.figure) for item in finding.for_]
    assert "event_trigger_slow" not in found(function_ms=10.0)


@pytest.mark.parametrize(
    "changes",
    [
        {"value": "ddl_command_end (CREATE INDEX): public.record"},
        {"value": "login: public.record"},
        {"value": "sql_drop: public.record"},
        {"text": "insert into basket values ($1)"},
        {"ms": 2.0},
        {"calls": 0.1},
    ],
    ids=["of another command", "of logins", "of what is dropped", "it defines nothing", "quick", "seldom"],
)
def test_else_it_is_not_why(changes: dict[str, Any]) -> None:
    assert "event_trigger_slow" not in found(**changes)


def test_one_for_some_commands_fires_for_these() -> None:
    assert "event_trigger_slow" in found("ddl_command_end (CREATE TABLE AS, DROP TABLE): public.record")
