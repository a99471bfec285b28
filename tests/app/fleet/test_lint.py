from pathlib import Path

import pytest

from doctord.app.asked import Interval
from doctord.app.fleet.hosts import Chosen, hosts_of
from doctord.app.fleet.lint import FleetLint, lint_fleet
from doctord.dataset.dataset import Dataset
from doctord.lake.imports import keep
from doctord.report.fleet import lint as words
from heard import Heard
from here import Here
from incident_recordings import SECONDS, lake, moment

IN_IT = Interval(moment(0), moment(SECONDS))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three hosts with fsync = off, one as it should be, one of which no setting is known."""
    folder = tmp_path_factory.mktemp("fleet")
    for number in range(4):
        row = {"ts": moment(1), "host": f"db{number}", "component": "postgresql", "db": "postgresql:5432"}
        told = {"server_version_num": "150004", "fsync": "off" if number < 3 else "on", "data_checksums": "on"}
        rows = [{**row, "name": name, "value": value} for name, value in told.items()]
        keep(lake(folder / f"db{number}", event=None), Dataset.from_rows(setting=rows).tables)
    (folder / "mute" / "sealed" / "cpu").mkdir(parents=True)
    return folder


def found(place: Path, *names: str) -> FleetLint:
    return lint_fleet(str(place), hosts_of(str(place), Chosen(names), None, Heard()), IN_IT, Here(), Heard())


def test_a_rule_that_several_break_is_told_once(place: Path) -> None:
    linted = found(place)
    first = linted.broken[0]
    assert (first.rule, first.hosts) == ("postgresql/fsync_off", ("db0", "db1", "db2"))
    assert linted.healthy is False
    told = words.render(linted)
    assert told.startswith("3 of 5 hosts have settings that are wrong\n")
    assert "   3 hosts  postgresql/fsync_off, error" in told
    assert "Fix  " in told
    document = words.document(linted)
    assert document["rules"][0]["hosts"] == ["db0", "db1", "db2"]
    assert {one["host"]: one["healthy"] for one in document["hosts"]} == {
        "db0": False, "db1": False, "db2": False, "db3": True,
    }  # fmt: skip


def test_of_whom_no_setting_is_known_is_no_clean_bill(place: Path) -> None:
    assert found(place, "db3").healthy is True
    linted = found(place, "db3", "mute")
    assert (linted.healthy, [host.name for host, _ in linted.failed]) == (None, ["mute"])
    assert "none is known of 1" in words.render(linted).replace("\n", " ")
