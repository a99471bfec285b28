"""The device beneath a file, and the file's blocks on it."""

import os
from pathlib import Path

import pytest

from doctord.errors import UserError
from doctord.lab.host.folder import private_folder
from doctord.lab.host.loop_device import loop_device
from doctord.stress.beneath import beneath
from doctord.stress.target import Target, target

MIB = 1 << 20


@pytest.mark.root
def test_the_blocks_of_a_file_are_found_on_its_device() -> None:
    if os.geteuid() != 0 or not Path("/dev/loop-control").exists():
        pytest.skip("no loop devices here")
    with private_folder() as folder, loop_device(folder, 128 * MIB) as mounted:
        file = mounted.mount / "data"
        file.write_bytes(os.urandom(64 * MIB))
        with target(file, None, writes=False, overwrite=None) as place:
            below = beneath(place)
        assert below.path == f"/dev/{mounted.name}"
        assert below.size_bytes >= 8 * MIB
        with file.open("rb") as own, Path(below.path).open("rb") as raw:
            own.seek(below.in_file)
            raw.seek(below.on_device)
            assert own.read(MIB) == raw.read(MIB)
        small = mounted.mount / "small"
        small.write_bytes(os.urandom(MIB))
        with (
            target(small, None, writes=False, overwrite=None) as place,
            pytest.raises(UserError, match="in small pieces"),
        ):
            beneath(place)


def test_what_has_no_device_beneath_it(tmp_path: Path) -> None:
    for place in (
        Target("/dev/sdx", "/dev/sdx", "device", MIB, "8:0"),
        Target("share", str(tmp_path / "none"), "file", MIB, None),
    ):
        with pytest.raises(UserError, match="there is no device beneath"):
            beneath(place)
    with pytest.raises(UserError, match="it is not told where"):
        beneath(Target("data", str(tmp_path / "none"), "file", MIB, "999:999"))
