from pathlib import Path

import pytest

from doctord.lab.binaries import find_binaries
from doctord.lab.errors import LabError


def test_a_chosen_folder_has_to_hold_all_programs(tmp_path: Path) -> None:
    (tmp_path / "postgres").touch()
    with pytest.raises(LabError, match=f"{tmp_path} holds no initdb and no pgbench") as raised:
        find_binaries(tmp_path)
    assert "--bin-dir" in raised.value.hint


def test_a_complete_chosen_folder_is_taken(tmp_path: Path) -> None:
    for name in ("initdb", "postgres", "pgbench"):
        (tmp_path / name).touch()
    assert find_binaries(tmp_path) == tmp_path
