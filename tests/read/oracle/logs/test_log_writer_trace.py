"""Traces of Oracle's log writer."""

from datetime import UTC, datetime
from pathlib import Path

from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.read.formats import read_file
from doctord.read.oracle.logs.log_writer_trace import ONLY_SLOW
from doctord.report.phrases import said
from reading import SAMPLES, figure, picked, read_sample

SAMPLE = "log_writer_trace.trc"


def found(file: Path) -> Finding:
    (finding,) = diagnose(Dataset.from_batches(read_file(file).batches)).findings
    return finding


def test_each_warning_is_a_reading() -> None:
    reading = read_sample(SAMPLE, zone="UTC")
    assert (reading.format, reading.skipped_lines) == ("traces of Oracle's log writer", 0)
    assert reading.notes == [ONLY_SLOW]
    assert figure(reading, "lgwr.slow_write_ms") == [600.0, 1200.0, 900.0]
    assert figure(reading, "lgwr.slow_write_bytes") == [12288.0, 614400.0, 1048576.0]
    assert picked(reading, "statistic", "ts", "db", "host", "value", name="lgwr.slow_broadcast_ms") == [
        (datetime(2024, 5, 30, 10, 0, 8, 402000, tzinfo=UTC), "oracle:shop1", "db1.example.com", 1480.0)
    ]
    assert picked(reading, "event", "kind", "subject") == [("log file sync", "polling")]


def test_a_few_are_a_note_and_quick_ones_are_not_told() -> None:
    finding = found(SAMPLES / SAMPLE)
    assert (finding.cause, finding.severity, finding.impact.share) == ("log_device_slow", "note", None)
    assert said(finding.title) == ("The log's device stalls: 3 writes took half a second or longer, 900 ms on average")
    assert [said(gap.what) for gap in finding.not_measured] == ["how many quick writes lay between"]


def test_again_and_again_is_a_warning(tmp_path: Path) -> None:
    file = tmp_path / "lgwr.trc"
    text = (SAMPLES / SAMPLE).read_text()
    file.write_text(text + "\nWarning: log write elapsed time 900ms, size 1024KB" * 7)
    assert found(file).severity == "warning"


def test_large_writes_speak_against_it(tmp_path: Path) -> None:
    file = tmp_path / "lgwr.trc"
    file.write_text((SAMPLES / SAMPLE).read_text().replace("KB", "000KB"))
    assert any("bandwidth counts" in said(item.why) for item in found(file).against)
