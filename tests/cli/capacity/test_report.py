import csv
import io
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pytest
from typer.testing import CliRunner

from cli.capacity.test_forecast import MAPPING, THRESHOLDS
from doctord.cli import app, load
from doctord.dataset.rows import micros, rows
from doctord.lake.writer import LakeWriter
from in_process import doctord
from report import datasets
from report.examples import SINCE, UNTIL
from shared import CASEBOOK, CORPUS, sample

pytestmark = pytest.mark.slow

load()

SESSIONS = """[[threshold]]
name = "sessions"
figure = "logons_current"
limit = 95
"""
INTERVAL = ("--from", "2026-11-20T22:00:00Z", "--to", "2026-11-20T22:00:30Z")


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("lake") / "lake"
    with LakeWriter(path) as writer:
        for name, table in datasets.dataset().tables.items():
            writer.append(rows(name, _in_micros(table)))
    return path


def _in_micros(table: pa.Table) -> list[dict[str, object]]:
    times = ("ts", "started")
    return [
        {key: micros(value) if key in times and value else value for key, value in row.items()}
        for row in table.to_pylist()
    ]


def report(lake: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return doctord("report", "--lake", lake, *arguments)


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
        (("--from", "some day"), "'some day' is no point in time"),
        ((*INTERVAL, "-o", "/no/such/folder/report.html"), "/no/such/folder/report.html cannot be written"),
    ],
)
def test_bad_arguments_are_said(lake: Path, arguments: tuple[str, ...], message: str) -> None:
    result = report(lake, *arguments)
    assert result.returncode == 2
    assert message in result.stderr
    assert "hint: " in result.stderr


def test_what_nothing_was_judged_of_is_no_health(tmp_path: Path) -> None:
    settings = tmp_path / "initx.ora"
    settings.write_text("*.db_name='x'\n*.processes=300\n*.sga_target=6G\n")
    command = [Path(sys.executable).with_name("doctord"), "report", settings, "-o", tmp_path / "report.html"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "No verdict" in result.stdout
    assert result.returncode == 2


def test_no_lake_is_said(tmp_path: Path) -> None:
    result = report(tmp_path / "none")
    assert result.returncode == 2
    assert "hint: record one" in result.stderr


# What runs out.


@dataclass(frozen=True)
class Tablespaces:
    """The casebook's four days of tablespaces."""

    mapping: Path
    thresholds: Path

    def report(self, *options: str | Path) -> tuple[int, str, str]:
        given = ("--capacity", self.mapping, "--thresholds", self.thresholds, "--horizon", "30d")
        output = () if "-o" in options else ("-o", self.thresholds.with_name("report.html"))
        return self.run("report", *given, *output, *options)

    def run(self, *arguments: str | Path) -> tuple[int, str, str]:
        outcome = CliRunner().invoke(app, [str(argument) for argument in arguments])
        return outcome.exit_code, outcome.stdout, outcome.stderr


@pytest.fixture
def tablespaces(tmp_path: Path) -> Tablespaces:
    (tmp_path / "tablespace_daily.csv").write_bytes(sample(CASEBOOK / "capacity/tablespace_daily.csv").read_bytes())
    (tmp_path / "mapping.toml").write_text(MAPPING)
    (tmp_path / "thresholds.toml").write_text(THRESHOLDS)
    return Tablespaces(tmp_path / "mapping.toml", tmp_path / "thresholds.toml")


def test_capacity_of_files_is_a_page_and_a_verdict(tablespaces: Tablespaces, tmp_path: Path) -> None:
    page = tmp_path / "capacity.html"
    status, out, _ = tablespaces.report("-o", page)
    assert status == 1
    named = "space left (oracle:DW, Tablespace2), about 2008-08-08 (in 4 d)"
    assert out == f"1 limit will be violated within 30 d: {named}\n{page}\n"
    assert "Add a data file." in page.read_text()


def test_capacity_as_one_json_document(tablespaces: Tablespaces) -> None:
    status, out, _ = tablespaces.report("--json")
    document = json.loads(out)
    assert status == 1
    assert document["counts"] == {"date": 1, "perhaps": 2}
    first = document["items"][0]
    assert (first["entity"], first["date"][:10], first["begin_by"][:10]) == ("Tablespace2", "2008-08-08", "2008-08-05")


def test_capacity_as_a_table(tablespaces: Tablespaces) -> None:
    _, out, _ = tablespaces.report("--csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [row["verdict"] for row in rows] == ["date", "perhaps", "perhaps"]
    assert (rows[0]["owner"], rows[0]["lead_days"]) == ("dba", "3.0")


def test_capacity_with_a_what_if(tablespaces: Tablespaces) -> None:
    _, out, _ = tablespaces.report("--add", "20GB to Tablespace3", "--json")
    document = json.loads(out)
    assert document["changes"] == ["20GB to Tablespace3"]
    assert document["counts"]["date"] == 2


def test_capacity_of_a_lake(tablespaces: Tablespaces, tmp_path: Path) -> None:
    tablespaces.run("read", tablespaces.mapping, "--lake", tmp_path / "lake")
    status, out, _ = tablespaces.run(
        *("report", "--capacity", "--lake", tmp_path / "lake", "--thresholds", tablespaces.thresholds),
        *("--horizon", "30d", "--json", "-o", tmp_path / "report.html"),
    )
    assert status == 1
    assert json.loads(out)["items"][0]["entity"] == "Tablespace2"


def test_capacity_of_nothing_that_has_a_threshold(tablespaces: Tablespaces, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    status, out, _ = tablespaces.run("report", "--capacity", tablespaces.mapping, "-o", page)
    assert status == 2
    assert out.startswith("No verdict: nothing was measured that a threshold speaks of\n")
    assert "Measured, without a threshold" in page.read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--capacity", "--from", "-1h"), "--capacity looks at all that is kept"),
        (("--capacity", "--json", "--csv"), "either --json or --csv"),
        (("--csv",), "give --capacity as well"),
        (("--capacity", "--lake", "some"), "either files or a lake"),
        (("--capacity", "-o", "/no/such/folder/report.html"), "report.html cannot be written"),
    ],
)
def test_options_that_do_not_go_together(tablespaces: Tablespaces, options: tuple[str, ...], message: str) -> None:
    status, _, err = tablespaces.run("report", tablespaces.mapping, *options)
    assert status == 2
    assert message in err
    assert "hint: " in err


def test_capacity_of_four_nodes_in_nine_days(tmp_path: Path) -> None:
    (miner,) = sample(CORPUS / "awrminer").glob("*BIPRD*")
    limits = tmp_path / "limits.toml"
    limits.write_text(SESSIONS)
    status, out, _ = Tablespaces(miner, limits).report("--json", "--horizon", "7d")
    document = json.loads(out)
    assert (status, document["as_of"]) == (1, "2013-12-02T13:59:00Z")
    verdicts = {item["entity"]: item["verdict"] for item in document["items"]}
    assert {node: verdicts[node] for node in "124"} == dict.fromkeys("124", "violated")
    assert verdicts["3"] in {"perhaps", "not within the horizon"}
    assert document["items"][0]["violated_since"] == "2013-12-02T04:00:00Z"
    assert "redo_bytes_per_s" in {one["figure"] for one in document["without_threshold"]}
