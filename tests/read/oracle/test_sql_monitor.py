"""SQL monitor reports."""

from datetime import UTC, datetime

import pytest

from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.report.phrases import said
from reading import figure, picked, read_sample


def test_the_statement_and_where_its_time_went() -> None:
    reading = read_sample("sql_monitor.txt", zone="UTC")
    assert (reading.format, reading.skipped_lines) == ("SQL monitor reports (Oracle, text)", 0)
    columns = ("ts", "interval_s", "statement_id", "elapsed_s_per_s", "cpu_s_per_s", "hit_blocks_per_s")
    assert picked(reading, "statement", *columns) == [
        (datetime(2024, 5, 30, 10, 0, 40, tzinfo=UTC), 40.0, "7h35uxf5uhmm1", 1.0, 0.3, 6250.0)
    ]
    waits = dict(picked(reading, "wait", "event", "average_active_sessions"))
    assert waits == pytest.approx(
        {"CPU": 0.3, "db file scattered read": 0.025, "direct path read": 0.65, "(which events, is not told)": 0.025}
    )
    assert figure(reading, "sql_monitor.read bytes") == [2 * 2**30]


def test_the_text_of_the_statement_has_no_constants() -> None:
    ((text,),) = picked(read_sample("sql_monitor.txt"), "statement", "text")
    assert "2024-01-01" not in text
    assert "sum(o.total)" in text


def test_its_reads_are_the_finding() -> None:
    found = diagnose(Dataset.from_batches(read_sample("sql_monitor.txt").batches)).findings
    assert any("direct path read" in said(item.figure) for finding in found for item in finding.for_)
