"""What is done where tracefs is not mounted. On any machine: each test takes it away for its own processes alone."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from doctord.collect.bpf import bpftrace

DOCTORD = Path(sys.executable).with_name("doctord")
WITHOUT_TRACEFS = [
    "unshare", "--mount", "sh", "-c",
    "umount --lazy /sys/kernel/debug/tracing /sys/kernel/debug /sys/kernel/tracing 2>/dev/null; exec \"$@\"", "sh",
]  # fmt: skip
MAY_NOT_MOUNT = [*WITHOUT_TRACEFS, "setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin"]

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
    pytest.mark.skipif(not all(map(shutil.which, ("bpftrace", "setpriv"))), reason="a tracer is missing"),
    pytest.mark.skipif(
        subprocess.run([*WITHOUT_TRACEFS, *bpftrace.OWN_MOUNT, "true"], capture_output=True, check=False).returncode
        != 0,
        reason="this machine lets nobody mount tracefs",
    ),
]


def run(place: list[str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*place, DOCTORD, *arguments], capture_output=True, text=True, timeout=180, check=False)


def traced() -> list[str]:
    """The mounts of this host by which tracing is done; other tests mount disks of their own meanwhile."""
    mounts = Path("/proc/self/mounts").read_text().splitlines()
    return [line for line in mounts if line.split()[2] in ("tracefs", "debugfs")]


def test_a_live_map_mounts_tracefs_for_itself_and_the_host_sees_nothing() -> None:
    before = traced()
    result = run(WITHOUT_TRACEFS, "map-live", "--event", "run queue", "--for", "3s", "--json")
    assert result.returncode == 0, result.stderr
    assert "bpftrace has mounted it for itself alone" in result.stderr
    assert sum(column["count"] for column in json.loads(result.stdout)["columns"]) > 0
    assert traced() == before


def test_where_it_may_not_be_mounted_maps_are_refused_with_what_to_do() -> None:
    result = run(MAY_NOT_MOUNT, "map-live", "--event", "run queue", "--for", "1s")
    assert result.returncode == 2
    assert "tracefs is not mounted, and bpftrace may not mount it for itself" in result.stderr
    assert "hint: mount -t tracefs nodev /sys/kernel/tracing" in result.stderr
