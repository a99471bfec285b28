"""What is said of files: little, however many they are."""

import gzip
import os
from pathlib import Path

import pytest

from doctord.app import read
from doctord.app.remarks import remarks
from doctord.app.watcher import Watcher
from doctord.errors import UserError
from doctord.read.gather import FileRead
from doctord.read.source import ReadOptions

VMSTAT = """procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
 1  0      0 100000  10000 200000    0    0     1     2  100  200  5  2 93  0  0
 2  0      0 100000  10000 200000    0    0     1     2  100  200  6  2 92  0  0
"""


class Listener(Watcher):
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def note(self, text: str) -> None:
        """Keep a line."""
        self.told.append(text)


def folder(path: Path, unread: int, read_too: int = 1) -> Path:
    path.mkdir()
    for number in range(unread):
        (path / f"notes{number:02}.txt").write_text(f"nothing that anybody knows, {number}\n")
    for number in range(read_too):
        (path / f"vmstat{number:02}.txt").write_text(VMSTAT)
    return path


def told(path: Path, *, is_verbose: bool = False) -> list[str]:
    listener = Listener()
    read.dataset_of([path], ReadOptions(every_s=5.0, is_verbose=is_verbose), listener)
    return listener.told


def test_many_files_that_cannot_be_read_are_one_line(tmp_path: Path) -> None:
    path = folder(tmp_path / "many", 50)
    (line,) = (line for line in told(path) if "notes" in line)
    assert line.startswith("50 of 51 files were not read: ")
    assert line.endswith("hint: -v lists them, each with its reason")
    assert sum("notes" in line for line in told(path, is_verbose=True)) == 50


def test_a_few_are_named_each(tmp_path: Path) -> None:
    assert sum("notes" in line for line in told(folder(tmp_path / "few", 2))) == 2


def test_what_holds_for_many_files_is_said_once(tmp_path: Path) -> None:
    lines = told(folder(tmp_path / "alike", 0, 9))
    assert lines
    assert all(line.startswith("9 files: ") for line in lines)


def test_notes_that_differ_from_file_to_file_fill_no_screen() -> None:
    differing = [FileRead(f"file{number}", notes=(f"the day is {number}",)) for number in range(40)]
    lines = list(remarks(differing, is_verbose=False))
    assert len(lines) == 13
    assert lines[-1] == "28 more notes on files\nhint: -v lists them"
    assert len(list(remarks(differing, is_verbose=True))) == 40


def test_the_reason_is_the_error(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("nothing that anybody knows\n")
    listener = Listener()
    with pytest.raises(UserError, match=r"a\.txt"):
        read.dataset_of([tmp_path / "a.txt"], ReadOptions(), listener)
    assert listener.told == []


def test_a_pipe_named_as_a_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UserError, match="is a pipe"):
        read.dataset_of([tmp_path / "pipe"], ReadOptions())


def test_a_folder_without_files_is_said_to_hold_none(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no file in what was named"):
        read.dataset_of([tmp_path], ReadOptions())


def test_a_file_that_was_cut_while_it_was_packed_is_to_be_fetched_anew(tmp_path: Path) -> None:
    whole = gzip.compress(b"".join(b"%d %x\n" % (number, number * 7919) for number in range(20_000)))
    (tmp_path / "cut.gz").write_bytes(whole[:3000])
    with pytest.raises(UserError, match=r"cut\.gz cannot be unpacked") as raised:
        read.dataset_of([tmp_path / "cut.gz"], ReadOptions())
    assert raised.value.hint == "is it whole? fetch or pack it anew"
