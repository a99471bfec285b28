import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from doctord.lab.errors import LabError
from doctord.lab.host.folder import private_folder, sweep


@pytest.fixture(autouse=True)
def _temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))


def test_the_folder_is_private_and_gone_afterwards() -> None:
    with private_folder() as folder:
        assert folder.stat().st_mode & 0o077 == 0
    assert not folder.exists()


def test_a_folder_that_cannot_be_made_is_named_with_a_hint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "missing"))
    with pytest.raises(LabError, match=r"missing: No such file or directory") as raised, private_folder():
        pass
    assert "TMPDIR" in raised.value.hint


def test_a_kept_folder_stays_even_when_its_owner_is_gone(tmp_path: Path) -> None:
    with private_folder(keep=True) as folder:
        pass
    folder = folder.rename(tmp_path / f"doctord-lab-{_gone()}-kept")
    sweep()
    assert folder.exists()


def test_sweep_removes_only_folders_whose_owner_is_gone(tmp_path: Path) -> None:
    stale = tmp_path / f"doctord-lab-{_gone()}-abc"
    living = tmp_path / f"doctord-lab-{os.getpid()}-abc"
    other = tmp_path / "doctord-laboratory"
    for folder in (stale, living, other):
        folder.mkdir()
    sweep()
    assert [folder.exists() for folder in (stale, living, other)] == [False, True, True]


def test_labs_that_sweep_at_the_same_time_do_not_disturb_each_other(tmp_path: Path) -> None:
    for number in range(10):
        stale = tmp_path / f"doctord-lab-{_gone()}-{number}"
        stale.mkdir()
        for file in range(50):
            (stale / str(file)).touch()
    with ThreadPoolExecutor(4) as labs:
        list(labs.map(lambda _: sweep(), range(4)))
    assert list(tmp_path.iterdir()) == []


def _gone() -> int:
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid
