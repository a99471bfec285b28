"""A trigger that reads a whole table each time that it fires."""

from typing import Any

import pytest

from diagnose.hosts import DB, host
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

TIME = {("CPU", "CPU"): 0.2, ("Commit", "WALSync"): 0.1}
TRIGGER = {
    "component": "pg_trigger", "db": DB, "name": "bench.public.movements add_up",
    "value": "after insert for each row: public.add_up",
}  # fmt: skip
FUNCTION = {
    "component": "pg_proc", "db": DB, "name": "bench.public.add_up", "value": "public.movements, public.totals",
}  # fmt: skip
INSERT = {
    "statement_id": "7", "text": "insert into movements values ($1, $2)", "calls_per_s": 8.0, "elapsed_s_per_s": 0.16,
    "rows_per_s": 8.0, "hit_blocks_per_s": 16_000.0, "read_blocks_per_s": 0.0,
}  # fmt: skip
ROWS = "pg_stat_user_tables.seq_tup_read"


def tables(rows: float = 400_000.0, name: str = "movements") -> dict[tuple[str | None, str], float]:
    return {
        (f"bench.public.{name}", ROWS): 8.0 * rows,
        (f"bench.public.{name}", "pg_stat_user_tables.seq_scan"): 8.0,
        (f"bench.public.{name}", "pg_statio_user_tables.heap_blks_hit"): 8.0 * rows / 200,
        ("bench.public.movements", "pg_stat_user_tables.n_tup_ins"): 8.0,
    }


def found(
    postgres: dict[tuple[str | None, str], float],
    statement: dict[str, Any] = INSERT,
    settings: tuple[dict[str, str], ...] = (TRIGGER, FUNCTION),
) -> dict[str, Finding]:
    seen = host(time=TIME, postgres=postgres, statements=[statement], extra={"setting": settings})
    return {finding.cause: finding for finding in diagnose(seen).findings}


def figures(side: tuple[Any, ...]) -> str:
    return " | ".join(said(item.figure) for item in side)


def test_each_insert_has_a_trigger_read_the_table() -> None:
    findings = found(tables())
    assert next(iter(findings)) == "trigger_reads_table"
    finding = findings["trigger_reads_table"]
    assert finding.confidence == 0.95
    assert "400,000 rows of movements are read for each row that is written to movements" in figures(finding.for_)
    assert "after insert for each row: function public.add_up" in figures(finding.for_)
    assert [item.what for item in finding.not_measured] == ["how long the trigger's function takes"]


def test_the_functions_own_time_is_told_where_it_is_counted() -> None:
    timed = tables() | {("bench.public.add_up", "pg_stat_user_functions.total_time"): 150.0}
    finding = found(timed)["trigger_reads_table"]
    assert "0.15 s per s in function public.add_up" in figures(finding.for_)
    assert not finding.not_measured


def test_a_table_that_the_function_reads_by_another_function() -> None:
    through = (
        TRIGGER,
        FUNCTION | {"value": "public.total_of"},
        FUNCTION | {"name": "bench.public.total_of", "value": "public.ledger"},
    )
    assert "trigger_reads_table" in found(tables(name="ledger"), settings=through)


def test_a_function_that_names_no_table_is_less_sure() -> None:
    finding = found(tables(), settings=(TRIGGER,))["trigger_reads_table"]
    assert finding.confidence == 0.6
    assert "its source does not name the table" in figures(finding.against)
    assert "trigger_reads_table" in found(
        tables(), settings=(TRIGGER, FUNCTION | {"value": "(execute), public.totals"})
    )
    assert "trigger_reads_table" not in found(tables(), settings=(TRIGGER, FUNCTION | {"value": "public.totals"}))


def test_a_statement_with_a_condition_on_the_table_may_scan_it_itself() -> None:
    update = INSERT | {"text": "update movements set amount = $1 where note = $2"}
    trigger = TRIGGER | {"value": "after insert, update for each row: public.add_up"}
    finding = found(tables(), update, (trigger, FUNCTION))["trigger_reads_table"]
    assert finding.confidence == 0.6
    assert "it has a condition on public.movements itself" in figures(finding.against)


@pytest.mark.parametrize(
    ("postgres", "statement", "settings"),
    [
        (tables(rows=1000.0), INSERT, (TRIGGER, FUNCTION)),  # a small table
        (tables(), INSERT, ()),
        (tables(), INSERT | {"text": "delete from movements where id = $1"}, (TRIGGER, FUNCTION)),  # fires for inserts
        (tables(), INSERT | {"hit_blocks_per_s": 80.0}, (TRIGGER, FUNCTION)),  # it does not do that work
        ({}, INSERT, (TRIGGER, FUNCTION)),
    ],
)
def test_else_it_is_silent(
    postgres: dict[tuple[str | None, str], float], statement: dict[str, Any], settings: tuple[dict[str, str], ...]
) -> None:
    assert "trigger_reads_table" not in found(postgres, statement, settings)
