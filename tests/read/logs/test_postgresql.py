"""Server logs of PostgreSQL: figures taken from the text by other means, and all forms against each other."""

import re
from collections import Counter

import polars as pl
import pytest

from doctord.chart.chart import Chart
from doctord.read.formats import Reading, read_file
from latency_files import CORPUS, sample


def total(reading: Reading, name: str) -> float:
    """Increase over the whole log of a figure that is kept as a rate."""
    figures = Chart.from_batches(reading.batches).frame("statistic").filter(pl.col("name") == name)
    return float((figures["value"] * figures["interval_s"]).sum())


def summed(reading: Reading, table: str, column: str) -> float:
    rows = Chart.from_batches(reading.batches).frame(table)
    return float((rows[column] * rows["interval_s"]).sum())


def test_the_corpus_against_its_text() -> None:
    path = sample(CORPUS / "testbed/pg_log_3MB.txt")
    lines = path.read_text().splitlines()[:-1]  # the last is cut off
    durations = [float(found[1]) for line in lines if (found := re.search(r"duration: ([\d.]+) ms  statement", line))]
    reading = read_file(path)
    assert reading.skipped_lines == 0
    assert total(reading, "log.messages") == pytest.approx(len(lines))
    assert summed(reading, "statement", "calls_per_s") == pytest.approx(len(durations))
    assert summed(reading, "statement", "elapsed_s_per_s") == pytest.approx(sum(durations) / 1000)
    latency = Chart.from_batches(reading.batches).frame("latency")
    assert latency["count"].sum() == len(durations)
    assert latency["waited_us"].sum() == pytest.approx(sum(durations) * 1000)
    said = Counter(found[1] for line in lines if (found := re.search(r"LOG:  (connection \w+|disconnection):", line)))
    assert total(reading, "log.connections_received") == pytest.approx(said["connection received"])
    assert total(reading, "pg_stat_database.sessions") == pytest.approx(said["connection authorized"])
    assert total(reading, "log.disconnections") == pytest.approx(said["disconnection"])


def test_statements_of_the_corpus_are_those_of_pgbench() -> None:
    path = sample(CORPUS / "testbed/pg_log_3MB.txt")
    reading = read_file(path)
    rows = Chart.from_batches(reading.batches).frame("statement")
    calls = {row["text"]: round(row["calls_per_s"] * row["interval_s"]) for row in rows.iter_rows(named=True)}
    raw = path.read_text()
    assert calls["SELECT abalance FROM pgbench_accounts WHERE aid = ?;"] == raw.count("statement: SELECT abalance")
    assert calls["END;"] == raw.count("statement: END;")
    assert set(rows["database"]) == {"postgres"}
