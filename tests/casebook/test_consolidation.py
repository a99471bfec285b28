"""The casebook's consolidation: read by mappings, and held against service levels, on the command line."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from doctord.cli import app, load
from shared import CASEBOOK, needs_casebook

CONSOLIDATION = CASEBOOK / "consolidation"

pytestmark = [needs_casebook, pytest.mark.slow]

TIMEOUTS = """
[csv]
file = "timeouts.csv"
[[row]]
table = "timing"
run = "{case}"
duration_s = { column = "measurement_hours", factor = 3600 }
over_limit = "requests_over_60s"
"""
CASES = ("good case", "problem case", "after tuning 1", "after tuning 2")
CLASSES = '[csv]\nfile = "response_classes.csv"\n' + "".join(
    f"""
[[row]]
table = "timing"
run = "{case}"
where = {{ class = ">60 s" }}
requests = 10000
over_limit = {{ column = "{case.replace(" ", "_")}_pct", factor = 100 }}
"""
    for case in CASES
)
WORKFLOW = '[csv]\nfile = "workflow.csv"\n' + "".join(
    f"""
[[row]]
table = "timing"
run = "{{run}}"
{step}
duration_s = {{ column = "{column}", unit = "h:mm:ss" }}
"""
    for column, step in {"step_R": 'step = "R"', "step_D": 'step = "D"', "total": ""}.items()
)
LEVEL = '[[level]]\nname = "requests over a minute"\n{limit}\n'
TOO_LONG = """
[[figure]]
name = "run_s"
title = "run of the workflow"
component = "workload"
table = "timing"
where = "step IS NULL"
value = "duration_s"
each = ["run"]
unit = "s"
[[threshold]]
name = "done by the morning"
figure = "run_s"
limit = 28800
"""

load()


def run(*arguments: str | Path) -> tuple[int, str]:
    outcome = CliRunner().invoke(app, [str(argument) for argument in arguments])
    return outcome.exit_code, outcome.stdout


def held(folder: Path, name: str, mapping: str, thresholds: str) -> tuple[int, dict[str, Any]]:
    """What `doctord thresholds check` says of a file of the casebook, also after it went into a lake."""
    shutil.copy(CONSOLIDATION / name, folder / name)
    (folder / "mapping.toml").write_text(mapping)
    (folder / "own.toml").write_text(thresholds)
    check = ("thresholds", "check", "--thresholds", folder / "own.toml", "--json")
    status, said = run(*check, folder / "mapping.toml")
    assert run("read", folder / "mapping.toml", "--lake", folder / "lake")[0] == 0
    of_lake, told = run(*check, "--lake", folder / "lake", "--from", "-36500d")
    assert (of_lake, json.loads(told)["levels"]) == (status, json.loads(said)["levels"])
    return status, json.loads(said)


def test_thirty_slow_requests_in_a_day(tmp_path: Path) -> None:
    status, document = held(tmp_path, "timeouts.csv", TIMEOUTS, LEVEL.format(limit="most_per_24h = 30"))
    told = {level["subject"]: (level["is_violated"], round(level["value"], 1)) for level in document["levels"]}
    assert status == 1
    assert told == {
        "good case": (False, 13.0),
        "problem case": (True, 30.3),
        "after tuning 1": (True, 33.4),
        "after tuning 2": (False, 0.0),
    }


def test_shares_of_the_slowest_class(tmp_path: Path) -> None:
    status, document = held(tmp_path, "response_classes.csv", CLASSES, LEVEL.format(limit="most_pct = 0.2"))
    told = {level["subject"]: (level["is_violated"], level["value"]) for level in document["levels"]}
    assert status == 1
    assert told == {
        "good case": (False, 0.16),
        "problem case": (True, 0.30),
        "after tuning 1": (True, 0.53),
        "after tuning 2": (False, 0.0),
    }
    assert {level["measured_s"] for level in document["levels"]} == {None}, "the file does not say how long"


def test_a_workflow_in_hours_minutes_and_seconds(tmp_path: Path) -> None:
    status, document = held(tmp_path, "workflow.csv", WORKFLOW, TOO_LONG)
    assert (status, document["held"]) == (1, 4)
    (violation,) = document["violations"]
    assert (violation["entity"], violation["worst"]) == ("baseline", 13 * 3600)
    query = "SELECT duration_s FROM timing WHERE run = 'x86' ORDER BY duration_s"
    status, said = run("sql", "--lake", tmp_path / "lake", query, "--csv")
    assert (status, said.split()[1:]) == (0, ["9828.0", "18184.0", "28012.0"])
