"""What the system grants a server's processes: by a recorded tree, and of a real server."""

import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from doctord.collect.postgres.statistics.limits import Limits
from postgres_samples import link_to, rows_of
from servers import PostgresServer

LIMITS = """\
Limit                     Soft Limit           Hard Limit           Units
Max processes             4000                 5000                 processes
Max open files            1024                 524288               files
Max address space         unlimited            unlimited            bytes
Max file size             unlimited            unlimited            bytes
"""


def tree(folder: Path, cgroup: str, **pids: str) -> Limits:
    process = folder / "proc/77"
    process.mkdir(parents=True)
    (process / "limits").write_text(LIMITS)
    (process / "cgroup").write_text(cgroup)
    (folder / "proc/sys/fs").mkdir(parents=True)
    (folder / "proc/sys/fs/file-nr").write_text("1600\t0\t9000\n")
    for path, told in pids.items():
        group = folder / "cgroup" / path.replace("__", "/")
        group.mkdir(parents=True, exist_ok=True)
        limit, _, current = told.partition(" ")
        (group / "pids.max").write_text(f"{limit}\n")
        (group / "pids.current").write_text(f"{current}\n")
    return Limits(folder / "proc", folder / "cgroup")


def test_limits_of_a_process_and_of_the_host(tmp_path: Path) -> None:
    told = {name: (value, unit) for name, value, unit in tree(tmp_path, "0::/\n").of(77)}
    assert told == {
        "limits.open_files": (1024.0, "files"),
        "limits.processes": (4000.0, "processes"),
        "limits.host_files": (9000.0, "files"),
        "limits.host_files_used": (1600.0, "files"),
    }


@pytest.mark.parametrize(
    ("cgroup", "root"), [("0::/a/b\n", ""), ("9:pids:/a/b\n4:cpu:/other\n", "pids__")], ids=["version 2", "version 1"]
)
def test_the_nearest_limit_of_tasks_may_be_one_above(tmp_path: Path, cgroup: str, root: str) -> None:
    limits = tree(tmp_path, cgroup, **{f"{root}a__b": "max 30", f"{root}a": "100 95", f"{root}a__c": "40 40"})
    told = {name: value for name, value, _ in limits.of(77)}
    assert (told["limits.tasks"], told["limits.tasks_used"]) == (100.0, 95.0)


def test_a_limit_of_memory_is_told_with_what_the_largest_process_has(tmp_path: Path) -> None:
    limits = tree(tmp_path, "0::/\n")
    proc = tmp_path / "proc"
    (proc / "77/limits").write_text(
        LIMITS.replace("unlimited            unlimited", "734003200            unlimited", 1)
    )
    (proc / "77/task/77").mkdir(parents=True)
    (proc / "77/task/77/children").write_text("78 79 ")
    for pid, peak in ((77, 300), (78, 650)):
        (proc / str(pid)).mkdir(exist_ok=True)
        (proc / f"{pid}/status").write_text(f"Name:\tpostgres\nVmPeak:\t{peak * 1024} kB\nVmSize:\t    10 kB\n")
    (proc / "meminfo").write_text("CommitLimit:    1024 kB\nCommitted_AS:   512 kB\n")
    told = {name: (value, unit) for name, value, unit in limits.of(77)}
    assert told["limits.address_space_bytes"] == (734003200.0, "bytes")
    assert told["limits.address_space_used_bytes"] == (650 * 2**20, "bytes")
    assert told["limits.commit_limit_bytes"] == (2**20, "bytes")
    assert told["limits.committed_bytes"] == (2**19, "bytes")


def test_how_large_a_file_may_grow(tmp_path: Path) -> None:
    limits = tree(tmp_path, "0::/\n")
    line = "Max file size             {0}             {0}             bytes"
    (tmp_path / "proc/77/limits").write_text(line.format("33554432") + "\n" + LIMITS)
    assert ("limits.file_size_bytes", 33554432.0, "bytes") in [*limits.of(77)]


def test_a_process_that_has_ended_tells_nothing(tmp_path: Path) -> None:
    assert [name for name, _, _ in Limits(tmp_path, tmp_path).of(4711)] == []


@pytest.mark.server
def test_limits_of_a_real_server(postgres_server: Callable[..., PostgresServer]) -> None:
    with closing(link_to(postgres_server().dsn())) as link:
        link.open()
        told = {row["name"]: row["value"] for row in rows_of("statistic", Limits().read(link))}
    assert told["limits.open_files"] >= 64
    assert 0 < told["limits.host_files_used"] <= told["limits.host_files"]
    if os.geteuid() == 0:
        assert 3 < told["limits.open_files_used"] < told["limits.open_files"]
