"""Index scans that read thousands of entries for few rows."""

from typing import Any

import pytest

from diagnose.hosts import DB, host
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

TABLE = "bench.public.orders"
FIND = {
    "statement_id": "5", "text": "select id from orders where day = $1 and customer = $2", "calls_per_s": 20.0,
    "elapsed_s_per_s": 0.2, "rows_per_s": 400.0, "hit_blocks_per_s": 10_000.0, "read_blocks_per_s": 0.0,
}  # fmt: skip


def told(
    *, entries: float = 60_000.0, changed: float = 60_000.0, scans: float = 20.0, other_scans: float = 0.0,
    autovacuum: float = 0.0, dead: float = 0.0, live: float = 120_000.0, counted: float | None = 120_000.0,
    **changes: Any,
) -> Finding | None:  # fmt: skip
    figures: dict[tuple[str | None, str], float] = {
        ("bench.public.orders_day", "pg_stat_user_indexes.idx_scan"): scans,
        ("bench.public.orders_day", "pg_stat_user_indexes.idx_tup_read"): scans * entries,
        ("bench.public.orders_customer", "pg_stat_user_indexes.idx_scan"): other_scans,
        (TABLE, "pg_stat_user_tables.n_live_tup"): live,
        (TABLE, "pg_stat_user_tables.n_mod_since_analyze"): changed,
        (TABLE, "pg_class.autovacuum_enabled"): autovacuum,
        (TABLE, "pg_stat_user_tables.n_dead_tup"): dead,
        ("bench.public.customers", "pg_class.reltuples"): 10_000.0,
    }
    if counted is not None:
        figures[TABLE, "pg_class.reltuples"] = counted
    settings = [
        {"component": "pg_index", "db": DB, "name": f"{TABLE} {name}", "value": value}
        for name, value in (("orders_day", "btree (day)"), ("orders_customer", "btree (customer)"))
    ]
    dataset = host(
        time={("CPU", "CPU"): 0.25}, postgres=figures, statements=[FIND | changes], extra={"setting": settings}
    )
    found = diagnose(dataset).findings
    return next((one for one in found if one.cause == "index_reads_many_entries"), None)


def test_statistics_that_do_not_know_the_rows_of_today() -> None:
    finding = told()
    assert finding is not None
    assert finding.severity in {"warning", "critical"}
    assert finding.confidence == 0.85
    assert "statistics of public.orders are out of date" in said(finding.title)
    assert "by index orders_day a statement reads 60,000 rows for 20 rows" in said(finding.title)
    words = " | ".join(said(item.figure) for item in finding.for_)
    assert "50 % as many rows changed since the last ANALYZE" in words
    assert "index orders_customer (customer) is not scanned" in words
    assert "autovacuum is switched off" in words
    assert said(finding.remedy[0]).startswith("First: ANALYZE public.orders")


def test_dead_rows_are_another_reason() -> None:
    finding = told(dead=50_000.0)
    assert finding is not None
    assert "out of date" not in said(finding.title)


def test_fresh_statistics_leave_the_question_to_the_plan() -> None:
    finding = told(changed=0.0, other_scans=5.0)
    assert finding is not None
    assert finding.confidence == 0.6
    assert said(finding.title).startswith(
        "By index orders_day of public.orders a statement reads 60,000 rows for 20 rows"
    )
    assert "no index holds more of the condition" in " ".join(said(item.why) for item in finding.against)


@pytest.mark.parametrize(
    "changes",
    [
        {"entries": 500.0},
        {"rows_per_s": 20 * 5_000.0},
        {"elapsed_s_per_s": 0.02},
        {"scans": 2000.0},
        {"text": "select count(*) from orders where day = $1 and customer = $2"},
        {"text": "select o.id from orders o join lines l on l.ord = o.id where o.day = $1"},
        {"text": "select id from orders where note = $1"},
        {"rows_per_s": None},
        {"text": "select id from orders where day = $1 order by id limit $2 offset $3"},
        {"text": "select id from orders where day = $1 limit $2 for update skip locked"},
    ],
    ids=[
        "few entries",
        "wants many",
        "quick",
        "others scan it",
        "counts",
        "joins",
        "another column",
        "rows untold",
        "skips",
        "locked",
    ],
)
def test_what_is_no_such_scan(changes: dict[str, Any]) -> None:
    assert told(**changes) is None


def test_a_table_that_nobody_ever_counted_has_no_statistics() -> None:
    finding = told(live=0.0, changed=0.0, counted=None)
    assert finding
    assert "The statistics of public.orders are not there: by index orders_day" in said(finding.title)
    assert "pg_upgrade" in " ".join(said(item.why) for item in finding.for_)
    reset = told(live=0.0, changed=0.0)  # the planner knows its rows: only the server's counters began anew
    assert reset
    assert "are not there" not in said(reset.title)
