"""What becomes of files that are read."""

from pathlib import Path

from doctord.app.read import Kept
from doctord.read.gather import FileRead

GOOD, BAD = FileRead("good"), FileRead("bad", refusal=("bad: no format", ""))


def kept(*files: FileRead) -> Kept:
    made = Kept()
    for file in files:
        made.take(file)
    return made


def test_all_is_there_where_something_was_read_and_all_that_was_named() -> None:
    assert kept(GOOD).has_all([Path("good")])
    assert kept(GOOD, BAD).has_all([Path("folder")])  # that one file of a folder is none hinders nothing
    assert not kept(GOOD, BAD).has_all([Path("good"), Path("bad")])
    assert not kept(BAD).has_all([Path("folder")])
    assert not kept().has_all([Path("folder")])


def test_where_no_lake_is_named_no_row_is_kept() -> None:
    made = kept(GOOD)
    made.end()
    assert made.rows == {}
