import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from doctord.chart.rows import micros, rows
from doctord.lake.writer import LakeWriter
from report import charts
from report.examples import SINCE, UNTIL

INTERVAL = ("--from", "2026-11-20T22:00:00Z", "--to", "2026-11-20T22:00:30Z")


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("lake") / "lake"
    with LakeWriter(path) as writer:
        for name, table in charts.chart().tables.items():
            writer.append(rows(name, _in_micros(table)))
    return path


def _in_micros(table: pa.Table) -> list[dict[str, object]]:
    times = ("ts", "started")
    return [
        {key: micros(value) if key in times and value else value for key, value in row.items()}
        for row in table.to_pylist()
    ]


def report(lake: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [Path(sys.executable).with_name("doctord"), "report", "--lake", lake, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_a_recorded_interval_becomes_a_file(lake: Path, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    result = report(lake, *INTERVAL, "-o", file)
    assert (result.returncode, result.stderr) == (1, "")
    verdict, name = result.stdout.splitlines()
    assert "An idle transaction" in verdict
    assert name == str(file)
    assert "Active sessions by wait class" in file.read_text()


def test_json_is_the_diagnosis(lake: Path, tmp_path: Path) -> None:
    result = report(lake, *INTERVAL, "--json", "-o", tmp_path / "report.html")
    document = json.loads(result.stdout)
    assert document["findings"][0]["cause"] == "idle_in_transaction_blocker"
    assert document["since"] == SINCE.isoformat().replace("+00:00", "Z")
    assert document["until"] == UNTIL.isoformat().replace("+00:00", "Z")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--from", "2020-01-01", "--to", "2020-01-02"), "the lake holds 2026-11-20 22:00:0"),
        (("--from", "now", "--to", "-1h"), "hint: give --from a moment before --to"),
        (("--from", "yesterday"), "'yesterday' is no point in time"),
        ((*INTERVAL, "-o", "/no/such/folder/report.html"), "/no/such/folder/report.html: No such file or directory"),
    ],
)
def test_bad_arguments_are_said(lake: Path, arguments: tuple[str, ...], message: str) -> None:
    result = report(lake, *arguments)
    assert result.returncode == 2
    assert message in result.stderr
    assert "hint: " in result.stderr


def test_no_lake_is_said(tmp_path: Path) -> None:
    result = report(tmp_path / "none")
    assert result.returncode == 2
    assert "hint: record one" in result.stderr
