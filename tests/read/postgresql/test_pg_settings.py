"""pg_settings as psql prints it."""

from pathlib import Path

import pytest

from doctord.read.formats import read_file
from reading import picked, read_sample

ALL = {
    "archive_command": "(set, not shown)",
    "checkpoint_timeout": "300",
    "fsync": "off",
    "max_connections": "50",
    "port": "5437",
    "shared_buffers": "2048",
    "work_mem": "4096",
}


@pytest.mark.parametrize("name", ["pg_settings.csv", "pg_settings.txt"])
def test_psql_prints_it_as_csv_and_as_a_table(name: str) -> None:
    reading = read_sample(name)
    assert dict(picked(reading, "setting", "name", "value")) == ALL
    assert picked(reading, "setting", "db", "component", "unit", "source", name="shared_buffers") == [
        ("postgresql:5437", "postgresql", "8kB", "configuration file")
    ]


def test_what_waits_for_a_restart_is_an_event() -> None:
    assert picked(read_sample("pg_settings.csv"), "event", "kind", "subject", "db") == [
        ("settings change", "max_connections", "postgresql:5437")
    ]


def test_csv_tells_file_and_line() -> None:
    found = picked(read_sample("pg_settings.csv"), "setting", "source_file", "line", name="work_mem")
    assert found == [(None, None)]
    [(file, line)] = picked(read_sample("pg_settings.csv"), "setting", "source_file", "line", name="port")
    assert file == "/etc/postgresql/15/main/postgresql.conf"
    assert line > 1


@pytest.mark.parametrize(
    "text",
    [
        "setting,name\n64MB,work_mem\n",
        "name|setting\nwork_mem|64MB\n(1 row)\n",
        "name\tsetting\nwork_mem\t64MB\n",
        "   name   | setting | description \n----------+---------+-------------\n work_mem | 64MB    | a       +\n"
        "          |         | b\n(1 row)\n",
    ],
)
def test_any_columns_and_delimiters(text: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text(text, encoding="utf-8")
    reading = read_file(tmp_path / "file")
    assert picked(reading, "setting", "name", "value", "db") == [("work_mem", "64MB", "postgresql")]
    assert reading.skipped_lines == 0


def test_a_value_may_hold_what_separates_columns(tmp_path: Path) -> None:
    text = "      name       | setting \n-----------------+---------\n log_line_prefix | %m|%p   \n"
    (tmp_path / "file").write_text(text, encoding="utf-8")
    assert picked(read_file(tmp_path / "file"), "setting", "value") == [("%m|%p",)]


def test_bad_rows_are_named_and_the_rest_is_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("name,setting\nfsync,on\nfsync\n4 MB,5\nwork_mem,4096\n", encoding="utf-8")
    reading = read_file(tmp_path / "file")
    assert picked(reading, "setting", "name") == [("fsync",), ("work_mem",)]
    assert [(skipped.line, skipped.reason) for skipped in reading.skipped] == [
        (3, "1 columns in place of 2"),
        (4, "no name of a setting"),
    ]
