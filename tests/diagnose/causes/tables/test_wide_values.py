"""Wide values that are fetched for each row, and those that somebody wants."""

from typing import Any

import pytest

from diagnose.hosts import host
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

TIME = {("CPU", "CPU"): 0.5, ("Commit", "WALSync"): 0.1}
REPORT = {
    "statement_id": "7", "text": "select sum(length(body)) from documents where id between $1 and $2",
    "calls_per_s": 10.0, "elapsed_s_per_s": 0.4, "rows_per_s": 10.0, "hit_blocks_per_s": 80_000.0,
    "read_blocks_per_s": 0.0,
}  # fmt: skip
TABLE = "bench.public.documents"


def tables(toast: float = 60_000.0, rows: float = 4000.0, table: str = TABLE) -> dict[tuple[str | None, str], float]:
    return {
        (table, "pg_statio_user_tables.toast_blks_hit"): toast * 0.7,
        (table, "pg_statio_user_tables.tidx_blks_hit"): toast * 0.3,
        (table, "pg_statio_user_tables.heap_blks_hit"): 600.0,
        (table, "pg_statio_user_tables.idx_blks_hit"): 20.0,
        (table, "pg_stat_user_tables.idx_tup_fetch"): rows,
    }


def found(postgres: dict[tuple[str | None, str], float], **changes: Any) -> dict[str, Finding]:
    seen = host(time=TIME, postgres=postgres, statements=[REPORT | changes])
    return {finding.cause: finding for finding in diagnose(seen).findings}


def figures(side: tuple[Any, ...]) -> str:
    return " | ".join(said(item.figure) for item in side)


def test_values_that_are_fetched_for_a_sum() -> None:
    findings = found(tables())
    assert next(iter(findings)) == "wide_values_fetched"
    finding = findings["wide_values_fetched"]
    assert "60,000 blocks/s of its TOAST table" in figures(finding.for_)
    assert "400 rows of the table for each that comes of it" in figures(finding.for_)
    assert finding.severity in {"warning", "critical"}
    assert finding.against == ()


def test_values_that_somebody_asked_for_are_a_note() -> None:
    finding = found(tables(), rows_per_s=4000.0)["wide_values_fetched"]
    assert finding.severity == "note"
    assert "1 rows of the table" in figures(finding.against)


@pytest.mark.parametrize(
    ("postgres", "changes"),
    [
        (tables(toast=500.0), {}),
        (tables(toast=20_000.0), {}),
        (tables(table="bench.public.pictures"), {}),
        (tables(), {"calls_per_s": 0.1, "elapsed_s_per_s": 0.002, "hit_blocks_per_s": 80_000.0}),
        ({}, {}),
    ],
    ids=["few", "of a part of its blocks", "another table", "no time", "not measured"],
)
def test_statements_that_it_is_not(postgres: dict[tuple[str | None, str], float], changes: dict[str, float]) -> None:
    assert "wide_values_fetched" not in found(postgres, **changes)


def test_a_look_up_that_names_the_table_too_fetched_none_of_it() -> None:
    look_up = {
        "statement_id": "8", "text": "select id from documents where id = $1", "calls_per_s": 100.0,
        "elapsed_s_per_s": 0.5, "rows_per_s": 100.0, "hit_blocks_per_s": 400.0, "read_blocks_per_s": 0.0,
    }  # fmt: skip
    both = diagnose(host(time=TIME, postgres=tables(), statements=[REPORT | {"elapsed_s_per_s": 0.3}, look_up]))
    finding = next(one for one in both.findings if one.cause == "wide_values_fetched")
    assert "sum(length(body))" in said(finding.title)
    alone = diagnose(host(time=TIME, postgres=tables(), statements=[look_up]))
    assert "wide_values_fetched" not in {one.cause for one in alone.findings}
