import csv
import io
import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest

from doctord.app.sql import refusing
from doctord.dataset.rows import rows
from doctord.dataset.tables import TABLES
from doctord.errors import UserError
from doctord.lake.query import Lake
from doctord.lake.writer import LakeWriter
from in_process import doctord

pytestmark = pytest.mark.slow


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    path = tmp_path / "it's a lake"
    with LakeWriter(path) as writer:
        for cpu in (None, 0, 1):
            writer.append(rows("cpu", [{"ts": 1_000_000, "host": "h", "cpu": cpu, "usr_pct": 12.5}]))
    return path


def sql(lake: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return doctord("sql", "--lake", lake, *arguments)


def test_json_is_one_document_with_times_in_utc(lake: Path) -> None:
    result = sql(lake, "SELECT ts, cpu, usr_pct FROM cpu ORDER BY cpu", "--json")
    assert (result.returncode, result.stderr) == (0, "")
    assert json.loads(result.stdout) == {
        "rows": [
            {"ts": "1970-01-01T00:00:01Z", "cpu": 0, "usr_pct": 12.5},
            {"ts": "1970-01-01T00:00:01Z", "cpu": 1, "usr_pct": 12.5},
            {"ts": "1970-01-01T00:00:01Z", "cpu": None, "usr_pct": 12.5},
        ],
        "problems": [],
    }


def test_csv_has_a_header(lake: Path) -> None:
    result = sql(lake, "SELECT count(*) AS n, max(cpu) AS last FROM cpu", "--csv")
    assert list(csv.reader(io.StringIO(result.stdout))) == [["n", "last"], ["3", "1"]]


def test_a_table_for_people_shows_the_rows(lake: Path) -> None:
    result = sql(lake, "SELECT host, usr_pct FROM cpu")
    assert result.returncode == 0
    assert result.stdout.count("12.5") == 3


@pytest.mark.parametrize(
    ("query", "complaint", "hint"),
    [
        ("SELECT * FROM cpus", "cpus", "tables are cpu, memory"),
        ("SELECT speed FROM cpu", "speed", "describe cpu"),
        ("SELECT FROM WHERE", "syntax error", "describe cpu"),
        ("COPY cpu TO '/tmp/out.csv'", "only one SELECT", "never changed"),
        ("SELECT 1; SELECT 2", "only one SELECT", "never changed"),
        ("SELECT * FROM read_csv('/etc/passwd')", "disabled", "show tables"),
        ("SELECT * FROM duckdb_secrets()", "disabled", "show tables"),
        ("SELECT CAST(host AS INT) FROM cpu", "Could not convert", "try_cast"),
        ("SELECT 1 // cpu FROM cpu WHERE error(host)", "h", "duckdb.org"),
        ("SELECT 9223372036854775807 + cpu FROM cpu", "Overflow", "hint"),
    ],
)
def test_errors_come_with_a_hint(lake: Path, query: str, complaint: str, hint: str) -> None:
    result = sql(lake, query)
    assert result.returncode == 2
    assert result.stdout == ""
    assert complaint in result.stderr
    assert hint in result.stderr
    assert "Traceback" not in result.stderr


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if not path.is_dir())


@pytest.mark.parametrize(
    "query",
    [
        "EXPLAIN ANALYZE COPY cpu TO 'FILE'",
        "explain analyze COPY cpu TO 'FILE'",
        "EXPLAIN /**/ ANALYZE COPY cpu TO 'FILE'",
        "EXPLAIN ANALYZE EXPLAIN ANALYZE COPY cpu TO 'FILE'",
        "WITH x AS (COPY cpu TO 'FILE') SELECT * FROM x",
        "EXPLAIN ANALYZE WITH x AS (COPY cpu TO 'FILE') SELECT * FROM x",
        "FROM query('WITH x AS (COPY cpu TO ''FILE'') SELECT * FROM x')",
        "FROM json_execute_serialized_sql(json_serialize_sql('WITH x AS (COPY cpu TO ''FILE'') SELECT * FROM x'))",
        "FROM query('FROM json_exec' || 'ute_serialized_sql(json_serialize_sql("
        "''WITH x AS (COPY cpu TO FILE) SELECT * FROM x''))')",
        "FROM enable_logging('QueryLog', storage = 'file', storage_path = 'FILE')",
        "EXPLAIN ANALYZE SET lock_configuration = false",
        "SELECT 1) TO 'FILE'; COPY (SELECT 1",
    ],
)
def test_nothing_is_written_into_the_lake_either(lake: Path, query: str) -> None:
    [sealed] = (lake / "sealed").rglob("*.parquet")
    before, rows = files(lake), sealed.read_bytes()
    for target in (sealed.with_name("new"), sealed):
        result = sql(lake, query.replace("FILE", str(target).replace("'", "''")))
        assert (result.returncode, "Traceback" in result.stderr) == (2, False), result
    assert (files(lake), sealed.read_bytes()) == (before, rows)


