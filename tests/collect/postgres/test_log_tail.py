"""The end of a file that is still written."""

from contextlib import closing
from pathlib import Path

import pytest

from doctord.collect.postgres import log_tail
from doctord.collect.postgres.log_tail import LogTail


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
