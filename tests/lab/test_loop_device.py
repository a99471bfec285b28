"""A loop device for a fault: there while it is needed, and gone as if it had never been."""

import subprocess
from pathlib import Path

import pytest

from doctord.lab.errors import UnavailableError
from doctord.lab.loop_device import loop_device

pytestmark = pytest.mark.root


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


def test_without_its_programs_it_is_unavailable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UnavailableError, match=r"mkfs.ext4 was not found"), loop_device(tmp_path, 64 << 20):
        pass
