"""`doctord thresholds`."""

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from doctord.app.capacity.rules import rules_of
from doctord.cli import app, load
from doctord.dataset.figure import own_figures
from doctord.dataset.rows import rows
from doctord.lake.query import Lake
from doctord.lake.rollups import expire, renew
from doctord.lake.writer import LakeWriter

pytestmark = pytest.mark.slow

load()
HOURS = 24 * 10
NOW = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
LEVEL = '[[level]]\nname = "requests over a minute"\nmost_per_24h = 30\nreason = "agreed with the users"\n'


def run(*arguments: str | Path) -> tuple[int, str, str]:
    outcome = CliRunner().invoke(app, ["thresholds", *(str(argument) for argument in arguments)])
    return outcome.exit_code, outcome.stdout, outcome.stderr


def micros(hour: int) -> int:
    return round((NOW - timedelta(hours=hour)).timestamp() * 1e6)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten quiet days and nights of one host, the last three hours of which used all of its CPUs."""
    path = tmp_path_factory.mktemp("thresholds") / "lake"
    random = np.random.default_rng(5)
    cpu = [
        {
            "ts": micros(hour),
            "interval_s": 3600.0,
            "host": "a",
            "usr_pct": float(used),
            "sys_pct": 5.0,
            "steal_pct": 0.0,
        }
        for hour, used in zip(range(HOURS - 1, -1, -1), random.normal(30, 3, HOURS), strict=True)
    ]
    for row in cpu[-3:]:
        row["usr_pct"] = 94.0
    timing = {"ts": micros(1), "host": "a", "run": "day", "duration_s": 62_100.0, "over_limit": 24}
    with LakeWriter(path) as writer:
        writer.append(rows("cpu", cpu))
        writer.append(rows("timing", [timing]))
    return path


def document(*arguments: str | Path) -> tuple[int, dict[str, Any]]:
    status, out, _ = run("check", *arguments, "--json")
    return status, json.loads(out)


def test_what_is_violated_now_is_said_with_its_plan(lake: Path) -> None:
    status, out, _ = run("check", "--lake", lake)
    assert status == 1
    assert max(map(len, out.splitlines())) <= 80
    assert out.startswith("1 threshold violated at ")
    assert "CPU nearly used up (a)" in out
    assert "CPU used 99 % at worst, limit 85 %, for 3 h" in " ".join(out.split())
    assert "plan: Name the statements" in out
    assert "NEVER MEASURED" in out
    assert "memory nearly used up (memory_available_pct)" in " ".join(out.split())


def test_the_document(lake: Path) -> None:
    status, found = document("--lake", lake)
    (violation,) = found["violations"]
    assert (status, found["healthy"], found["held"], violation["is_now"]) == (1, False, 2, True)
    assert (violation["duration_s"], violation["worst"], violation["limit"]) == (3 * 3600, 99.0, 85.0)
    assert violation["plan"]["lead_s"] == 30 * 86_400
    assert violation["since"].endswith("Z")


def test_before_it_was_violated_all_was_well(lake: Path) -> None:
    until = (NOW - timedelta(hours=3)).isoformat()
    status, found = document("--lake", lake, "--from", "-9d", "--to", until)
    assert (status, found["healthy"], found["violations"]) == (0, True, [])


def test_service_levels_say_how_they_were_scaled(lake: Path, tmp_path: Path) -> None:
    file = tmp_path / "my.toml"
    file.write_text(LEVEL)
    status, out, _ = run("check", "--lake", lake, "--thresholds", file)
    assert status == 1
    assert "requests over a minute (a, day): violated" in out
    assert "33.4 in 24 h, limit 30: 24 in 17.25 h, scaled by 24 / 17.25" in " ".join(out.split())
    _, found = document("--lake", lake, "--thresholds", file)
    assert [(one["slow"], one["is_violated"], one["unit"]) for one in found["levels"]] == [(24, True, "per_24h")]


def test_files_are_held_against_levels_too(tmp_path: Path) -> None:
    waits, file = tmp_path / "waits.csv", tmp_path / "my.toml"
    waits.write_text(
        "time,latency_us\n" + "".join(f"2024-05-30 13:27:{second:02}Z,{second}000\n" for second in range(60))
    )
    file.write_text('[[level]]\nname = "slow"\ntable = "latency"\nslower_than = "32768us"\nmost_pct = 30\n')
    status, found = document(waits, "--thresholds", file, "--unit", "1us")
    assert status == 1
    assert [(one["requests"], one["slow"], one["slow_most"]) for one in found["levels"]] == [(60, 27, 27)]
    status, out, err = run("check", waits, "--thresholds", file, "--unit", "1us", "--from", "2024-05-30T13:28Z")
    assert (status, out) == (2, "")
    assert "nothing in these files is of 2024-05-30 13:28:00 UTC or later\n" in err
    assert "hint: they tell of 2024-05-30 13:26:59 to" in err


def test_proposals_are_a_file_that_the_good_time_keeps(lake: Path, tmp_path: Path) -> None:
    file, until = tmp_path / "my.toml", (NOW - timedelta(hours=3)).isoformat()
    status, out, err = run("init", "--lake", lake, "--to", until, "-o", file)
    assert (status, out) == (0, "")
    assert "doctord: 1 thresholds of 2 series" in err
    text = file.read_text()
    assert "# From 237 steps of 1 h" in text
    assert "# CPU given to others by the hypervisor (a): it was 0 all the time" in text
    (threshold,) = rules_of(file).thresholds
    assert (threshold.host, threshold.figure) == ("a", "cpu_used_pct")
    assert threshold.limit == pytest.approx(44, abs=3)
    assert document("--lake", lake, "--thresholds", file, "--from", "-20d", "--to", until)[0] == 0
    assert document("--lake", lake, "--thresholds", file)[0] == 1
    status, _, err = run("init", "--lake", lake, "-o", file)
    assert status == 2
    assert "is there already" in err


def test_a_lake_that_nobody_fills_any_more_is_told(lake: Path) -> None:
    until = (NOW + timedelta(hours=3)).isoformat()
    _, _, err = run("check", "--lake", lake, "--to", until)
    assert f"nothing was measured after {NOW:%Y-%m-%d %H:%M:%S} UTC; that is taken for now" in err
    assert run("check", "--lake", lake, "--to", NOW.isoformat())[2] == ""


def test_a_level_that_a_bucket_leaves_open_is_no_health(tmp_path: Path) -> None:
    waits, file = tmp_path / "waits.csv", tmp_path / "my.toml"
    waits.write_text("time,latency_us\n2024-05-30 13:27:00Z,30000\n2024-05-30 13:27:01Z,30000\n")
    file.write_text('[[level]]\nname = "slow"\ntable = "latency"\nslower_than = "30ms"\nmost_pct = 30\n')
    status, out, _ = run("check", waits, "--thresholds", file)
    assert status == 2
    assert out.startswith("1 service level open")
    assert "0 are slow for certain, up to 2 may be" in out


def test_every_key_of_the_document_is_on_its_page(lake: Path, tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "reference" / "thresholds.md").read_text(encoding="utf-8")
    file = tmp_path / "my.toml"
    file.write_text(LEVEL)
    found = document("--lake", lake)[1] | {"levels": document("--lake", lake, "--thresholds", file)[1]["levels"]}
    for array in ("violations", "levels", "unmeasured"):
        rows = [line for line in page.splitlines() if line.startswith(f"| `{array}[]")]
        known = {name for line in rows for name in re.findall(r"\.(\w+)`", line.split("|")[1])}
        assert set(found[array][0]) == known
    assert {key for key in found if f"| `{key}" not in page} == set()


@pytest.mark.parametrize(("form", "start"), [("prometheus", "# HELP doctord_violation "), ("alertmanager", "[")])
def test_alerts(lake: Path, form: str, start: str) -> None:
    status, out, _ = run("check", "--lake", lake, "--alert", form)
    assert status == 1
    assert out.startswith(start)
    assert "CPU nearly used up" in out


def test_where_nothing_was_measured_there_is_no_health(lake: Path, tmp_path: Path) -> None:
    file = tmp_path / "my.toml"
    file.write_text('[[threshold]]\nname = "log"\nfigure = "wait_ms"\nlimit = 15\n')
    status, out, _ = run("check", "--lake", lake, "--thresholds", file)
    assert status == 2
    assert out.startswith("No verdict: nothing was measured")
    assert "log (wait_ms)" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check", "--thresholds", "nothing.toml"], "nothing.toml"),
        (["check", "--from", "now", "--to", "-1h"], "now is not before -1h"),
        (["check", "some.log", "--lake", "some"], "either files or a lake"),
        (["init", "--hold", "long"], "'long' is no duration"),
        (["init", "--to", "2001-01-01", "--from", "2000-01-01"], "no figure was measured in that time"),
    ],
)
def test_what_is_wrong_is_said(lake: Path, arguments: list[str], message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCTORD_LAKE", str(lake))
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert message in err
    assert "hint: " in err


def test_a_file_without_thresholds_is_told(lake: Path, tmp_path: Path) -> None:
    file = tmp_path / "empty.toml"
    file.write_text("# nothing yet\n")
    status, _, err = run("check", "--lake", lake, "--thresholds", file)
    assert status == 2
    assert "there is no threshold in it" in err


CPU = '[[threshold]]\nname = "{name}"\nfigure = "cpu_used_pct"\nlimit = {limit}\nhold = "{hold}"\n{more}\n'


def hot(path: Path, begin: int = 120, minutes: int = 12) -> Path:
    """A lake of four hours of CPU to `NOW`, a row a minute, of which some minutes were hot."""
    cpu = [
        {
            "ts": micros(4) + (minute + 1) * 60_000_000,
            "interval_s": 60.0,
            "host": "a",
            "usr_pct": 95.0 if begin <= minute < begin + minutes else 10.0,
            "sys_pct": 0.0,
        }
        for minute in range(240)
    ]
    with LakeWriter(path) as writer:
        writer.append(rows("cpu", cpu))
    return path


def without_rows(lake: Path) -> Path:
    """As retention leaves a lake that was summed up."""
    renew(Lake(lake), own_figures())
    for day in lake.glob("sealed/*/*/"):
        for sealed in day.glob("*.parquet"):
            sealed.unlink()
        day.rmdir()
    return lake


@pytest.mark.parametrize(("hold", "is_violated"), [("10m", True), ("11m", False)])
def test_minutes_are_judged_when_the_rows_are_gone(tmp_path: Path, hold: str, *, is_violated: bool) -> None:
    lake, file = hot(tmp_path / "lake"), tmp_path / "my.toml"
    file.write_text(CPU.format(name="hot", limit=80, hold=hold, more=""))
    before = document("--lake", lake, "--thresholds", file, "--to", NOW.isoformat())
    after = document("--lake", without_rows(lake), "--thresholds", file, "--to", NOW.isoformat())
    assert after == (before[0], before[1] | {"measured_s": after[1]["measured_s"]})
    assert after[1]["measured_s"] == pytest.approx(before[1]["measured_s"], abs=300)
    told = [(one["duration_s"], one["step_s"], one["worst"]) for one in before[1]["violations"]]
    assert told == ([(600.0, 300, 95.0)] if is_violated else [])


def test_where_only_hours_are_kept_they_are_judged_and_that_is_said(tmp_path: Path) -> None:
    lake, file = without_rows(hot(tmp_path / "lake", 60, 120)), tmp_path / "my.toml"
    expire(lake, timedelta(days=-1))
    file.write_text(CPU.format(name="hot", limit=80, hold="5m", more=""))
    status, out, err = run("check", "--lake", lake, "--thresholds", file, "--to", NOW.isoformat(), "--json")
    (violation,) = json.loads(out)["violations"]
    assert (status, violation["duration_s"], violation["step_s"]) == (0, 7200.0, 3600)
    assert "hours are all that is kept since" in err


def test_a_percentile_of_each_hour_may_have_a_limit(tmp_path: Path) -> None:
    lake, file = hot(tmp_path / "lake", 237, 3), tmp_path / "my.toml"
    mean = CPU.format(name="mean", limit=80, hold="1h", more="")
    file.write_text(mean + CPU.format(name="peaks", limit=80, hold="1h", more='of = "p96"'))
    for place in (lake, without_rows(lake)):
        status, found = document("--lake", place, "--thresholds", file, "--to", NOW.isoformat())
        (violation,) = found["violations"]
        assert (status, violation["threshold"], violation["of"]) == (1, "peaks", "p96")
        assert violation["worst"] == pytest.approx(95, rel=0.01)
    assert "CPU used, p96, 94" in " ".join(run("check", "--lake", lake, "--thresholds", file)[1].split())


def test_what_lies_at_the_limit_of_a_percentile_is_good(tmp_path: Path) -> None:
    lake, file = hot(tmp_path / "lake", 0, 240), tmp_path / "my.toml"
    file.write_text(CPU.format(name="peaks", limit=95, hold="1h", more='of = "p95"'))
    assert document("--lake", lake, "--thresholds", file)[0] == 0


def test_files_have_percentiles_too(tmp_path: Path) -> None:
    (tmp_path / "cpu.csv").write_text(
        "at,used\n" + "".join(f"2026-11-20T10:{minute:02}Z,{minute}\n" for minute in range(1, 60))
    )
    (tmp_path / "mapping.toml").write_text(
        '[csv]\nfile = "cpu.csv"\ntime = "at"\n[[row]]\ntable = "cpu"\nusr_pct = "used"\nsys_pct = 0\n'
    )
    file = tmp_path / "my.toml"
    file.write_text(CPU.format(name="peaks", limit=50, hold="1h", more='of = "p90"'))
    status, found = document(tmp_path / "mapping.toml", "--thresholds", file)
    assert (status, found["violations"][0]["worst"]) == (1, pytest.approx(54, rel=0.01))


@pytest.mark.parametrize("of", ["p0", "p100", "95", "median", "pnan"])
def test_what_is_no_percentile_is_refused(tmp_path: Path, of: str) -> None:
    file = tmp_path / "my.toml"
    file.write_text(CPU.format(name="peaks", limit=50, hold="1h", more=f'of = "{of}"'))
    status, _, err = run("check", "--lake", tmp_path, "--thresholds", file)
    assert (status, f"of is {of!r}, no percentile" in err) == (2, True)
