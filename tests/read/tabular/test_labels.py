"""What ran when, written down by a tester."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from doctord.read.formats import read_file
from doctord.read.tabular.labels import read
from latency_files import read_text
from reading import picked, read_sample
from shared import CORPUS, sample
from sources import text_source


def test_labels() -> None:
    reading = read_sample("labels.fio.txt")
    assert (reading.format, reading.skipped_lines, reading.notes) == ("labels", 0, [])
    begin = datetime(2026, 11, 20, 22, 58, 38, tzinfo=UTC)
    assert picked(reading, "event", "ts", "kind", "text", subject="fio") == [
        (begin, "label", "start"),
        (begin + timedelta(seconds=18), "label", "end"),
    ]
    hogs = picked(reading, "event", "ts", "text", subject="cpu hogs")
    assert hogs == [(datetime(2026, 11, 20, 21, 59, tzinfo=UTC), "start")]


def test_the_corpus() -> None:
    reading = read_file(sample(CORPUS / "testbed/EVENTS.txt"))
    assert reading.skipped_lines == 0
    assert [subject for (subject,) in picked(reading, "event", "subject")] == [
        None,
        "fio",
        "fio",
        "cpu hogs",
        "cpu hogs",
    ]


def test_a_time_without_a_zone_is_said_and_a_foreign_line_skipped(tmp_path: Path) -> None:
    reading = read_text(tmp_path, "a start 2026-11-20T22:58:18\n" * 3 + "and then\n")
    assert len(reading.notes) == 1
    assert [skipped.line for skipped in reading.skipped] == [4]


@given(st.datetimes(timezones=st.just(UTC)), st.from_regex(r"[a-z]+( [a-z]+)*", fullmatch=True))
def test_what_is_written_is_read(moment: datetime, name: str) -> None:
    moment = max(moment, datetime(1971, 1, 1, tzinfo=UTC)).replace(microsecond=0)
    source = text_source(f"{name} start {moment.isoformat()}\n")
    assert [len(batch) for batch in read(source)] == [1]
    assert source.skipped_lines == 0