@pytest.mark.parametrize(
    "query",
    ["EXPLAIN SELECT * FROM cpu;", "EXPLAIN ANALYZE FROM cpu -- all", "DESCRIBE cpu", "SUMMARIZE cpu", "TABLE cpu"],
)
def test_every_way_to_read_is_open(lake: Path, query: str) -> None:
    result = sql(lake, query)
    assert (result.returncode, result.stderr) == (0, "")


def test_a_file_that_vanishes_while_it_is_read_is_named(lake: Path) -> None:
    [sealed] = (lake / "sealed").rglob("*.parquet")
    with Lake(lake).connect() as connection, _refusing_all(sealed) as refusal:
        connection.sql("FROM cpu").fetchall()
    assert sealed.name in str(refusal.value)
    assert "try again" in refusal.value.hint


def test_too_little_memory_is_no_traceback() -> None:
    limits = {"memory_limit": "20MB", "temp_directory": ""}
    with (
        duckdb.connect(config=limits) as connection,
        pytest.raises(UserError, match="Out of Memory") as refusal,
        refusing(),
    ):
        connection.sql("SELECT list(i) FROM range(10_000_000) t(i)").fetchall()
    assert "read less" in refusal.value.hint


@contextmanager
def _refusing_all(sealed: Path) -> Iterator[pytest.ExceptionInfo[UserError]]:
    sealed.unlink()
    with pytest.raises(UserError) as refusal, refusing():
        yield refusal


def test_show_tables_shows_the_tables_of_the_vocabulary_only(lake: Path) -> None:
    with LakeWriter(lake) as writer:  # rows that are not sealed yet
        writer.append(rows("memory", [{"ts": 2_000_000, "host": "h"}]))
        shown = sql(lake, "show tables", "--csv").stdout.split()
    assert shown == ["name", *sorted(TABLES)]


def test_json_has_no_word_for_infinity(lake: Path) -> None:
    result = sql(lake, "SELECT 1 / 0 AS far, [sqrt(2), 'nan'::double] AS near, {'x': -1 / 0} AS deep", "--json")
    [row] = json.loads(result.stdout, parse_constant=pytest.fail)["rows"]
    assert row == {"far": "inf", "near": [2**0.5, "nan"], "deep": {"x": "-inf"}}


def test_no_lake_says_how_to_record_one(tmp_path: Path) -> None:
    result = sql(tmp_path / "none", "SELECT 1")
    assert result.returncode == 2
    assert "doctord record" in result.stderr


def test_damage_is_named_beside_the_result(lake: Path) -> None:
    (lake / "open" / "20261120T100000Z-0000abcd.segment").write_text("#!/bin/sh\n")
    result = sql(lake, "SELECT count(*) FROM cpu", "--json")
    assert result.returncode == 0
    [problem] = json.loads(result.stdout)["problems"]
    assert "0000abcd" in problem
    assert "0000abcd" in result.stderr


def test_a_table_whose_name_is_put_together_is_read(lake: Path) -> None:
    plain = sql(lake, "--csv", "SELECT count(*) FROM cpu").stdout
    assert plain.endswith("3\n")
    assert sql(lake, "--csv", "SELECT count(*) FROM query_table('c' || 'pu')").stdout == plain
