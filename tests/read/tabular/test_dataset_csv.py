"""CSV of a dataset's table, as it stands."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctord.errors import UserError
from doctord.read.moments import moment_of_cell
from latency_files import read_text
from reading import picked, read_sample
from sources import text_source

NINE = datetime(2012, 3, 1, 9, tzinfo=UTC)


def test_columns_of_a_table_need_no_mapping() -> None:
    reading = read_sample("dataset_csv.disk.csv")
    assert (reading.format, reading.skipped_lines, reading.notes) == ("CSV of a dataset's table", 0, [])
    assert picked(reading, "disk", "ts", "host", "device", "interval_s", "reads_per_s", "read_ms") == [
        (NINE, "db1", "sda", 10.0, 100.5, 2.5),
        (NINE + timedelta(seconds=10), "db1", "sda", 10.0, None, None),
        (NINE + timedelta(seconds=20), "db1", "sda", 10.0, 0.0, None),
    ]


@pytest.mark.parametrize("row", ["soon,sda,1", ",sda,1", "2012-03-01,sda", "2012-03-01,sda,many"])
def test_rows_that_are_none_are_skipped(tmp_path: Path, row: str) -> None:
    reading = read_text(tmp_path, f"ts,device,util_pct\n2012-03-01T09:00:00Z,sda,1\n{row}\n")
    assert [skipped.line for skipped in reading.skipped] == [3]


@pytest.mark.parametrize("heading", ["ts,host,interval_s", "ts,device,whatever", "device,util_pct", "ts,ts,util_pct"])
def test_other_columns_are_refused(tmp_path: Path, heading: str) -> None:
    with pytest.raises(UserError, match="no format that Doctor D reads"):
        read_text(tmp_path, f"{heading}\n2012-03-01T09:00:00Z,sda,1\n")


@given(st.datetimes(min_value=datetime(1974, 1, 1), max_value=datetime(2200, 1, 1)))  # noqa: DTZ001 - zoned below
def test_moments(moment: datetime) -> None:
    moment = moment.replace(microsecond=0, tzinfo=UTC)
    source, seconds = text_source(""), int(moment.timestamp())
    for cell in (moment.isoformat(), str(seconds), str(seconds * 1000), str(seconds * 1_000_000)):
        assert moment_of_cell(cell, source) == moment
    assert source.notes == []
    assert moment_of_cell(moment.replace(tzinfo=None).isoformat(), source) == moment
    assert len(source.notes) == 1
