"""Logs whose lines lie in envelopes: what is in them is read with their times."""

from datetime import UTC, datetime

import pytest

from doctord.dataset.dataset import Dataset
from reading import read_sample


@pytest.mark.parametrize("name", ["log_envelopes.docker.json", "log_envelopes.kubernetes.log"])
def test_a_log_of_a_container(name: str) -> None:
    reading = read_sample(name)
    found = Dataset.from_batches(reading.batches)
    assert (reading.skipped_lines, reading.notes) == (0, [])
    assert found.until == datetime(2026, 11, 20, 22, 44, 10, 123456, tzinfo=UTC)
    statistic = found.frame("statistic")
    assert statistic.filter(name="log.checkpoint_total")["value"].to_list() == [3.4], "a line in two pieces"
    (removed,) = statistic.filter(name="log.autovacuum_rows_removed").to_dicts()
    assert removed["value"] * removed["interval_s"] == pytest.approx(50.0)


def test_the_journal_tells_the_host() -> None:
    reading = read_sample("log_envelopes.journal.json")
    found = Dataset.from_batches(reading.batches)
    assert found.frame("event").select("host", "db", "kind").unique().rows() == [("db1", "mysql:3306", "restart")]
    aborted = found.frame("statistic").filter(name="log.aborted_connections")
    assert aborted["entity"].to_list() == ["Got timeout reading communication packets"], "bytes in place of a text"


def test_docker_compose_puts_a_name_and_no_time_before_each_line() -> None:
    reading = read_sample("log_envelopes.compose.log")
    found = Dataset.from_batches(reading.batches)
    assert found.until == datetime(2026, 11, 20, 10, 52, 28, 576737, tzinfo=UTC)
    assert found.frame("event")["text"].to_list() == ["fts0fts.cc line 3622: for 288 s"]
