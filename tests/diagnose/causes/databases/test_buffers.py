"""Reads that memory could save."""

import pytest

from diagnose.hosts import GIB, host
from doctord.diagnose.engine import diagnose
from doctord.report.phrases import said

READING = {("User I/O", "DataFileRead"): 1.2, ("CPU", "CPU"): 0.8}
READS = {(None, "pg_stat_database.blks_read"): 50_000.0}
POOL = {"shared_buffers": "16384"}


def test_a_small_pool_beside_free_memory() -> None:
    finding = diagnose(host(time=READING, postgres=READS, settings=POOL)).findings[0]
    assert finding.cause == "buffer_pool_small"
    assert any("128 MiB" in said(item.why) for item in finding.for_)
    assert any("page cache serves the rest" in said(item.why) for item in finding.for_)


def test_without_free_memory_a_larger_pool_is_no_advice() -> None:
    full = {"available_bytes": 2 * GIB}
    found = diagnose(host(time=READING, postgres=READS, settings=POOL, memory=full)).findings
    assert "buffer_pool_small" not in [finding.cause for finding in found]


def test_free_memory_that_is_not_known_is_no_free_memory() -> None:
    found = diagnose(host(time=READING, postgres=READS, memory={"available_bytes": None})).findings
    assert "buffer_pool_small" not in [finding.cause for finding in found]


def test_tables_that_are_read_again_and_again_are_named() -> None:
    reads: dict[tuple[str | None, str], float] = {
        (f"shop.public.{table}", f"pg_statio_user_tables.{part}_blks_read"): blocks
        for table, blocks in (("orders", 20_000.0), ("archive", 24_000.0), ("small", 900.0))
        for part in ("heap", "idx")
    }
    space = [
        {"db": "postgresql:5432", "database": "shop", "kind": "table", "name": f"public.{table}", "used_bytes": size}
        for table, size in (("orders", 4 * GIB), ("archive", 4000 * GIB), ("small", GIB // 8))
    ]
    finding = diagnose(host(time=READING, postgres=READS | reads, settings=POOL, extra={"space": space})).findings[0]
    named = [said(item.figure) for item in finding.for_ if "pg_statio" in item.filter]
    assert named == ["shop.public.orders: 45 % of what is read"], "archive would not fit, small is hardly read"
    (why,) = (said(item.why) for item in finding.for_ if "pg_statio" in item.filter)
    assert why.startswith("as much as all of its 4.0 GiB every 13.11 s")


@pytest.mark.parametrize(
    ("reading", "blocks", "severity"),
    [(0.2, 50_000.0, "note"), (0.2, 2000.0, "warning"), (1.2, 100_000.0, "critical")],
    ids=["copies of 4 us", "reads of 100 us", "copies, most of the time"],
)
def test_copies_out_of_the_page_cache_are_a_note_until_they_are_most_of_the_time(
    reading: float, blocks: float, severity: str
) -> None:
    time = {("User I/O", "DataFileRead"): reading, ("CPU", "CPU"): 0.8}
    counted = {(None, "pg_stat_database.blks_read"): blocks}
    findings = {one.cause: one for one in diagnose(host(time=time, postgres=counted, settings=POOL)).findings}
    assert findings["buffer_pool_small"].severity == severity


def test_a_pool_of_sixteen_blocks_is_named_whatever_is_waited_for() -> None:
    reads = {("bench", "pg_stat_database.blks_read"): 26_000.0}
    commits = {("CPU", "CPU"): 0.3, ("Commit", "WALSync"): 0.2}
    finding = diagnose(host(time=commits, postgres=reads, settings={"shared_buffers": "16"})).findings[0]
    assert (finding.cause, finding.severity, finding.confidence) == ("buffer_pool_small", "warning", 0.9)
    assert said(finding.title) == "shared_buffers is 128 KiB: 26,000 blocks/s are read anew"
    assert said(finding.remedy[0]).startswith("First: shared_buffers = 128MB")
    for blocks, per_s in (("16384", 26_000.0), ("16", 20.0)):
        seen = host(
            time=commits, postgres={("bench", "pg_stat_database.blks_read"): per_s}, settings={"shared_buffers": blocks}
        )
        assert "buffer_pool_small" not in {one.cause for one in diagnose(seen).findings}
