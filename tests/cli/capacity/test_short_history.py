"""Four commands on one lake agree of what is violated now, and admit that three minutes tell nothing of an hour."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from doctord.cli import app, load
from doctord.dataset.rows import micros, rows
from doctord.lake.writer import LakeWriter

pytestmark = pytest.mark.slow

load()
COMMANDS = ("forecast", "profile", "report --capacity", "thresholds check")


def recorded(path: Path, minutes: int) -> Path:
    """A lake of a host whose CPUs were all used, up to now."""
    now = datetime.now(UTC)
    values = [
        {"ts": micros(now - timedelta(seconds=10 * step)), "interval_s": 10.0, "host": "a", "usr_pct": 97.0,
         "sys_pct": 2.0, "idle_pct": 1.0, "steal_pct": 0.0}
        for step in range(6 * minutes, -1, -1)
    ]  # fmt: skip
    with LakeWriter(path) as writer:
        writer.append(rows("cpu", values))
    return path


def told(command: str, lake: Path, *more: str) -> tuple[int, str]:
    page = ("-o", str(lake.parent / "report.html")) if command.startswith("report") else ()
    outcome = CliRunner().invoke(app, [*command.split(), "--lake", str(lake), *page, *more])
    return outcome.exit_code, outcome.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_three_minutes_tell_nothing_of_an_hour(tmp_path: Path, command: str) -> None:
    status, out = told(command, recorded(tmp_path / "lake", 3))
    text = " ".join(out.split())
    assert "violate it" not in text
    assert "is violated now" not in text
    assert "will be violated" not in text
    assert "3 min of history" in text
    assert status == (0 if command == "profile" else 2)


@pytest.mark.parametrize("command", COMMANDS)
def test_two_hours_tell_it_to_all_four(tmp_path: Path, command: str) -> None:
    lake = recorded(tmp_path / "lake", 120)
    status, out = told(command, lake, "--json")
    document: dict[str, Any] = json.loads(out)
    assert status == 1
    found = document.get("items") or document.get("violations")
    if command == "profile":
        found = [line for server in document["servers"] for line in server["figures"] if line["verdict"] == "violated"]
    assert isinstance(found, list)
    violated = [one for one in found if one.get("verdict", "violated") == "violated"]
    assert {one["threshold"] for one in violated} == {"CPU nearly used up"}
    as_of = document.get("as_of") or next((one["as_of"] for one in found if "as_of" in one), None)
    if as_of:
        assert datetime.fromisoformat(as_of) <= datetime.now(UTC)
