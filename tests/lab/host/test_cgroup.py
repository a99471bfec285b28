import os
import subprocess
from pathlib import Path

import pytest

from doctord.lab.errors import UnavailableError
from doctord.lab.host.cgroup import Group, control_group, device_of, sweep


def test_limits_of_version_2_are_written_as_the_kernel_reads_them(tmp_path: Path) -> None:
    group = Group(tmp_path, 2)
    group.limit_io("253:0", reads_per_s=60, writes_per_s=30)
    group.limit_memory(128 << 20)
    group.limit_cpus(0.4)
    assert (tmp_path / "io.max").read_text() == "253:0 riops=60 wiops=30"
    assert (tmp_path / "cpu.max").read_text() == "40000 100000"
    assert (tmp_path / "memory.max").read_text() == "134217728"
    group.free_io("253:0")
    group.free_memory()
    assert (tmp_path / "io.max").read_text() == "253:0 riops=max wiops=max"
    assert (tmp_path / "memory.max").read_text() == "max"


def test_limits_of_version_1_are_written_as_the_kernel_reads_them(tmp_path: Path) -> None:
    group = Group(tmp_path, 1)
    group.limit_io("253:0", reads_per_s=60, writes_per_s=30)
    assert (tmp_path / "blkio.throttle.read_iops_device").read_text() == "253:0 60"
    assert (tmp_path / "blkio.throttle.write_iops_device").read_text() == "253:0 30"
    group.free_memory()
    group.limit_cpus(1.5)
    assert (tmp_path / "memory.limit_in_bytes").read_text() == "-1"
    assert (tmp_path / "cpu.cfs_period_us").read_text() == "100000"
    assert (tmp_path / "cpu.cfs_quota_us").read_text() == "150000"


def test_a_file_system_without_a_device_is_named() -> None:
    with pytest.raises(UnavailableError, match="/proc is on a file system without a block device"):
        device_of(Path("/proc"))


@pytest.mark.root
def test_a_command_starts_inside_its_group_which_is_gone_afterwards() -> None:
    if os.geteuid() != 0:
        pytest.skip("control groups need root")
    with control_group("memory") as group:
        command = [*group.entrance, "cat", "/proc/self/cgroup"]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert group.folder.name in printed
        group.limit_memory(64 << 20)
        group.free_memory()
    assert not group.folder.exists()


@pytest.mark.root
def test_sweep_removes_only_groups_whose_owner_is_gone() -> None:
    if os.geteuid() != 0:
        pytest.skip("control groups need root")
    with control_group("memory") as group:
        stale = group.folder.with_name(f"doctord-lab-{_gone()}")
        stale.mkdir()
        sweep()
        assert not stale.exists()
        assert group.folder.exists()


def _gone() -> int:
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid
