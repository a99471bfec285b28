"""Index-only scans that fetch each row from the table all the same."""

from typing import Any

import pytest

from diagnose.hosts import DB, host
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

TABLE, INDEX = "bench.public.sales", "bench.public.sales_day_total"
SUM = {
    "statement_id": "5", "text": "select sum(total) from sales where day between $1 and $2", "calls_per_s": 5.0,
    "elapsed_s_per_s": 0.4, "rows_per_s": 5.0, "hit_blocks_per_s": 20_000.0, "read_blocks_per_s": 0.0,
}  # fmt: skip
OTHER = {
    "statement_id": "6", "text": "select customer from sales where day = $1", "calls_per_s": 5.0,
    "elapsed_s_per_s": 0.3, "rows_per_s": 5.0, "hit_blocks_per_s": 18_000.0, "read_blocks_per_s": 0.0,
}  # fmt: skip


def told(
    *others: dict[str, Any],
    fetched: float = 25_000.0,
    index: str = "btree (day, total)",
    visible: float | None = 0.0,
    heap: float = 19_000.0,
    **changes: Any,
) -> Finding | None:
    figures: dict[tuple[str | None, str], float] = {
        (INDEX, "pg_stat_user_indexes.idx_scan"): 5.0,
        (INDEX, "pg_stat_user_indexes.idx_tup_read"): 25_000.0,
        (INDEX, "pg_stat_user_indexes.idx_tup_fetch"): fetched,
        (TABLE, "pg_statio_user_tables.heap_blks_hit"): heap,
        (TABLE, "pg_class.relpages"): 10_000.0,
    }
    if visible is not None:
        figures[TABLE, "pg_class.relallvisible"] = visible
    setting = {"component": "pg_index", "db": DB, "name": f"{TABLE} sales_day_total", "value": index}
    dataset = host(
        time={("CPU", "CPU"): 0.5}, postgres=figures, statements=[SUM | changes, *others], extra={"setting": [setting]}
    )
    found = diagnose(dataset).findings
    return next((one for one in found if one.cause == "visibility_map_stale"), None)


@pytest.mark.parametrize("index", ["btree (day, total)", "btree (day) including total"])
def test_rows_are_fetched_that_the_index_has(index: str) -> None:
    finding = told(index=index)
    assert finding is not None
    assert finding.severity != "note"
    assert finding.confidence == 0.85
    assert "sales_day_total fetch all rows from public.sales" in said(finding.title)
    words = " | ".join(said(item.figure) for item in finding.for_)
    assert "100 % of 5,000 entries a scan" in words
    assert "100 % of its pages were not all-visible" in words
    assert "no VACUUM is on record" in words


def test_rows_changed_since_the_last_vacuum_make_it_less_sure() -> None:
    finding = told(visible=10_000.0)
    assert finding is not None
    assert finding.confidence == 0.6
    assert finding.against


@pytest.mark.parametrize(
    "changes",
    [
        {"fetched": 5_000.0},  # the map vouches for most
        {"index": "btree (day)"},  # an ordinary scan: the index lacks a column
        {"index": "btree (day, total) partial"},
        {"text": "select * from sales where day between $1 and $2"},
        {"text": "select total from sales where day = $1 for update"},
        {"heap": 2_000.0},  # most of what it looks at is the index
    ],
)
def test_ordinary_scans_and_fresh_maps_are_silent(changes: dict[str, Any]) -> None:
    assert told(**changes) is None


def test_another_statement_may_be_behind_the_fetches() -> None:
    assert told(OTHER) is None


def test_without_the_indexes_nothing_is_said() -> None:
    assert told(index="") is None
