"""System calls, as a file among others."""

from pathlib import Path

import pytest

from doctord.dataset.dataset import Dataset
from doctord.read.formats import read_file
from latency_files import read_text, reasons
from shared import CASEBOOK, CORPUS, sample

TIMED = """1700000000.000000 read(3, "a", 8) = 1 <0.250000>
1700000001.000000 read(3, 0x1, 8) = -1 EAGAIN (Resource temporarily unavailable) <0.000100>
1700000002.000000 write(1, "b", 1) = 1 <0.001000>
"""


def test_calls_are_summed(tmp_path: Path) -> None:
    dataset = Dataset.from_batches(read_text(tmp_path, TIMED).batches)
    waits = dataset.frame("wait").select("event", "waits_per_s", "avg_wait_ms", "average_active_sessions").rows()
    length_s = dataset.frame("wait")["interval_s"][0]
    assert waits[0] == ("read", pytest.approx(2 / length_s), pytest.approx(125.05), pytest.approx(0.2501 / length_s))
    assert str(dataset.until) == "2023-11-14 22:13:22+00:00"
    errors = dataset.frame("statistic").filter(name="trace.errors").select("entity", "value").rows()
    assert sorted(errors) == [("read", 1.0), ("write", 0.0)]


def test_counts_without_times(tmp_path: Path) -> None:
    reading = read_text(tmp_path, "close(3) = 0\nclose(4) = 0\n")
    dataset = Dataset.from_batches(reading.batches)
    assert dataset.frame("wait").height == 0
    assert dataset.frame("statistic").filter(name="trace.calls")["value"].to_list() == [2.0]
    assert "it does not say when it was" in reasons(reading)[0]


def test_a_summary() -> None:
    dataset = Dataset.from_batches(read_file(sample(CASEBOOK / "cpu/truss-c.txt")).batches)
    read = dataset.frame("wait").filter(event="read").row(0, named=True)
    assert read["waits_per_s"] * read["interval_s"] == pytest.approx(639326)
    assert read["average_active_sessions"] * read["interval_s"] == pytest.approx(40.7, abs=0.1)


def test_a_log_without_times_is_read_whole() -> None:
    reading = read_file(sample(CORPUS / "strace/arastoob_multithread_strace1.log"))
    assert reading.skipped_lines == 0
