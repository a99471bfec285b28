"""Causes of memory: each fires on its own host, and on no healthy one."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from diagnose.hosts import GIB, HOST, START, UNEXPLAINED, host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.read.formats import read_file
from doctord.report.phrases import said

READING = {("User I/O", "DataFileRead"): 1.5, ("CPU", "CPU"): 0.5}
SHORT = {
    "available_bytes": GIB, "swap_in_per_s": 3000.0, "swap_out_per_s": 3000.0, "scan_per_s": 9000.0,
    "major_faults_per_s": 700.0, "pressure_some_pct": 60.0, "pressure_full_pct": 35.0,
}  # fmt: skip
# As measured on a group of version 1 that reads 640 MiB through 128 MiB of memory, on a fast disk.
SQUEEZED = {"memory.limit_bytes": 128e6, "memory.usage_bytes": 126e6, "memory.failures_per_s": 9000.0}
SMALL_PAGES = {"page_tables_bytes": 3 * GIB, "shmem_bytes": 12 * GIB}


def found(dataset: Dataset) -> dict[str, Finding]:
    return {finding.cause: finding for finding in diagnose(dataset).findings}


def figures(side: tuple[Any, ...]) -> str:
    return " | ".join(said(evidence.figure) for evidence in side)


def test_memory_short() -> None:
    finding = found(host(memory=SHORT))["memory_short"]
    assert said(finding.title) == "Memory is short: 1.0 GiB available, 3000 pages swapped in per s"
    assert finding.impact.share == pytest.approx(0.35)
    assert "pressure: some task waited for memory 60.0 % of the time" in figures(finding.for_)
    assert not finding.against


def test_who_is_in_swap_and_who_took_the_memory() -> None:
    """Half of what the sessions have of their own is in swap, while a program beside them took 6 GiB."""
    away = {"anon_bytes": GIB // 4, "swap_bytes": GIB // 4}
    whole = host(memory=SHORT, backend=away, other_processes=[{"command": "etl", "rss_bytes": GIB}, {}])
    rows = {name: whole.frame(name).to_dicts() for name in whole.tables}
    for row in rows["process"]:
        if row["command"] == "etl":
            row["rss_bytes"] += round(6 * GIB * (row["ts"] - START).total_seconds() / 20)
    finding = found(Dataset.from_rows(**rows))["memory_short"]
    told = figures(finding.for_)
    assert "1.0 GiB of the database's own memory is in swap" in told
    assert "etl (pid 5000) took 5.7 GiB more" in told
    assert "sshd" not in told


@pytest.mark.parametrize("away", [{}, {"anon_bytes": GIB, "swap_bytes": GIB // 100}])
def test_what_a_start_left_in_swap_is_not_told(away: dict[str, Any]) -> None:
    told = figures(found(host(memory=SHORT, backend=away))["memory_short"].for_)
    assert "in swap" not in told
    assert "more" not in told


def test_what_sessions_waited_for_memory_is_the_impact() -> None:
    dataset = host(memory=SHORT, time={("CPU", "CPU"): 4.0}, backend={"memory_wait_pct": 60.0})
    assert found(dataset)["memory_short"].impact.share == pytest.approx(0.6)


@pytest.mark.parametrize(
    ("swapped", "faults", "told"),
    [
        ([0.0, 0.0, 300.0, 700.0, 0.0], 90.0, True),
        ([300.0, 0.0, 700.0, 0.0, 700.0], 90.0, False),  # 20 s each
        ([0.0, 0.0, 300.0, 700.0, 0.0], 3.0, False),  # read ahead
    ],
)
def test_half_a_minute_of_swapping_is_told_where_nobody_measured_waits(
    swapped: list[float], faults: float, *, told: bool
) -> None:
    rows = [
        {"ts": number * 20_000_000, "interval_s": 20.0, "swap_in_per_s": pages / 10, "major_faults_per_s": faults}
        for number, pages in enumerate([0.0] * 60 + [pages * 10 for pages in swapped], 1)
    ]
    findings = found(Dataset.from_rows(memory=rows))
    assert ("memory_short" in findings) is told
    if told:
        title = "Memory was short for 40 s on end: 700 pages swapped in per s at worst"
        assert said(findings["memory_short"].title) == title


def test_available_memory_speaks_against_shortage() -> None:
    finding = found(host(memory=SHORT | {"available_bytes": 12 * GIB}))["memory_short"]
    assert "50.0 % of memory available" in figures(finding.against)
    assert finding.confidence == 0.6


@pytest.mark.parametrize(
    "memory",
    [
        {"available_bytes": GIB},
        {"pressure_some_pct": 20.0},
        {"swap_total_bytes": 8 * GIB, "swap_free_bytes": GIB, "swap_out_per_s": 900.0},
        dict.fromkeys(("available_bytes", "swap_in_per_s", "pressure_some_pct", "major_faults_per_s", "total_bytes")),
    ],
    ids=["nobody waits", "there is memory left", "old swap", "not measured"],
)
def test_memory_that_is_no_cause(memory: dict[str, Any]) -> None:
    assert not found(host(memory=memory))


def test_cgroup_memory_limit_squeezes() -> None:
    finding = found(host(time=READING, memory={"pressure_some_pct": 4.8}, cgroup=SQUEEZED))["cgroup_memory_limit"]
    assert said(finding.title) == "Control group /postgres squeezes the database into 122 MiB of memory"
    assert finding.impact.share == pytest.approx(0.75)
    assert "9000 failures to get memory per s" in figures(finding.for_)
    assert "83 % of the host's memory available" in figures(finding.for_)


def test_the_groups_own_pressure_comes_before_the_hosts() -> None:
    assert found(host(time=READING, memory={"pressure_some_pct": 9.0},
                             cgroup=SQUEEZED | {"memory.pressure_some_pct": 0.0})).keys() <= UNEXPLAINED  # fmt: skip


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"memory": {"pressure_some_pct": None}},
        {"memory": {"pressure_some_pct": 4.8}, "cgroup": SQUEEZED | {"memory.failures_per_s": 0.0}},
        {"memory": {"pressure_some_pct": 4.8}, "cgroup": SQUEEZED | {"memory.usage_bytes": 60e6}},
        {"memory": {"pressure_some_pct": 4.8}, "time": {("CPU", "CPU"): 2.0}},
        {"memory": {"pressure_some_pct": 4.8}, "cgroup": {"memory.usage_bytes": 126e6, "memory.failures_per_s": 9e3}},
    ],
    ids=[
        "it only fills its cache",
        "pressure unknown",
        "no failures",
        "far from the limit",
        "nobody reads",
        "no limit",
    ],
)
def test_groups_that_are_well(changes: dict[str, Any]) -> None:
    assert found(host(**{"time": READING, "cgroup": SQUEEZED} | changes)).keys() <= UNEXPLAINED


def test_a_neighbour_in_the_group_is_named_and_one_outside_is_not() -> None:
    batch = {"command": "batch", "rss_bytes": 90e6, "unit": "/postgres"}
    outside = {"command": "browser", "rss_bytes": 900e6, "unit": "session-1.scope"}
    small = {"command": "agent", "rss_bytes": 9e6, "unit": "/postgres"}
    dataset = host(time=READING, memory={"pressure_some_pct": 4.8}, cgroup=SQUEEZED,
                   other_processes=[batch, outside, small])  # fmt: skip
    finding = found(dataset)["cgroup_memory_limit"]
    assert "batch (pid 5000, user root) holds 85.8 MiB" in figures(finding.for_)
    assert "browser" not in figures(finding.for_)
    assert "agent" not in figures(finding.for_)


def test_refaults_tell_a_squeezed_group_without_pressure() -> None:
    group = SQUEEZED | {"memory.refaults_per_s": 4000.0}
    finding = found(host(time=READING, memory={"pressure_some_pct": None}, cgroup=group))["cgroup_memory_limit"]
    assert "4000 pages read again per s" in figures(finding.for_)


def test_only_what_is_read_again_is_the_limits_fault() -> None:
    group = SQUEEZED | {"memory.refaults_per_s": 1000.0}  # 4 of 8 MB/s
    dataset = host(
        time=READING, cgroup=group, backend={"read_bytes_per_s": 2.048e6}, log_writer={"read_bytes_per_s": 0}
    )
    assert found(dataset)["cgroup_memory_limit"].impact.share == pytest.approx(0.75 / 2)


def test_a_group_that_reads_large_tables_once_is_well() -> None:
    group = SQUEEZED | {"memory.refaults_per_s": 3.0}
    reading = {"read_bytes_per_s": 50e6}
    assert (
        found(host(time=READING, memory={"pressure_some_pct": 1.1}, cgroup=group, backend=reading)).keys()
        <= UNEXPLAINED
    )


def test_a_killed_process_is_a_finding_of_its_own() -> None:
    finding = found(host(cgroup=SQUEEZED | {"memory.oom_kills_per_s": 0.05}))["cgroup_memory_limit"]
    assert said(finding.title) == "Out of memory in control group /postgres: 1 process killed"
    assert finding.confidence == 0.95


def kills(per_s: float, path: str, seconds: int = 20) -> list[dict[str, Any]]:
    return [
        {"ts": START + timedelta(seconds=second + 1), "interval_s": 1.0, "host": HOST, "component": "cgroup",
         "entity": path, "name": "memory.oom_kills_per_s", "kind": "rate", "value": per_s if second == 7 else 0.0}
        for second in range(seconds)
    ]  # fmt: skip


def test_a_single_kill_counts_however_its_rate_was_rounded() -> None:
    figures = kills(0.999, "/postgres")
    finding = found(Dataset.from_rows(statistic=figures))["cgroup_memory_limit"]
    assert said(finding.title) == "Out of memory in control group /postgres: 1 process killed"


def test_kills_are_counted_over_the_time_for_which_the_group_was_seen() -> None:
    seen = [{"ts": START + timedelta(hours=1), "interval_s": 1.0, "host": HOST, "idle_pct": 50.0}]
    finding = found(Dataset.from_rows(statistic=kills(1.0, "/postgres"), cpu=seen))["cgroup_memory_limit"]
    assert "1 process killed" in said(finding.title)


def test_a_kill_elsewhere_below_a_group_that_holds_the_databases_is_not_told() -> None:
    figures = [*kills(1.0, "/kubepods.slice"), *kills(0.0, "/kubepods.slice/postgres")]
    assert "cgroup_memory_limit" not in found(Dataset.from_rows(statistic=figures))
    hit = [*kills(1.0, "/kubepods.slice"), *kills(1.0, "/kubepods.slice/postgres")]
    findings = [
        one for one in diagnose(Dataset.from_rows(statistic=hit)).findings if one.cause == "cgroup_memory_limit"
    ]
    assert [said(one.title) for one in findings] == [
        "Out of memory in control group /kubepods.slice/postgres: 1 process killed"
    ]


def test_the_limit_explains_a_saturated_device_and_short_memory() -> None:
    disk = {"reads_per_s": 900.0, "read_ms": 16.0, "device_queue": 14.0, "util_pct": 99.0}
    dataset = host(time=READING, memory={"available_bytes": GIB, "pressure_some_pct": 30.0}, cgroup=SQUEEZED, disk=disk)
    findings = found(dataset)
    assert next(iter(findings)) == "cgroup_memory_limit"
    assert findings["device_saturated"].explained_by == "cgroup_memory_limit"
    assert findings["memory_short"].explained_by == "cgroup_memory_limit"


def test_huge_pages_unused() -> None:
    finding = found(host(memory=SMALL_PAGES))["huge_pages_unused"]
    assert said(finding.title) == "Page tables take 3.0 GiB because no huge pages are used"
    assert finding.impact.share is None
    assert "24.0 MiB of page tables for each session" in said(finding.for_[1].threshold)
    assert "6144 of 2 MiB would hold the shared memory" in said(finding.for_[2].threshold)
    assert [said(item.what) for item in finding.not_measured] == ["how much time address translation takes"]


@pytest.mark.parametrize(("pct", "side"), [(15.0, "for_"), (2.0, "against")])
def test_measured_translation_is_the_impact(pct: float, side: str) -> None:
    rows = [{"cpu": 0, "mode": mode, "page_bytes": 4096, "dtlb_pct": pct} for mode in ("user", "kernel")]
    finding = found(host(memory=SMALL_PAGES, time={("CPU", "CPU"): 4.0}, extra={"translation": rows}))[
        "huge_pages_unused"
    ]
    assert f"{2 * pct:.0f} % of CPU time in address translation" in figures(getattr(finding, side))
    assert finding.impact.share == (None if side == "against" else pytest.approx(0.3, abs=0.03))


@pytest.mark.parametrize(
    "memory",
    [
        SMALL_PAGES | {"huge_pages_total": 7000, "huge_pages_free": 500},
        SMALL_PAGES | {"shmem_bytes": GIB // 2},
        SMALL_PAGES | {"page_tables_bytes": GIB // 20},
        SMALL_PAGES | {"page_tables_bytes": None},
        SMALL_PAGES | {"huge_pages_total": None},
    ],
    ids=["in use", "little shared memory", "small page tables", "tables not measured", "pool not measured"],
)
def test_pages_that_are_well(memory: dict[str, Any]) -> None:
    assert not found(host(memory=memory))


def test_a_pool_of_huge_pages_that_nobody_uses() -> None:
    memory = SMALL_PAGES | {"huge_pages_total": 1000, "huge_pages_free": 1000}
    assert "1000 huge pages, 0 in use" in figures(found(host(memory=memory))["huge_pages_unused"].for_)


def test_one_screen_of_top_with_kswapd_at_work_and_nothing_available(tmp_path: Path) -> None:
    text = """\
top - 14:02:50 up 16:38,  1 user,  load average: 378.90, 324.11, 182.45
Tasks: 488 total,   2 running, 447 sleeping,   0 stopped,  39 zombie
%Cpu(s):  4.4 us,  6.6 sy,  0.0 ni,  0.0 id, 88.3 wa,  0.2 hi,  0.3 si,  0.2 st
MiB Mem :  64000.0 total,    700.0 free,  63000.0 used,    300.0 buff/cache
MiB Swap:      0.0 total,      0.0 free,      0.0 used.    {available} avail Mem

    PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND
    160 root      20   0       0      0      0 R  {kswapd}   0.0  10:42.59 [kswapd0]
    700 postgres  20   0 2000000 900000  80000 D   3.0   1.4   0:42.59 postgres
"""
    for available, kswapd, is_short in (("400.0", "99.0", True), ("400.0", "2.0", False), ("30000.0", "99.0", False)):
        file = tmp_path / "top.txt"
        file.write_text(text.format(available=available, kswapd=kswapd))
        findings = found(Dataset.from_batches(read_file(file).batches))
        assert ("memory_short" in findings) is is_short
