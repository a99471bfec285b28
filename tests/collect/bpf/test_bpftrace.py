"""What is done where tracefs is not mounted. On any machine: each test takes it away for its own processes alone."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
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
    pytest.mark.skipif(not all(map(shutil.which, ("bpftrace", "strace", "setpriv"))), reason="a tracer is missing"),
    pytest.mark.skipif(
        subprocess.run([*WITHOUT_TRACEFS, *bpftrace.OWN_MOUNT, "true"], capture_output=True, check=False).returncode
        != 0,
        reason="this machine lets nobody mount tracefs",
    ),
]


@pytest.fixture
def busy() -> Iterator[int]:
    """A process that calls the kernel a hundred times a second."""
    program = "import os, time\nwhile True: os.stat('/'); time.sleep(0.01)"
    with subprocess.Popen([sys.executable, "-c", program]) as process:
        yield process.pid
        process.kill()


def run(place: list[str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*place, DOCTORD, *arguments], capture_output=True, text=True, timeout=180, check=False)


def test_bpftrace_mounts_tracefs_for_itself_and_the_host_sees_nothing(busy: int) -> None:
    before = Path("/proc/self/mounts").read_text()
    result = run(WITHOUT_TRACEFS, "trace", "--pid", str(busy), "--for", "1s", "--json")
    assert result.returncode in {0, 1}, result.stderr
    live = json.loads(result.stdout)["live"]
    assert live["how"] == "bpftrace"
    assert live["note"] == "tracefs is not mounted here: bpftrace has mounted it for itself alone"
    assert Path("/proc/self/mounts").read_text() == before


def test_a_live_map_says_that_tracefs_was_mounted_for_it() -> None:
    result = run(WITHOUT_TRACEFS, "map-live", "--event", "run queue", "--for", "3s", "--json")
    assert result.returncode == 0, result.stderr
    assert "bpftrace has mounted it for itself alone" in result.stderr
    assert sum(column["count"] for column in json.loads(result.stdout)["columns"]) > 0


def test_where_it_may_not_be_mounted_a_process_is_traced_with_strace(busy: int) -> None:
    result = run(MAY_NOT_MOUNT, "trace", "--pid", str(busy), "--for", "1s", "--json")
    assert result.returncode in {0, 1}, result.stderr
    live = json.loads(result.stdout)["live"]
    assert live["how"] == "strace"
    assert live["note"].startswith("tracefs is not mounted, and bpftrace may not mount it for itself (unshare: ")
    assert live["note"].endswith(": strace was taken instead")


def test_where_it_may_not_be_mounted_bpftrace_and_maps_are_refused_with_what_to_do(busy: int) -> None:
    for command in (["trace", "--pid", str(busy), "--how", "bpf"], ["map-live", "--event", "run queue", "--for", "1s"]):
        result = run(MAY_NOT_MOUNT, *command)
        assert result.returncode == 2
        assert "tracefs is not mounted, and bpftrace may not mount it for itself" in result.stderr
        assert "hint: mount -t tracefs nodev /sys/kernel/tracing" in result.stderr


def test_a_bpftrace_that_does_not_start_leaves_strace(busy: int, tmp_path: Path) -> None:
    """As under a kernel that is locked down: it is installed, and refused."""
    (tmp_path / "bpftrace").write_text("#!/bin/sh\necho 'ERROR: Operation not permitted' >&2; exit 1\n")
    (tmp_path / "bpftrace").chmod(0o755)
    place = ["env", f"PATH={tmp_path}:{os.environ['PATH']}"]
    live = json.loads(run(place, "trace", "--pid", str(busy), "--for", "1s", "--json").stdout)["live"]
    assert live["how"] == "strace"
    assert live["note"] == (
        "bpftrace cannot trace system calls here: ERROR: Operation not permitted: strace was taken instead"
    )
