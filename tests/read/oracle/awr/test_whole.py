"""A report that was cut says what it does not have; one that is whole says nothing."""

from pathlib import Path

import pytest

from doctord.read.formats import Reading, read_file
from oracle_files import frame
from reading import SAMPLES

WHOLE = ["awr.10g.html", "awr.html", "awr.rac.html", "awr_text.11g.txt", "statspack.8i.lst", "statspack.9i.lst"]


def cut(tmp_path: Path, name: str, before: str) -> Reading:
    head, found, _ = (SAMPLES / name).read_text().partition(before)
    assert found
    file = tmp_path / name
    file.write_text(head)
    return read_file(file, zone="UTC")


def lacking(reading: Reading) -> list[str]:
    return frame(reading, "event").filter(kind="not measured")["subject"].to_list()


@pytest.mark.parametrize("name", WHOLE)
def test_a_whole_report_lacks_nothing(name: str) -> None:
    assert lacking(read_file(SAMPLES / name, zone="UTC")) == []


@pytest.mark.parametrize(
    ("name", "before", "what"),
    [
        ("statspack.9i.lst", "init.ora Parameters", "parameters"),
        ("awr.html", "init.ora Parameters", "parameters"),
        ("awr.html", "Report Summary", "wait events"),
        ("awr_text.11g.txt", "Time Model Statistics", "time model"),
    ],
)
def test_a_report_that_was_cut_says_what_it_lacks(tmp_path: Path, name: str, before: str, what: str) -> None:
    reading = cut(tmp_path, name, before)
    (told,) = lacking(reading)
    assert what in told.split(", ")
    assert any(note.startswith("it is cut") for note in reading.notes)


def test_what_a_release_never_had_is_not_missed(tmp_path: Path) -> None:
    (told,) = lacking(cut(tmp_path, "statspack.9i.lst", "End of Report"))
    assert not {"time model", "operating system statistics"} & set(told.split(", "))


def test_a_page_that_compares_two_periods_has_no_last_line_and_is_whole(tmp_path: Path) -> None:
    text = (SAMPLES / "awr.compare.html").read_text()
    whole, half = text.replace("End of Report\n", ""), text.partition("End of Report")[0]
    notes = []
    for name, content in (("whole.html", whole), ("half.html", half)):
        (tmp_path / name).write_text(content)
        notes.append([note for note in read_file(tmp_path / name).notes if note.startswith("it is cut")])
    assert not notes[0]
    assert notes[1]
