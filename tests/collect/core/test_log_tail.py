"""The end of a file that is still written."""

from contextlib import closing
from pathlib import Path

import pytest

from doctord.collect.core import log_tail
from doctord.collect.core.log_tail import LogTail


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "log"
    file.write_text("before\n")
    return file


def test_a_line_that_is_not_ended_waits(path: Path) -> None:
    with closing(LogTail(path)) as tail, path.open("a") as out:
        for written, lines in (("one\ntw", b"one\n"), ("", b""), ("o", b""), ("\nthree\n", b"two\nthree\n")):
            out.write(written)
            out.flush()
            assert tail.appended() == (lines, 1.0, len(written))


def test_what_was_truncated_is_read_from_its_begin(path: Path) -> None:
    with closing(LogTail(path)) as tail:
        path.write_text("new\n")
        assert tail.appended() == (b"new\n", 1.0, 4)


def test_it_goes_on_in_the_files_that_follow(tmp_path: Path) -> None:
    file = {name: tmp_path / f"{name}.log" for name in ("friday", "monday", "new", "newer", "sunday")}
    file["friday"].write_text("of last week\n")
    file["monday"].write_text("of last week\n")
    file["sunday"].write_text("before\n")
    (tmp_path / "other.csv").write_text("")
    with closing(LogTail(file["sunday"])) as tail:
        with file["sunday"].open("a") as last:
            last.write("last ")
        file["new"].write_text("line\nmeanwhile\n")
        with file["monday"].open("a") as again:
            again.write("now\n")
        (tmp_path / "other.csv").write_text("other\n")
        tail.follow(file["monday"])
        assert tail.appended().lines == b"last line\nmeanwhile\nnow\n"
        file["newer"].write_text("next\n")
        tail.follow(file["newer"])
        assert tail.appended() == (b"next\n", 1.0, 5)
        file["friday"].write_text("1\n")
        tail.follow(file["friday"])
        assert tail.appended().lines == b"1\n"
        assert len(tail._files) == 1


def test_it_goes_on_in_the_file_that_has_its_name_now(path: Path) -> None:
    with closing(LogTail(path)) as tail:
        with path.open("a") as out:
            out.write("last\n")
        path.rename(path.with_suffix(".1"))
        path.write_text("first\n")
        tail.go_on(path)
        assert tail.appended() == (b"last\nfirst\n", 1.0, 11)


def test_of_very_much_the_newest_whole_lines(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_tail, "AT_MOST_BYTES", 100)
    with closing(LogTail(path)) as tail, path.open("a") as out:
        out.write("0123456789\n" * 100)
        out.flush()
        lines, part, size = tail.appended()
        assert size == 1100
        assert set(lines.splitlines()) == {b"0123456789"}
        assert part == pytest.approx(len(lines) / 1100)
        out.write("next\n")
        out.flush()
        assert tail.appended() == (b"next\n", 1.0, 5)
