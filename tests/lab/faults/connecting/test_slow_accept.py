"""What a fault says that could not be made."""

import os
from pathlib import Path

import pytest

from doctord.lab.errors import LabError
from doctord.lab.faults.connecting.slow_accept import slow_accepts


def test_a_process_that_cannot_be_held_up_is_told_with_the_words_of_strace(tmp_path: Path) -> None:
    # The number of a process that has ended may be another's by now.
    nobody = int(Path("/proc/sys/kernel/pid_max").read_text()) + 1
    with (
        pytest.raises(LabError, match=r"(?s)strace .*(No such process|not found)"),
        slow_accepts(nobody, 1000, tmp_path / "log"),
    ):
        pytest.fail("strace attached to a process that cannot be")


def test_without_strace_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(LabError, match="strace was not found"), slow_accepts(os.getpid(), 1000, tmp_path / "log"):
        pytest.fail("there is no strace")
