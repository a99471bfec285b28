"""The casebook's and the corpus' histories: the profile says what their keepers concluded."""

import json
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from doctord.analyse.capacity.profile import Profile, profile
from doctord.analyse.capacity.series import series_of
from doctord.analyse.capacity.thresholds.threshold import Threshold
from doctord.app.read import dataset_of
from doctord.cli import app, load
from doctord.dataset.figure import own_figures
from doctord.read.source import ReadOptions
from shared import CASEBOOK, CORPUS, needs_casebook, needs_corpus

CAPACITY = CASEBOOK / "capacity"

pytestmark = [needs_casebook, needs_corpus, pytest.mark.slow]

ROW = """
[[row]]
table = "wait"
db = "oracle:DW"
event = "{{event}}"
wait_class = "{{class}}"
ago_s = {ago_s}
avg_wait_ms = {{ column = "{column}", factor = 10 }}
"""
DAYS_AGO = {"d90_cs": 90, "d30_cs": 30, "d7_cs": 7, "today_cs": 0}
DAILY = """
[csv]
file = "event_daily.csv"
time = "date"
interval_s = 86400

[[row]]
table = "wait"
db = "oracle:DW"
event = "{event}"
wait_class = "{wait_class}"
waits_per_s = { column = "total_waits", factor = 0.000011574074074074 }
average_active_sessions = { column = "time_waited_cs", factor = 0.00000011574074074074 }
avg_wait_ms = { column = "average_wait_cs", factor = 10 }
"""

load()


def mapped(folder: Path, name: str, mapping: str) -> Path:
    shutil.copy(CAPACITY / name, folder / name)
    (folder / "mapping.toml").write_text(mapping)
    return folder / "mapping.toml"


def warehouse(folder: Path) -> Profile:
    """The profile of waits of the data warehouse, held against its thresholds."""
    rows = "".join(ROW.format(ago_s=days * 86400, column=column) for column, days in DAYS_AGO.items())
    dataset = dataset_of([mapped(folder, "dw_profile.csv", f'[csv]\nfile = "dw_profile.csv"\n{rows}')], ReadOptions())
    lines = [line.split(",") for line in (CAPACITY / "dw_profile.csv").read_text().splitlines()[1:]]
    thresholds = [Threshold(line[0], "wait_ms", 10 * float(line[-1].strip("<")), entity=line[0]) for line in lines]
    assert dataset.until is not None
    return profile(series_of(dataset, own_figures()), own_figures(), dataset.until, thresholds=thresholds)


def test_the_eight_violations_of_the_warehouse(tmp_path: Path) -> None:
    violated = {line.labels.entity: line.today for line in warehouse(tmp_path).violations}
    assert violated == pytest.approx(
        {
            "direct path read temp": 16.0,
            "log file sync": 10.0,
            "log file parallel write": 2.0,
            "direct path write temp": 17.0,
            "db file parallel write": 1.5,
            "control file parallel write": 10.0,
            "os thread startup": 180.0,
            "db file sequential read": 6.0,
        }
    )


def test_not_present_before_is_not_zero(tmp_path: Path) -> None:
    (server,) = warehouse(tmp_path).servers
    (line,) = (line for line in server.lines if line.labels.entity == "log file sync")
    assert line.values == {90: None, 30: None, 7: 5.0, 0: 10.0}
    assert [line.change_pct(days) for days in (90, 30, 7)] == [None, None, 100.0]


def told(*arguments: str | Path) -> tuple[int, dict[str, Any]]:
    outcome = CliRunner().invoke(app, ["profile", *(str(argument) for argument in arguments), "--json"])
    return outcome.exit_code, json.loads(outcome.stdout)


def test_an_average_that_is_not_time_by_waits_is_said_and_not_used(tmp_path: Path) -> None:
    status, document = told(mapped(tmp_path, "event_daily.csv", DAILY))
    assert status == 1
    (found,) = document["contradictions"]
    assert (found["entity"], found["rows"]) == ("db file scattered read", 4)
    assert (found["said_ms"], found["reckoned_ms"]) == pytest.approx((2.3, 26.1), abs=0.05)
    (server,) = document["servers"]
    assert {figure["verdict"] for figure in server["figures"]} == {"contradicted"}
    assert server["top_waits"] == []


@cache
def four_nodes(*options: str) -> dict[str, Any]:
    status, document = told(next((CORPUS / "awrminer").glob("*BIPRD*")), *options)
    assert status == 0
    return dict(document["servers"][0])


def test_nine_days_of_four_nodes() -> None:
    server = four_nodes()
    commits = {line["entity"]: line for line in server["figures"] if line["figure"] == "commits_per_s"}
    assert sorted(commits) == ["1", "2", "3", "4"]
    assert commits["2"]["days_ago"] == pytest.approx({"90": None, "30": None, "7": 266.0, "0": 268.0}, abs=0.5)
    assert server["db"] == "oracle:BIPRD"


def test_classes_of_waits_stand_where_events_were_not_kept() -> None:
    first, second, *_ = four_nodes()["top_waits"]
    assert (first["event"], first["whole_class"], round(first["share"], 2)) == ("CPU", False, 0.54)
    assert (second["event"], second["whole_class"], round(second["share"], 2)) == ("User I/O", True, 0.41)


def test_the_busy_hour_of_the_four_nodes() -> None:
    busy = four_nodes("--busy-hour")
    assert busy["rhythm"]["busy_hour"] == 8
    assert busy["rhythm"]["by_weekday"] == pytest.approx([4.54, 2.46, 3.2, 2.24, 0.228, 0.957, 0.699], rel=0.01)
    assert busy["figures"] != four_nodes()["figures"]


def test_eight_years_of_days() -> None:
    status, document = told(CORPUS / "forecast" / "karlarao_data.txt")
    (line,) = document["servers"][0]["figures"]
    assert (status, line["entity"], document["at"]) == (0, "karlarao_data data", "2015-12-31T00:00:00+00:00")
    assert line["days_ago"] == pytest.approx({"90": 7.84, "30": 7.95, "7": 7.31, "0": 7.24}, abs=0.005)


def test_a_profile_of_a_past_day() -> None:
    _, document = told(CORPUS / "forecast" / "karlarao_data.txt", "--at", "2008-01-09")
    assert document["servers"][0]["figures"][0]["days_ago"] == {"90": None, "30": None, "7": 5.380, "0": 5.811}
