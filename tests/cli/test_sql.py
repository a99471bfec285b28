import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from doctord.chart.rows import rows
from doctord.lake.writer import LakeWriter

pytestmark = pytest.mark.slow


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    path = tmp_path / "it's a lake"
    with LakeWriter(path) as writer:
        for cpu in (None, 0, 1):
            writer.append(rows("cpu", [{"ts": 1_000_000, "host": "h", "cpu": cpu, "usr_pct": 12.5}]))
    return path


def sql(lake: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [Path(sys.executable).with_name("doctord"), "sql", "--lake", lake, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=180, check=False)


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
        ("SELECT * FROM read_csv('/etc/passwd')", "disabled", "hint"),
    ],
)
def test_errors_come_with_a_hint(lake: Path, query: str, complaint: str, hint: str) -> None:
    result = sql(lake, query)
    assert result.returncode == 2
    assert result.stdout == ""
    assert complaint in result.stderr
    assert hint in result.stderr
    assert "Traceback" not in result.stderr


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
