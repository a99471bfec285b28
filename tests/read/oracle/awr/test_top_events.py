"""Lists of top events without a report around them: shares of the time, as they are printed."""

from pathlib import Path

import pytest

from doctord.analyse.time import time_model
from doctord.dataset.dataset import Dataset
from doctord.errors import UserError
from doctord.read.formats import read_file
from doctord.read.oracle.awr.top_events import NO_INTERVAL, NOT_LISTED
from latency_files import read_text
from reading import SAMPLES
from shared import CASEBOOK, sample

SAMPLE = SAMPLES / "top_events.txt"


def test_seconds_are_shares_of_the_whole() -> None:
    reading = read_file(SAMPLE)
    assert NO_INTERVAL in reading.notes
    rows = Dataset.from_batches(reading.batches).frame("wait").to_dicts()
    assert [(row["wait_class"], row["event"], row["average_active_sessions"]) for row in rows] == [
        ("User I/O", "db file sequential read", 0.5),
        ("CPU", "CPU", 0.25),
        ("Commit", "log file sync", 0.15),
        ("Other", NOT_LISTED, pytest.approx(0.1)),
    ]
    assert {row["interval_s"] for row in rows} == {None}
    assert [row["avg_wait_ms"] for row in rows] == [20.0, None, 60.0, None]


def test_hundredths_of_a_second(tmp_path: Path) -> None:
    text = SAMPLE.read_text().replace("Timed", "Wait").replace("  Time (s)", " Time (cs)")
    rows = Dataset.from_batches(read_text(tmp_path, text).batches).frame("wait").to_dicts()
    assert [row["avg_wait_ms"] for row in rows[:3]] == [pytest.approx(0.2), None, pytest.approx(0.6)]
    assert rows[0]["average_active_sessions"] == pytest.approx(0.5)


def test_a_list_without_rows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no list of events"):
        read_text(tmp_path, "\n".join(SAMPLE.read_text().splitlines()[:4]))


def test_the_casebook_s_list_says_43_per_cent() -> None:
    dataset = Dataset.from_batches(read_file(sample(CASEBOOK / "caching/statspack_top_events.txt")).batches)
    assert time_model(dataset).share("User I/O", "db file sequential read") == pytest.approx(0.4325, abs=0.0005)
