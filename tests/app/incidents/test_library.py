import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from doctord.analyse.incidents.signature import Change
from doctord.app.incidents.library import Incident, export, imported, incidents_in, keep, named, one_of, removed
from doctord.errors import UserError
from heard import Heard

WHEN = datetime(2026, 5, 3, 2, 10, tzinfo=UTC)


def incident(name: str = "locks", cause: str = "row_locks", **figures: float) -> Incident:
    given = figures or {f"figure {number}": (-1) ** number * 0.9 for number in range(10)}
    signature = {name: Change(value, value) for name, value in given.items()}
    return Incident(name, cause, "INC-1", "db1", WHEN, WHEN.replace(hour=3), WHEN, "0.1.0", signature)


def test_what_is_kept_is_there_again(tmp_path: Path) -> None:
    assert incidents_in(tmp_path / "none") == []
    assert keep(tmp_path / "library", [incident()]) == 1
    assert incidents_in(tmp_path / "library") == [incident()]
    assert one_of(tmp_path / "library", "locks") == incident()
    assert keep(tmp_path / "library", [incident()]) == 0
    removed(tmp_path / "library", "locks")
    assert incidents_in(tmp_path / "library") == []


def test_another_of_the_same_name_is_not_overwritten_unasked(tmp_path: Path) -> None:
    keep(tmp_path, [incident()])
    with pytest.raises(UserError, match="has another incident locks"):
        keep(tmp_path, [incident(cause="deadlocks_reported")])
    assert incidents_in(tmp_path) == [incident()]
    assert keep(tmp_path, [incident(cause="deadlocks_reported")], replace=True) == 1


def test_two_causes_that_look_the_same_are_told(tmp_path: Path) -> None:
    watcher = Heard()
    keep(tmp_path, [incident()])
    keep(tmp_path, [incident("disk", "device_saturated")], watcher)
    assert watcher.notes == [
        "disk (device_saturated) is as good as locks (row_locks): alike 1.00, and nothing will tell them apart"
    ]


def test_a_library_goes_to_another_server(tmp_path: Path) -> None:
    keep(tmp_path / "here", [incident(), incident("other", "deadlocks_reported", a=1.0)])
    assert export(tmp_path / "here", tmp_path / "all.json") == 2
    assert keep(tmp_path / "there", imported(tmp_path / "all.json")) == 2
    assert incidents_in(tmp_path / "there") == incidents_in(tmp_path / "here")


def test_names_are_those_of_files() -> None:
    assert named("row locks / 3", WHEN, None) == ("row-locks-3-20260503T021000Z", "row locks / 3")
    for name in ("../up", "", "a b", ".hidden"):
        with pytest.raises(UserError):
            named("x", WHEN, name or " ")
    with pytest.raises(UserError, match="without a cause"):
        named(" ", WHEN, None)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("not JSON", "no JSON"),
        ("[]", "no library of incidents"),
        ('{"schema_version": 9}', "of schema version 9"),
        ('{"schema_version": 1, "incidents": 3}', "incidents is no list"),
        ('{"schema_version": 1, "incidents": [3]}', "incident 1: no object"),
        ('{"schema_version": 1, "name": "a"}', "without 'cause'"),
    ],
)
def test_a_file_that_is_none_is_refused_and_costs_no_other(tmp_path: Path, content: str, said: str) -> None:
    keep(tmp_path, [incident()])
    (tmp_path / "bad.json").write_text(content)
    with pytest.raises(UserError, match=said):
        imported(tmp_path / "bad.json")
    watcher = Heard()
    assert incidents_in(tmp_path, watcher) == [incident()]
    assert len(watcher.notes) == 1
    assert watcher.notes[0].endswith("; left out")


@pytest.mark.parametrize("value", [[2.0, 0.0], [float("nan"), 0.0], [0.5, float("inf")], [0.5], "x", None])
def test_figures_that_are_none_are_refused(tmp_path: Path, value: object) -> None:
    keep(tmp_path, [incident()])
    told = json.loads((tmp_path / "locks.json").read_text())
    told["figures"]["figure 1"] = value
    (tmp_path / "locks.json").write_text(json.dumps(told))
    with pytest.raises(UserError, match="incident 1"):
        imported(tmp_path / "locks.json")


def test_moments_tell_their_zone(tmp_path: Path) -> None:
    keep(tmp_path, [replace(incident())])
    told = json.loads((tmp_path / "locks.json").read_text())
    (tmp_path / "locks.json").write_text(json.dumps(told | {"since": "2026-05-03T02:10:00"}))
    with pytest.raises(UserError, match="without a time zone"):
        imported(tmp_path / "locks.json")
