"""BRIN indexes that leave hardly a page of their table out."""

from typing import Any

import pytest

from diagnose.hosts import DB, host
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

TABLE = "bench.public.readings"
FIND = {
    "statement_id": "5", "text": "select avg(value) from readings where at >= $1 and at < $2", "calls_per_s": 10.0,
    "elapsed_s_per_s": 0.8, "rows_per_s": 10.0, "hit_blocks_per_s": 57_000.0, "read_blocks_per_s": 0.0,
}  # fmt: skip


def told(
    *, a_scan: float = 5_700.0, pages: float = 6_400.0, counted: float = 700.0, method: str = "brin",
    whole: float = 0.0,
    others: float = 0.0, **changes: Any,
) -> Finding | None:  # fmt: skip
    figures: dict[tuple[str | None, str], float] = {
        ("bench.public.readings_at", "pg_stat_user_indexes.idx_scan"): 10.0,
        (TABLE, "pg_stat_user_tables.idx_scan"): 10.0 + others,
        (TABLE, "pg_stat_user_tables.seq_scan"): whole,
        (TABLE, "pg_statio_user_tables.heap_blks_hit"): 10.0 * a_scan,
        (TABLE, "pg_class.heap_bytes"): pages * 8192,
        (TABLE, "pg_class.relpages"): counted,
    }
    setting = {"component": "pg_index", "db": DB, "name": f"{TABLE} readings_at", "value": f"{method} (at)"}
    dataset = host(
        time={("CPU", "CPU"): 0.9}, postgres=figures, statements=[FIND | changes], extra={"setting": [setting]}
    )
    found = diagnose(dataset).findings
    return next((one for one in found if one.cause == "brin_index_leaves_nothing_out"), None)


def test_pages_that_came_since_the_last_vacuum_are_all_read() -> None:
    finding = told()
    assert finding is not None
    assert finding.severity != "note"
    assert finding.confidence == 0.85
    title = said(finding.title)
    assert "By BRIN index readings_at a search looks at 5,700 of the 6,400 pages of public.readings" in title
    assert title.endswith("new pages are not summarized")
    assert "5,700 pages came since" in " | ".join(said(one.figure) for one in finding.for_)
    assert "brin_summarize_new_values('public.readings_at')" in said(finding.remedy[0])


def test_rows_in_another_order_leave_no_range_out() -> None:
    finding = told(counted=6_400.0)
    assert finding is not None
    assert (finding.severity, finding.confidence) == ("note", 0.7)
    assert "not in the table's order" in said(finding.title)


@pytest.mark.parametrize(
    "changes",
    [
        {"a_scan": 700.0},
        {"pages": 800.0, "a_scan": 800.0},
        {"method": "btree"},
        {"whole": 2.0},
        {"others": 50.0},
        {"elapsed_s_per_s": 0.02},
        {"hit_blocks_per_s": 100.0},
    ],
    ids=["leaves much out", "small", "btree", "read whole", "other indexes", "quick", "another statement"],
)
def test_what_is_no_poor_index(changes: dict[str, Any]) -> None:
    assert told(**changes) is None
