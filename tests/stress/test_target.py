"""What is loaded, and what is left alone."""

import os
from pathlib import Path

import pytest

from doctord.errors import UserError
from doctord.lab.host.folder import private_folder
from doctord.lab.host.loop_device import loop_device
from doctord.stress import target as targets
from doctord.stress.target import Target, target

MIB = 1 << 20


def opened(place: Path, size_bytes: int | None = MIB, *, writes: bool = False, overwrite: Path | None = None) -> Target:
    with target(place, size_bytes, writes=writes, overwrite=overwrite) as found:
        return found


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "data"
    file.write_bytes(os.urandom(2 * MIB))
    return file


@pytest.mark.parametrize("name", [".", "not-there-yet"])
def test_a_file_of_our_own_has_no_name_and_is_gone(tmp_path: Path, name: str) -> None:
    with target(tmp_path / name, MIB, writes=True, overwrite=None) as found:
        assert (found.kind, found.size_bytes, Path(found.path).stat().st_size) == ("made", MIB, MIB)
        assert list(tmp_path.iterdir()) == []
        path = Path(found.path)
    assert not path.exists()


def test_a_file_that_is_there_is_read_and_no_more(file: Path) -> None:
    assert (opened(file).kind, opened(file).size_bytes, opened(file, None).size_bytes) == ("file", MIB, 2 * MIB)
    with pytest.raises(UserError, match="is there, and steps would write to it") as refused:
        opened(file, writes=True)
    assert f"--overwrite-this {file}" in str(refused.value.hint)


def test_what_is_overwritten_is_named_twice(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.touch()
    for wrong in (other, tmp_path / "none"):
        with pytest.raises(UserError, match="--overwrite-this"):
            opened(file, writes=True, overwrite=wrong)
    assert opened(file, writes=True, overwrite=file).kind == "file"
    with pytest.raises(UserError, match="--overwrite-this"):
        opened(tmp_path / "none", writes=True, overwrite=tmp_path / "none")


def test_what_cannot_be_loaded(tmp_path: Path, file: Path) -> None:
    with pytest.raises(UserError, match=r"holds 2\.0 MiB only"):
        opened(file, 3 * MIB)
    with pytest.raises(UserError, match="is nothing"):
        opened(file, 0)
    with pytest.raises(UserError, match="no file, folder or block device"):
        opened(Path("/dev/null"))
    with pytest.raises(UserError, match="is not there"):
        opened(tmp_path / "no" / "folder")
    dangling = tmp_path / "link"
    dangling.symlink_to(tmp_path / "nowhere")
    with pytest.raises(UserError, match="No such file"):
        opened(dangling)
    sparse = tmp_path / "sparse"
    with sparse.open("wb") as made:
        made.truncate(4 * MIB)
    with pytest.raises(UserError, match="has holes"):
        opened(sparse)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read and write anything")
def test_what_one_may_not_use(file: Path, tmp_path: Path) -> None:
    file.chmod(0o400)
    with pytest.raises(UserError, match="Permission denied"):
        opened(file, writes=True, overwrite=file)
    file.chmod(0)
    with pytest.raises(UserError, match="Permission denied"):
        opened(file)
    tmp_path.chmod(0o500)
    with pytest.raises(UserError, match="Permission denied"):
        opened(tmp_path)


def test_a_file_system_keeps_a_tenth_free(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    room = os.statvfs(tmp_path)
    with pytest.raises(UserError, match=r"would leave less than 10% of the file system"):
        opened(tmp_path, room.f_bavail * room.f_frsize)
    monkeypatch.setattr(targets, "LEAST_FREE", 1.1)
    with pytest.raises(UserError, match=r"less than 10% of the file system|less than 110% of the file system"):
        opened(file, writes=True, overwrite=file)
    assert not opened(file).has_room()


def test_what_others_have_open_is_not_overwritten(file: Path) -> None:
    with file.open("rb"), pytest.raises(UserError, match=f"is open in process {os.getpid()}"):
        opened(file, writes=True, overwrite=file)
    with file.open("rb"):
        assert opened(file).kind == "file"


@pytest.mark.root
def test_a_device_in_use_is_not_overwritten() -> None:
    if os.geteuid() != 0 or not Path("/dev/loop-control").exists():
        pytest.skip("no loop devices here")
    with private_folder() as folder, loop_device(folder, 16 * MIB) as mounted:
        device = Path("/dev", mounted.name)
        found = opened(device, None)
        assert (found.kind, found.size_bytes, found.has_room()) == ("device", 16 * MIB, True)
        assert found.counted() is not None
        assert opened(mounted.mount).device == found.device
        with pytest.raises(UserError, match="cannot be overwritten: Device or resource busy"):
            opened(device, writes=True, overwrite=device)


def test_a_device_that_is_gone_counts_nothing() -> None:
    assert targets.counted("999:999") is None
    assert targets.is_rotational("999:999") is None
    assert targets.is_rotational(None) is None
