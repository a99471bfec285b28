"""PgBouncer's SHOW POOLS and SHOW STATS as psql prints them."""

import pytest

from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.read.postgresql.pgbouncer_show import NAME, sniff
from doctord.report.phrases import said
from reading import picked, read_sample

SAMPLE = "pgbouncer_show.txt"


def test_pools_by_database_and_user_and_means_as_in_the_log() -> None:
    reading = read_sample(SAMPLE)
    assert (reading.format, reading.skipped_lines) == (NAME, 0)
    waiting = picked(reading, "statistic", "entity", "value", name="pgbouncer.cl_waiting")
    assert waiting == [("shop dba", 0.0), ("shop web", 30.0), ("shop jobs", 30.0)]
    assert picked(reading, "statistic", "value", "unit", name="pgbouncer.maxwait", entity="shop web") == [(2.5, "s")]
    waited = picked(reading, "statistic", "entity", "value", "kind", name="pgbouncer.wait_time")
    assert waited == [("shop", 5e6, "rate")]
    assert picked(reading, "statistic", "value", "unit", name="pgbouncer.xact_time") == [(20000.0, "us")]


def test_a_pool_with_an_idle_server_has_no_queue_and_one_without_has() -> None:
    findings = diagnose(Dataset.from_batches(read_sample(SAMPLE).batches)).findings
    [finding] = [finding for finding in findings if finding.cause == "pooler_queue"]
    assert said(finding.title) == "5.0 clients wait at PgBouncer for a connection, on average"
    waiting = [said(item.figure) for item in finding.for_ if "waiting" in said(item.figure)]
    assert waiting == ["shop web: 30 clients waiting"]


@pytest.mark.parametrize("text", ["cl_active cl_waiting\n", " database | user \n----------+------\n", ""])
def test_what_is_none_of_these_tables(text: str) -> None:
    assert not sniff(text)
