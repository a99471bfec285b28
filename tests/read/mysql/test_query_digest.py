"""Reports of pt-query-digest."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.read.formats import read_file
from doctord.report.phrases import said
from reading import SAMPLES, figure, picked, read_sample

SAMPLE = "query_digest.txt"
SCAN, COMMIT = "8155B89FFD74A9D523D19AC409FD97AF", "FFFCA4D67EA0A788813031B8BBC3B329"


def test_statements_with_calls_time_and_rows() -> None:
    reading = read_sample(SAMPLE, zone="UTC")
    assert (reading.format, reading.skipped_lines) == ("pt-query-digest", 0)
    at = datetime(2024, 5, 30, 11, 31, 40, tzinfo=UTC)
    columns = ("ts", "interval_s", "host", "statement_id", "calls_per_s", "elapsed_s_per_s", "rows_per_s")
    assert picked(reading, "statement", *columns) == [
        (at, 100.0, "db1", SCAN, 4.0, 0.6, 4.0),
        (at, 100.0, "db1", COMMIT, 50.0, 0.25, 0.0),
        (at, 100.0, "db1", "MISC", 71.1, 0.05, None),
    ]
    assert figure(reading, "slow_log.rows_examined", entity=SCAN) == [pytest.approx(19.53 * 2**20 / 100)]
    assert figure(reading, "slow_log.lock_time", entity=SCAN) == [pytest.approx(0.00143)]


def test_texts_have_no_constants_and_end_before_the_next_statement() -> None:
    texts = dict(picked(read_sample(SAMPLE), "statement", "statement_id", "text"))
    assert texts == {
        SCAN: "SELECT * FROM `conditions` WHERE `device` = ? ORDER BY `timestamp` DESC LIMIT ?",
        COMMIT: "COMMIT",
        "MISC": None,
    }


def test_a_statement_that_examines_much_for_one_row_lacks_an_index() -> None:
    found = diagnose(Dataset.from_batches(read_sample(SAMPLE).batches)).findings
    (finding,) = [each for each in found if each.cause == "missing_index"]
    assert said(finding.title).startswith("A statement examines 51,197 rows for each one that it returns")


def test_a_statement_that_returns_what_it_reads_lacks_none(tmp_path: Path) -> None:
    file = tmp_path / "digest.txt"
    file.write_text((SAMPLES / SAMPLE).read_text().replace("# Rows sent      3     400", "# Rows sent      3  10.00M"))
    found = diagnose(Dataset.from_batches(read_file(file).batches)).findings
    assert not [each for each in found if each.cause == "missing_index"]
