"""`doctord forecast`."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from doctord.cli import app, load
from shared import CASEBOOK, sample

MAPPING = """[csv]
file = "tablespace_daily.csv"
time = "date"
[[row]]
table = "space"
kind = "tablespace"
name = "{tablespace}"
db = "oracle:DW"
used_bytes = { column = "used_mb", factor = 1048576 }
available_bytes = { column = "available_mb", factor = 1048576 }
"""
THRESHOLDS = """[[threshold]]
name = "tablespace runs out"
figure = "space_left_bytes"
limit = 0.0
worse = "below"
reason = "nothing can be inserted any more"
plan = { text = "Add a data file.", owner = "dba", lead = "3d" }
"""

load()


def run(*arguments: str | Path) -> tuple[int, str, str]:
    outcome = CliRunner().invoke(app, ["forecast", *(str(argument) for argument in arguments)])
    return outcome.exit_code, outcome.stdout, outcome.stderr


@pytest.fixture
def tablespaces(tmp_path: Path) -> list[str | Path]:
    content = sample(CASEBOOK / "capacity/tablespace_daily.csv").read_bytes()
    (tmp_path / "tablespace_daily.csv").write_bytes(content)
    (tmp_path / "mapping.toml").write_text(MAPPING)
    (tmp_path / "thresholds.toml").write_text(THRESHOLDS)
    return [tmp_path / "mapping.toml", "--thresholds", tmp_path / "thresholds.toml", "--horizon", "30d"]


def test_the_casebook_s_second_tablespace_runs_out_first(tablespaces: list[str | Path]) -> None:
    status, out, _ = run(*tablespaces, "--json")
    first, *others = json.loads(out)["items"]
    assert status == 1
    assert (first["entity"], first["verdict"]) == ("Tablespace2", "date")
    assert "2008-08-07" <= first["date"][:10] <= "2008-08-08"
    assert first["earliest"][:10] < first["date"][:10] < first["latest"][:10]
    assert {item["verdict"] for item in others} == {"not within the horizon"}


def test_it_reads_well_at_80_columns(tablespaces: list[str | Path]) -> None:
    _, out, _ = run(*tablespaces)
    assert out.startswith("1 to come, first space left (oracle:DW, Tablespace2) about 2008-08-0")
    assert max(map(len, out.splitlines())) <= 80
    assert "Plan  Add a data file. (dba)" in out


def test_what_is_added_runs_out_sooner(tablespaces: list[str | Path]) -> None:
    _, out, _ = run(*tablespaces, "--add", "20GB to Tablespace3", "--json")
    by_name = {item["entity"]: item for item in json.loads(out)["items"]}
    assert by_name["Tablespace3"]["verdict"] == "date"
    assert "with 20GB to Tablespace3" in by_name["Tablespace3"]["notes"]


def test_alerts_tell_how_long_it_is_until_then(tablespaces: list[str | Path]) -> None:
    _, out, _ = run(*tablespaces, "--alert", "prometheus")
    assert 'state="due"' in out
    assert "Tablespace2" in out


@pytest.mark.parametrize(
    ("option", "hint"),
    [
        (("--growth", "much"), "20%"),
        (("--step", "+30%"), "2027-01-01 +30%"),
        (("--add", "40GB users"), "40GiB to users"),
        (("--horizon", "soon"), "500ms"),
    ],
)
def test_what_ifs_have_a_form(tmp_path: Path, option: tuple[str, str], hint: str) -> None:
    status, _, err = run(tmp_path / "any", *option)
    assert status == 2
    assert hint in err


def test_a_threshold_on_a_percentile_is_left_out_and_that_is_said(tablespaces: list[str | Path]) -> None:
    file = Path(tablespaces[2])
    file.write_text(THRESHOLDS + THRESHOLDS.replace("runs out", "nearly out").replace("limit", 'of = "p5"\nlimit'))
    _, out, err = run(*tablespaces, "--json")
    assert {item["threshold"] for item in json.loads(out)["items"]} == {"tablespace runs out"}
    assert "percentiles are not forecast, so these thresholds are left out: tablespace nearly out" in err


def test_sizes_without_a_limit_are_told_ahead(tmp_path: Path) -> None:
    """AWR-miner's daily sizes of a database, with nothing beside them."""
    about = ["~~BEGIN-OS-INFORMATION~~", "STAT_NAME  STAT_VALUE", "---------- ----------", "DB_NAME    SHOP",
             "~~END-OS-INFORMATION~~"]  # fmt: skip
    sizes = ["~~BEGIN-SIZE-ON-DISK~~", "   SNAP_ID    SIZE_GB", "---------- ----------"]
    sizes += [f"{100 + day:10} {8192 + 2.0 * day + 0.1 * (day % 3):10.2f}" for day in range(30)]
    sizes += ["~~END-SIZE-ON-DISK~~"]
    snaps = ["~~BEGIN-MAIN-METRICS~~", "      snap      dur_m end                  inst     os_cpu",
             "---------- ---------- -------------- ---------- ----------"]  # fmt: skip
    snaps += [f"{100 + day:10}         60 26/10/{day + 1:02} 23:00          1       27.6" for day in range(30)]
    (tmp_path / "awr-hist.out").write_text("\n".join([*about, *sizes, *snaps, "~~END-MAIN-METRICS~~", ""]))
    status, out, _ = run(tmp_path / "awr-hist.out", "--horizon", "60d")
    assert status == 2, "nothing is judged"
    assert out.startswith("Nothing was measured that a threshold speaks of: 1 size without a limit")
    assert "8.06 TiB now, 8.17 TiB on 2026-12-" in out
    (size,) = json.loads(run(tmp_path / "awr-hist.out", "--json")[1])["sizes"]
    assert size["low"] < size["expected"] < size["high"]
