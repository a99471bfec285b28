"""What is mounted where."""

from pathlib import Path

import pytest

from doctord.collect.core.mounts import holding, mounts, without_device

MOUNTINFO = """\
21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
22 21 0:40 / /fast rw - tmpfs tmpfs rw,size=8192k
23 21 0:41 / /srv/my\\040data rw,noatime master:3 - overlay overlay rw,lowerdir=/a
24 22 0:42 / /fast rw - tmpfs over rw
25 21 0:43 / /net rw - nfs4 nas:/x rw
26 21 0:44 / /net/s3 rw - fuse.s3fs s3fs rw
nonsense
"""


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    for pid in ("self", "77"):
        (tmp_path / pid).mkdir()
    (tmp_path / "77/mountinfo").write_text(MOUNTINFO)
    (tmp_path / "filesystems").write_text("nodev\tsysfs\nnodev\ttmpfs\n\text4\n")
    return tmp_path


@pytest.mark.parametrize(
    ("folder", "source", "is_remote"),
    [
        ("/", "/dev/sda1", False),
        ("/faster/x", "/dev/sda1", False),
        ("/fast/pg", "over", False),
        ("/srv/my data/base", "overlay", False),
        ("/net/x", "nas:/x", True),
        ("/net/s3", "s3fs", True),
    ],
)
def test_the_mount_of_a_folder(proc: Path, folder: str, source: str, *, is_remote: bool) -> None:
    mount = holding(mounts(77, proc), folder)
    assert mount is not None
    assert (mount.source, mount.is_remote) == (source, is_remote)


def test_our_own_mounts_hold_the_root() -> None:
    assert holding(mounts(), "/") is not None
    assert holding([], "/") is None


def test_kinds_without_a_device(proc: Path, tmp_path: Path) -> None:
    assert without_device(proc) == {"sysfs", "tmpfs"}
    assert without_device(tmp_path / "nowhere") == frozenset()
