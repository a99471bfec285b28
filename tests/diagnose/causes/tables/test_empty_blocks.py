"""Tables whose blocks are nearly empty, and those that are large because they hold much."""

from typing import Any

import pytest

from diagnose.hosts import DB, host
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

JOBS = "bench.public.jobs"
MIB = 2**20
BLOCKS = 117 * MIB / 8192
EMPTY = {
    "pg_class.heap_bytes": 117.0 * MIB, "pg_class.relpages": BLOCKS, "pg_class.row_bytes": 120.0,
    "pg_class.fillfactor_pct": 100.0, "pg_class.reltuples": 250.0, "pg_stat_user_tables.n_live_tup": 250.0,
    "pg_stat_user_tables.n_dead_tup": 0.0, "pg_stat_user_tables.seq_scan": 20.0,
    "pg_stat_user_tables.seq_tup_read": 5000.0, "pg_statio_user_tables.heap_blks_hit": 20 * BLOCKS * 0.3,
    "pg_statio_user_tables.heap_blks_read": 20 * BLOCKS * 0.7,
}  # fmt: skip
OTHER = {("bench.public.orders", "pg_statio_user_tables.heap_blks_hit"): 1000.0}
DASHBOARD = {
    "statement_id": "7", "text": "SELECT count(*) FROM jobs WHERE state = $1", "calls_per_s": 20.0,
    "elapsed_s_per_s": 0.8, "rows_per_s": 20.0, "hit_blocks_per_s": 20 * BLOCKS * 0.3,
    "read_blocks_per_s": 20 * BLOCKS * 0.7, "cpu_s_per_s": 0.3,
}  # fmt: skip
READS = {("User I/O", "DataFileRead"): 0.5, ("CPU", "CPU"): 0.3, ("Commit", "WALSync"): 0.1}


def findings(changes: dict[str, float | None] | None = None, **more: Any) -> list[Finding]:
    table = {(JOBS, name): value for name, value in (EMPTY | (changes or {})).items() if value is not None}
    asked = {"postgres": table | OTHER, "statements": [DASHBOARD], "time": READS} | more
    return list(diagnose(host(**asked)).findings)


def found(changes: dict[str, float | None] | None = None, **more: Any) -> Finding | None:
    return next((one for one in findings(changes, **more) if one.cause == "table_mostly_empty"), None)


def test_a_scan_of_empty_blocks_stands_before_the_small_pool() -> None:
    first, *others = findings()
    assert (first.cause, first.severity, first.database) == ("table_mostly_empty", "critical", DB)
    assert said(first.title) == (
        "Table public.jobs takes 117 MiB for 250 rows that would fill 32.0 KiB: each scan looks at all of it"
    )
    assert said(first.remedy[0]).startswith("First: VACUUM FULL public.jobs: it reads 117 MiB, writes 32.0 KiB")
    assert {one.explained_by for one in others if one.severity != "note"} <= {"table_mostly_empty"}
    assert "14,976 blocks looked at by each scan" in " | ".join(said(item.figure) for item in first.for_)


@pytest.mark.parametrize(
    "changes",
    [
        {"pg_class.row_bytes": 2040.0, "pg_class.reltuples": 40_000.0, "pg_stat_user_tables.n_live_tup": 40_000.0},
        {"pg_class.fillfactor_pct": 10.0, "pg_class.reltuples": 60_000.0},
        {"pg_stat_user_tables.n_dead_tup": 800_000.0},
        {"pg_stat_user_tables.n_live_tup": 900_000.0},
        {"pg_class.reltuples": None},
        {"pg_class.relpages": 10.0},
        {"pg_class.row_bytes": None},
        {"pg_stat_user_tables.seq_scan": 0.0},
    ],
    ids=[
        "wide rows", "a low fillfactor", "dead rows fill it", "rows fill it", "never analysed",
        "it grew since it was vacuumed", "its rows' size is not told", "nobody reads it whole",
    ],
)  # fmt: skip
def test_what_is_large_because_it_holds_much_or_is_not_known(changes: dict[str, float | None]) -> None:
    assert found(changes) is None


def test_without_statements_the_part_of_all_looks_tells() -> None:
    finding = found(statements=())
    assert finding
    assert (finding.severity, finding.impact.share) == ("warning", None)
    much = {("bench.public.orders", "pg_statio_user_tables.heap_blks_hit"): 20 * BLOCKS * 100}
    table = {(JOBS, name): value for name, value in EMPTY.items()}
    assert found(statements=(), postgres=table | much) is None


def test_a_large_one_that_nobody_reads_is_a_note() -> None:
    large = {"pg_class.heap_bytes": 3e9, "pg_class.relpages": 3e9 / 8192, "pg_stat_user_tables.seq_scan": 0.0}
    finding = found(large)
    assert finding
    assert finding.severity == "note"


def test_a_table_that_takes_little_of_the_time_is_no_warning() -> None:
    seldom = {"pg_stat_user_tables.seq_scan": 0.02, "pg_statio_user_tables.heap_blks_hit": 0.02 * BLOCKS,
              "pg_statio_user_tables.heap_blks_read": 0.0}  # fmt: skip
    statement = DASHBOARD | {"calls_per_s": 0.02, "elapsed_s_per_s": 0.001, "hit_blocks_per_s": 0.02 * BLOCKS,
                             "read_blocks_per_s": 0.0}  # fmt: skip
    finding = found(seldom, statements=[statement])
    assert finding is None or finding.severity == "note"
