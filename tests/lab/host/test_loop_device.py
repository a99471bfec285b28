"""A loop device for a fault: there while it is needed, and gone as if it had never been."""

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from doctord.lab.errors import UnavailableError
from doctord.lab.host import folder
from doctord.lab.host.loop_device import loop_device, slow_device, sweep

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0 or not Path("/dev/loop-control").exists(), reason="no loop devices here"),
]


def attached(image: Path) -> str:
    return subprocess.run(["losetup", "--associated", image], capture_output=True, text=True, check=True).stdout


def test_it_takes_small_requests_for_a_while_and_leaves_nothing_behind(tmp_path: Path) -> None:
    with loop_device(tmp_path, 64 << 20) as device:
        limit = Path(f"/sys/block/{device.name}/queue/max_sectors_kb")
        before = limit.read_text()
        assert device.mount.is_mount()
        assert device.name in attached(tmp_path / "loop.img")
        with device.taking(max_sectors_kb=4):
            assert limit.read_text() == "4\n"
        assert limit.read_text() == before
    assert not device.mount.is_mount()
    assert attached(tmp_path / "loop.img") == ""


@pytest.mark.skipif(
    shutil.which("nbdkit") is None or shutil.which("nbdfuse") is None, reason="nbdkit or nbdfuse is missing"
)
def test_a_slow_one_takes_its_time_and_leaves_nothing_behind(tmp_path: Path) -> None:
    with slow_device(tmp_path, 64 << 20, delay_ms=50) as device:
        began = time.monotonic()
        subprocess.run(["dd", "if=/dev/zero", f"of={device.mount}/file", "bs=8k", "count=1", "conv=fsync"], check=True)
        assert time.monotonic() - began >= 0.05
        assert "served/disk" in attached(tmp_path / "served/disk")
    assert not device.mount.is_mount()
    assert not (tmp_path / "served").is_mount()


def test_what_a_killed_lab_left_mounted_is_gone_with_the_next_sweep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    killed = subprocess.Popen(["true"])
    killed.wait()
    left, living = tmp_path / f"doctord-lab-{killed.pid}-abc", tmp_path / f"doctord-lab-{os.getpid()}-abc"
    for lab in (left, living):
        (lab / "loop").mkdir(parents=True)
        subprocess.run(["truncate", "--size=16M", lab / "loop.img"], check=True)
        subprocess.run(["mkfs.ext4", "-q", lab / "loop.img"], check=True)
        subprocess.run(["mount", "-o", "loop", lab / "loop.img", lab / "loop"], check=True)
    try:
        sweep()
        folder.sweep()
        assert not left.exists()
        assert str(left) not in subprocess.run(["losetup"], capture_output=True, text=True, check=True).stdout
        assert (living / "loop").is_mount()
    finally:
        subprocess.run(["umount", living / "loop"], check=True)


def test_without_its_programs_it_is_unavailable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UnavailableError, match=r"mkfs.ext4 was not found"), loop_device(tmp_path, 64 << 20):
        pass
