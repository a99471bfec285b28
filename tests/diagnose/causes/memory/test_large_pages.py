"""Causes of large pages: each fires on its own host, and on no healthy one."""

from typing import Any

import pytest

from diagnose.hosts import GIB, host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

RESERVED = {"huge_pages_total": 5120, "huge_pages_free": 5120, "huge_pages_rsvd": 0}
SHARED = "900 shared memory"
SMALL: dict[tuple[str | None, str], float] = {
    (SHARED, "smaps.size_bytes"): 9.0 * GIB,
    (SHARED, "smaps.huge_bytes"): 0.0,
}
HUGE = SMALL | {(SHARED, "smaps.huge_bytes"): 9.0 * GIB}
STALLED: dict[tuple[str | None, str], float] = {
    (None, "vmstat.compact_stall"): 40.0, (None, "vmstat.compact_fail"): 30.0,
    (None, "vmstat.thp_fault_fallback"): 30.0, (None, "vmstat.thp_fault_alloc"): 10.0,
    ("node 0", "buddyinfo.free_bytes"): 4.0 * GIB, ("node 0", "buddyinfo.free_huge_bytes"): 0.1 * GIB,
    (None, "meminfo.SUnreclaim"): 2.0 * GIB,
}  # fmt: skip


def found(dataset: Dataset) -> dict[str, Finding]:
    return {finding.cause: finding for finding in diagnose(dataset).findings}


def figures(side: tuple[Any, ...]) -> str:
    return " | ".join(said(evidence.figure) for evidence in side)


def test_a_server_that_fell_back_to_small_pages() -> None:
    finding = found(host(memory=RESERVED, kernel=SMALL, settings={"huge_pages": "try"}))["huge_pages_not_used"]
    assert said(finding.title) == "10.0 GiB are reserved for huge pages, and nobody uses 10.0 GiB of it"
    assert finding.severity == "warning"
    assert not finding.against
    assert "5120 of 5120 pages of 2.0 MiB are free" in figures(finding.for_)
    assert "0 B in huge pages of 9.0 GiB shared memory (pid 900)" in figures(finding.for_)
    assert "huge_pages = try" in figures(finding.for_)


def test_a_pool_that_is_too_large_for_its_server() -> None:
    memory = {"huge_pages_total": 10240, "huge_pages_free": 5700, "huge_pages_rsvd": 100}
    finding = found(host(memory=memory, kernel=HUGE, settings={"huge_pages": "on"}))["huge_pages_not_used"]
    assert "9.0 GiB in huge pages of 9.0 GiB shared memory" in figures(finding.against)
    assert "100 pages are promised" in figures(finding.against)


def test_pools_of_another_size_are_seen_too() -> None:
    pool: dict[tuple[str | None, str], float] = {
        (size, f"hugepages.{name}"): pages
        for size in ("1048576 kB", "node 0 1048576 kB")
        for name, pages in (("total", 8.0), ("free", 8.0))
    }
    finding = found(host(kernel=pool))["huge_pages_not_used"]
    assert said(finding.title) == "8.0 GiB are reserved for huge pages, and nobody uses 8.0 GiB of it"


@pytest.mark.parametrize(
    "memory",
    [
        RESERVED | {"huge_pages_free": 2500},
        RESERVED | {"huge_pages_rsvd": 4000},
        RESERVED | {"huge_pages_total": 100, "huge_pages_free": 100},
        RESERVED | {"huge_pages_free": None},
        {},
    ],
    ids=["mostly used", "promised", "hardly any memory", "not measured", "none"],
)
def test_pools_that_are_well(memory: dict[str, Any]) -> None:
    assert "huge_pages_not_used" not in found(host(memory=memory, kernel=SMALL))


def test_small_pages_beside_a_pool_are_its_consequence() -> None:
    findings = found(host(memory=RESERVED | {"page_tables_bytes": 3 * GIB, "shmem_bytes": 12 * GIB}, kernel=SMALL))
    assert findings["huge_pages_unused"].explained_by == "huge_pages_not_used"


def test_compaction_stalls() -> None:
    finding = found(host(memory={"pressure_some_pct": 22.0}, kernel=STALLED))["compaction_stalls"]
    assert said(finding.title) == "Tasks stop 40.0 times a second to make large pages"
    assert (finding.impact.share, finding.impact.known) == (pytest.approx(0.22), "at_most")
    assert "2.5 % of 4.0 GiB free memory lies in large blocks" in figures(finding.for_)
    assert not finding.against


@pytest.mark.parametrize(("kernel_pct", "above"), [(70.0, "compaction_stalls"), (20.0, None)])
def test_stalls_explain_full_cpus_where_the_kernel_is_at_work(kernel_pct: float, above: str | None) -> None:
    cpu = {"usr_pct": 99.0 - kernel_pct, "sys_pct": kernel_pct, "idle_pct": 1.0}
    time = {("CPU", "CPU"): 1.0, ("Scheduler", "run queue"): 1.0}
    findings = found(host(memory={"pressure_some_pct": 45.0}, kernel=STALLED, cpu=cpu, time=time))
    assert findings["cpu_saturated"].explained_by == above


def test_stalls_for_want_of_memory_are_told_as_such() -> None:
    memory = {"pressure_some_pct": 22.0, "available_bytes": GIB, "swap_in_per_s": 3000.0}
    finding = found(host(memory=memory, kernel=STALLED))["compaction_stalls"]
    assert "4 % of memory available" in figures(finding.against)


@pytest.mark.parametrize(
    "changes",
    [
        {"memory": {"pressure_some_pct": 4.9}},
        {"memory": {"pressure_some_pct": None}},
        {"kernel": STALLED | {(None, "vmstat.compact_stall"): 0.9}},
        {"kernel": {}},
    ],
    ids=["nobody waits", "waiting unknown", "seldom", "not measured"],
)
def test_no_stalls(changes: dict[str, Any]) -> None:
    given = {"memory": {"pressure_some_pct": 22.0}, "kernel": STALLED} | changes
    assert "compaction_stalls" not in found(host(**given))


def test_memory_in_pieces() -> None:
    finding = found(host(kernel=STALLED | {(None, "vmstat.compact_stall"): 0.1}))["memory_fragmented"]
    assert said(finding.title) == "Free memory is in pieces: 2.5 % of 4.0 GiB lies in large blocks"
    assert finding.severity == "note"
    assert "75 % of the large pages asked for were not given" in figures(finding.for_)
    assert "0.1 compactions/s waited for" in figures(finding.against)


@pytest.mark.parametrize(
    "changes",
    [
        {("node 0", "buddyinfo.free_huge_bytes"): 0.5 * GIB},
        {("node 0", "buddyinfo.free_bytes"): 1.0 * GIB},
        {(None, "vmstat.thp_fault_fallback"): 0.5},
        {(None, "vmstat.thp_fault_fallback"): 0.0},
    ],
    ids=["large blocks", "hardly any free", "nearly all given", "nobody asked"],
)
def test_memory_in_one_piece(changes: dict[tuple[str | None, str], float]) -> None:
    assert "memory_fragmented" not in found(host(kernel=STALLED | changes))
