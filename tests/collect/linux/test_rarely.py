"""What is looked at once a minute, against trees written by hand after the kernel's documentation.

/proc/PID/smaps, buddyinfo and meminfo after Documentation/filesystems/proc.rst, vmstat after mm/vmstat.c, pools after
Documentation/admin-guide/mm/hugetlbpage.rst, numa_maps after show_numa_map of fs/proc/task_mmu.c and numa(7), all of
Linux 6.18; none is a copy of a machine's.
"""

import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from doctord._native import RareSampler
from doctord.dataset.tables import TABLES

LAYOUTS = {name: table.layout for name, table in TABLES.items()}
STAT = "{pid} (postgres) S 1 {pid} {pid} 0 -1 4194560 900 0 0 0 1 1 0 0 20 0 1 0 100 400000 {rss} 0"
SMAPS = """\
55d0c0000000-55d0c0a00000 r-xp 00000000 fd:00 1234                       /usr/lib/postgresql/15/bin/postgres
Size:              10240 kB
KernelPageSize:        4 kB
Rss:                4096 kB
FilePmdMapped:         0 kB
VmFlags: rd ex mr mw me
7f0000000000-7f0010000000 rw-s 00000000 00:0f 77                         /anon_hugepage (deleted)
Size:             262144 kB
KernelPageSize:     2048 kB
Rss:                   0 kB
Shared_Hugetlb:     4096 kB
"""
VMSTAT = "nr_free_pages 1000\nallocstall_normal {n}\ncompact_stall {n}\nthp_fault_fallback {n}\ndrop_pagecache 1\n"
MEMINFO = "MemTotal: 1000 kB\nSReclaimable: 90 kB\nSUnreclaim: 40 kB\nHugepagesize:    2048 kB\n"
BUDDYINFO = "Node 0, zone   Normal      2      0      0      0      0      0      0      0      0      1      1 \n"


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A server (pid 70) whose data is on dm-0 above sda, and whose shared memory is in huge pages."""
    proc, sys_ = tmp_path / "proc", tmp_path / "sys"
    write(proc / "70/stat", STAT.format(pid=70, rss=5000))
    write(proc / "70/smaps", SMAPS)
    write(proc / "70/status", "Name:\tpostgres\nVmRSS:\t    8192 kB\n")
    write(proc / "70/mountinfo", f"30 1 253:0 / {tmp_path} rw - xfs /dev/mapper/vg-data rw\n")
    write(tmp_path / "data/base/5/1000", "x" * 100_000)
    (proc / "70/cwd").symlink_to(tmp_path / "data")
    (proc / "70/root").symlink_to("/")
    for number, (target, flags) in enumerate([(tmp_path / "data/base/5/1000", os.O_RDWR | os.O_DIRECT)]):
        (proc / "70/fd").mkdir()
        (proc / f"70/fd/{number}").symlink_to(target)
        write(proc / f"70/fdinfo/{number}", f"pos:\t0\nflags:\t0{flags:o}\nmnt_id:\t30\n")
    write(proc / "vmstat", VMSTAT.format(n=100))
    write(proc / "meminfo", MEMINFO)
    write(proc / "buddyinfo", BUDDYINFO)
    for file, pages in (("nr_hugepages", 150), ("free_hugepages", 20), ("resv_hugepages", 5)):
        write(sys_ / "kernel/mm/hugepages/hugepages-2048kB" / file, f"{pages}\n")
    for device, limit in (("dm-0", 128), ("sda", 512)):
        write(sys_ / f"block/{device}/queue/max_sectors_kb", f"{limit}\n")
        (sys_ / "class/block").mkdir(parents=True, exist_ok=True)
        (sys_ / "class/block" / device).symlink_to(sys_ / "block" / device)
    (sys_ / "block/sda/device").mkdir()
    (sys_ / "block/dm-0/slaves").mkdir()
    (sys_ / "block/dm-0/slaves/sda").symlink_to(sys_ / "block/sda")
    (sys_ / "dev/block").mkdir(parents=True)
    (sys_ / "dev/block/253:0").symlink_to(sys_ / "block/dm-0")
    return tmp_path


def sampler(tree: Path) -> RareSampler:
    return RareSampler("here", LAYOUTS, proc=tree / "proc", sys=tree / "sys")


def take(sampler: RareSampler) -> dict[str, list[dict[str, Any]]]:
    return {batch.table: pa.record_batch(batch).to_pylist() for batch in sampler.sample()}


def statistics(found: dict[str, list[dict[str, Any]]]) -> dict[tuple[str | None, str], float]:
    return {(row["entity"], row["name"]): row["value"] for row in found["statistic"]}


def test_pages_blocks_and_pools(tree: Path) -> None:
    told = statistics(take(sampler(tree)))
    assert told["70 shared memory", "smaps.huge_bytes"] == told["70 shared memory", "smaps.size_bytes"] == 256 << 20
    assert told["70 shared memory", "smaps.resident_bytes"] == 4 << 20
    assert told["70 file", "smaps.huge_bytes"] == 0
    assert told["node 0", "buddyinfo.free_huge_bytes"] == 6 << 20
    assert told["node 0", "buddyinfo.free_bytes"] == (6 << 20) + 8192
    assert [told["2048 kB", f"hugepages.{name}"] for name in ("total", "free", "rsvd")] == [150, 20, 5]
    assert told[None, "meminfo.SUnreclaim"] == 40 << 10


def test_counters_become_rates_from_the_second_sample_on(tree: Path) -> None:
    rare = sampler(tree)
    assert not [name for _, name in statistics(take(rare)) if name.startswith("vmstat.")]
    write(tree / "proc/vmstat", VMSTAT.format(n=200))
    told = statistics(take(rare))
    assert told[None, "vmstat.compact_stall"] > 0
    assert told[None, "vmstat.drop_pagecache"] == 0
    assert (None, "vmstat.compact_fail") not in told


def test_data_files_by_cache_and_flags(tree: Path) -> None:
    told, folder = statistics(take(sampler(tree))), str(tree / "data")
    assert told[folder, "page_cache.file_bytes"] == told[folder, "page_cache.cached_bytes"] == 100_000
    assert told[folder, "page_cache.data_bytes"] == 100_000
    assert told[f"{folder} data", "open_files.direct"] == told[f"{folder} data", "open_files.writable"] == 1


def test_the_way_to_the_disk_is_told_once(tree: Path) -> None:
    rare = sampler(tree)
    told = {row["name"]: row["value"] for row in take(rare)["setting"]}
    path = f"path.{tree / 'data'}"
    assert told[f"{path}.devices"] == "dm-0 sda"
    assert (told[f"{path}.filesystem"], told[f"{path}.mount"]) == ("xfs", str(tree))
    assert told["block.dm-0.max_sectors_kb"] == "128"
    assert "block.sda.max_sectors_kb" not in told, "the host's own sampler tells it"
    assert "setting" not in take(rare)


def test_what_may_not_be_read_is_told_once_with_how_to_grant_it(tree: Path) -> None:
    (tree / "proc/70/smaps").unlink()
    (tree / "proc/70/smaps").mkdir()  # also root cannot read it
    rare = sampler(tree)
    (event,) = take(rare)["event"]
    assert event["subject"] == "memory and data files of database servers"
    assert "CAP_SYS_PTRACE" in event["hint"]
    assert "event" not in take(rare)


NUMA_MAPS = """\
55d0c2000000 bind:1 heap anon=512 dirty=512 N1=512 kernelpagesize_kB=4
7f0000000000 interleave:0-1 file=/anon_hugepage\\040(deleted) huge dirty=128 N0=64 N1=64 kernelpagesize_kB=2048
7f0020000000 bind:1 file=/usr/lib/postgresql/15/bin/postgres mapped=10 mapmax=3 N0=10 kernelpagesize_kB=4
"""


def with_two_nodes(tree: Path) -> None:
    """The server last ran on CPU 1, of node 0; its own memory is of node 1, its shared memory of both."""
    for number, (cpus, distance) in enumerate((("0-1", "10 21"), ("2-3", "21 10"))):
        write(tree / f"sys/devices/system/node/node{number}/cpulist", f"{cpus}\n")
        write(tree / f"sys/devices/system/node/node{number}/distance", f"{distance}\n")
    write(tree / "proc/70/numa_maps", NUMA_MAPS)
    write(tree / "proc/70/comm", "postgres\n")
    write(tree / "proc/70/cmdline", "/usr/lib/postgresql/15/bin/postgres\0-D\0data\0")
    fields = "0 " * 13
    write(tree / "proc/70/stat", f"{STAT.format(pid=70, rss=5000)} {fields}1 0 0")


def test_pages_by_node_against_where_the_process_ran(tree: Path) -> None:
    with_two_nodes(tree)
    rare = sampler(tree)
    found = take(rare)
    told = statistics(found)
    assert told["70 shared memory node 1", "numa_maps.bytes"] == 128 << 20
    assert told["70 shared memory", "numa_maps.local_bytes"] == told["70 shared memory", "numa_maps.remote_bytes"]
    assert (told["70 heap", "numa_maps.local_bytes"], told["70 heap", "numa_maps.remote_bytes"]) == (0, 2 << 20)
    assert told["70 file", "numa_maps.remote_bytes"] == 0
    policies = {row["name"]: row["value"] for row in found["setting"] if row["component"] == "process"}
    assert policies == {
        "70 postgres: postmaster.numa_policy": "bind:1",
        "70 postgres: postmaster.numa_policy_shared": "interleave:0-1",
    }
    assert "setting" not in take(rare), "once"


def test_the_pages_of_a_large_process_are_not_walked_through_and_that_is_said_once(tree: Path) -> None:
    with_two_nodes(tree)
    write(tree / "proc/70/status", "Name:\tpostgres\nVmRSS:\t 9000000 kB\n")
    rare = sampler(tree)
    found = take(rare)
    assert not [name for _, name in statistics(found) if name.startswith("numa_maps.")]
    (event,) = found["event"]
    assert event["subject"] == "on which nodes the memory of large database processes lies"
    assert "event" not in take(rare)


def test_one_node_has_no_placement(tree: Path) -> None:
    with_two_nodes(tree)
    for file in ("cpulist", "distance"):
        (tree / f"sys/devices/system/node/node1/{file}").unlink()
    (tree / "sys/devices/system/node/node1").rmdir()
    assert not [name for _, name in statistics(take(sampler(tree))) if name.startswith("numa_maps.")]


def test_nothing_is_there(tmp_path: Path) -> None:
    assert take(RareSampler("here", LAYOUTS, proc=tmp_path, sys=tmp_path)) == {}


def test_this_host_has_free_blocks() -> None:
    told = statistics(take(RareSampler("here", LAYOUTS)))
    free = sum(value for (_, name), value in told.items() if name == "buddyinfo.free_bytes")
    assert 0 < free < os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
