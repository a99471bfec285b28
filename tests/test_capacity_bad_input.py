"""Histories that are short, flat, torn, doubled or wrong: the commands answer, and say what the answer rests on."""

import json
import math
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from doctord.cli import app, load

pytestmark = pytest.mark.slow

BEGIN = datetime(2026, 9, 1, tzinfo=UTC)
MAPPING = """
[csv]
file = "{host}.csv"
time = "at"
interval_s = {every_s}
[[row]]
table = "cpu"
host = "{host}"
usr_pct = "used"
sys_pct = 0
"""
HOT = '[[threshold]]\nname = "hot"\nfigure = "cpu_used_pct"\nlimit = 80\nhold = "2h"\n'
DAY = [round(20 + 10 * math.sin(hour / 24 * 2 * math.pi), 3) for hour in range(24)]

load()


def run(*arguments: str | Path) -> tuple[int, str, str]:
    outcome = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert "Traceback" not in outcome.output
    assert outcome.exception is None or isinstance(outcome.exception, SystemExit)
    return outcome.exit_code, outcome.stdout, " ".join(outcome.stderr.split())


def told(
    folder: Path, values: Iterable[float | str | None], host: str = "a", begin: datetime = BEGIN, every_s: int = 3600
) -> Path:
    """CPU used, a value a step from `begin` on, null where nothing was measured: a CSV file with its mapping."""
    steps = [(begin + timedelta(seconds=every_s * (step + 1)), value) for step, value in enumerate(values)]
    lines = [f"{at:%Y-%m-%dT%H:%M:%S},{value}\n" for at, value in steps if value is not None]
    (folder / f"{host}.csv").write_text("at,used\n" + "".join(lines))
    (folder / f"{host}.toml").write_text(MAPPING.format(host=host, every_s=every_s))
    (folder / "hot.toml").write_text(HOT)
    return folder / f"{host}.toml"


def profile(*arguments: str | Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The document of a profile, and the CPU used of its first server."""
    document = json.loads(run("profile", *arguments, "--json")[1])
    (line,) = document["servers"][0]["figures"]
    return document, line


def check(*arguments: str | Path) -> tuple[int, dict[str, Any]]:
    status, out, _ = run("thresholds", "check", *arguments, "--json")
    return status, json.loads(out)


def forecast(mapping: Path, *options: str) -> str:
    pytest.importorskip("statsforecast")
    asked = ("--thresholds", mapping.with_name("hot.toml"), "--horizon", "30d", *options)
    return " ".join(run("forecast", mapping, *asked)[1].split())


def in_lake(folder: Path, *files: Path, more: Sequence[str] = ()) -> Path:
    assert run("read", *files, "--lake", folder / "lake", *more)[0] == 0
    return folder / "lake"


def test_three_days(tmp_path: Path) -> None:
    files = told(tmp_path, DAY * 3)
    document, line = profile(files)
    assert document["servers"][0]["measured"] == {
        "since": "2026-09-01T00:00:00+00:00", "hours": 72, "measured_hours": 72, "measured_hours_today": 24,
    }  # fmt: skip
    assert (line["days_ago"]["7"], line["change_pct"]["7"]) == (None, None)
    assert "Measured since 2026-09-01 00:00 UTC: 72 of 72 hours, 24 of today's 24" in run("profile", files)[1]
    assert "less than three weeks, so that hours of the week were not told" in run("thresholds", "init", files)[1]
    assert "CANNOT BE TOLD" in forecast(files)


def test_a_constant(tmp_path: Path) -> None:
    files = told(tmp_path, [30.0] * 24 * 28)
    assert profile(files)[1]["days_ago"]["7"] == 30.0
    assert "it was 30 all the time, which does not tell how far it may move" in run("thresholds", "init", files)[1]
    assert check(files, "--thresholds", tmp_path / "hot.toml")[0] == 0
    assert "NOT WITHIN THE HORIZON 1 series, of 0 of them the interval reaches the limit" in forecast(files)


def test_a_single_spike(tmp_path: Path) -> None:
    noisy = [value + step * 7919 % 13 / 10 for step, value in enumerate(DAY * 28)]
    files = told(tmp_path, [*noisy[:-12], 99.0, *noisy[-11:]])
    _, line = profile(files)
    assert line["percentiles"]["0"]["p95"] == pytest.approx(31, rel=0.03)
    assert line["percentiles"]["0"]["p99"] == pytest.approx(99, rel=0.02)
    assert check(files, "--thresholds", tmp_path / "hot.toml")[1]["violations"] == []
    assert "a worse value that lasted less than" in run("thresholds", "init", files)[1]
    assert "NOT WITHIN THE HORIZON" in forecast(files)


def test_holes_of_weeks(tmp_path: Path) -> None:
    files = told(tmp_path, [*DAY * 5, 95.0, 95.0, 95.0, *[None] * 24 * 16, *DAY[3:], *DAY * 6])
    document, _ = profile(files)
    assert document["servers"][0]["measured"]["measured_hours"] == 24 * 12
    (violation,) = check(files, "--thresholds", tmp_path / "hot.toml")[1]["violations"]
    assert (violation["duration_s"], violation["lost"], violation["is_now"]) == (3 * 3600.0, True, False)
    assert "16 d without a value" in run("thresholds", "init", files)[1]
    assert "16 of 28 steps were not measured" in forecast(files, "--json")


@pytest.mark.parametrize("is_lake", [False, True])
def test_nan_and_infinity(tmp_path: Path, *, is_lake: bool) -> None:
    files = told(tmp_path, ["nan", "inf", "-inf", "1e400", *DAY[4:]])
    where: tuple[str | Path, ...] = ("--lake", in_lake(tmp_path, files)) if is_lake else (files,)
    document, line = profile(*where)
    assert line["percentiles"]["0"]["rows"] == document["servers"][0]["measured"]["measured_hours_today"] == 20
    assert line["days_ago"]["0"] == pytest.approx(sum(DAY[4:]) / 20)
    span = ("--from", "2026-09-01", "--to", "2026-09-02")
    assert check(*where, "--thresholds", tmp_path / "hot.toml", *span)[1]["violations"] == []


def test_nothing_but_nan(tmp_path: Path) -> None:
    files = told(tmp_path, ["nan"] * 24)
    status, _, err = run("profile", files)
    assert (status, "none of the figures is in these files" in err) == (2, True)
    status, document = check(files, "--thresholds", tmp_path / "hot.toml")
    assert (status, document["unmeasured"][0]["threshold"]) == (2, "hot")


def test_clocks_of_two_zones(tmp_path: Path) -> None:
    told(tmp_path, [10.0] * 23 + [95.0], "utc")
    in_lake(tmp_path, tmp_path / "utc.toml")
    told(tmp_path, [10.0] * 23 + [95.0], "paris", BEGIN + timedelta(hours=2))
    lake = in_lake(tmp_path, tmp_path / "paris.toml", more=["--zone", "Europe/Paris"])
    document, line = profile("--lake", lake)
    assert (document["at"], line["days_ago"]["0"]) == ("2026-09-02T00:00:00+00:00", pytest.approx((230 + 95) / 24))
    assert [server["measured"]["measured_hours_today"] for server in document["servers"]] == [24, 24]


@pytest.mark.parametrize("is_lake", [False, True])
def test_a_clock_that_was_set_back(tmp_path: Path, *, is_lake: bool) -> None:
    before = told(tmp_path, [10.0] * 60 * 12, "a", every_s=60)
    after = told(tmp_path, [30.0] * 60 * 12, "b", BEGIN + timedelta(hours=11, minutes=15, seconds=20), every_s=60)
    after.write_text(after.read_text().replace('host = "b"', 'host = "a"'))
    where: tuple[str | Path, ...] = ("--lake", in_lake(tmp_path, before, after)) if is_lake else (before, after)
    document, _ = profile(*where)
    (doubt,) = document["data_quality"]
    assert doubt == (
        "CPU used (a): one hour holds more than an hour of measurements, that to 2026-09-01 12:00 UTC 1.7 h: "
        "a clock was set back, or it was measured twice; their mean is taken"
    )
    assert "doubt: CPU used (a): one hour holds" in run("profile", *where)[1]
    span = ("--from", "2026-09-01", "--to", "2026-09-02")
    assert doubt in run("thresholds", "check", *where, "--thresholds", tmp_path / "hot.toml", *span)[2]


def test_files_that_are_read_twice(tmp_path: Path) -> None:
    files = told(tmp_path, DAY * 3)
    lake = in_lake(tmp_path, files)
    before = profile("--lake", lake)
    in_lake(tmp_path, files)
    told(tmp_path, DAY * 4)
    assert profile("--lake", lake) == before
    in_lake(tmp_path, files)
    (line,) = profile("--lake", lake)[0]["servers"][0]["figures"]
    assert line["percentiles"]["0"]["rows"] == 24, "a file that grew adds what is new"


def test_a_threshold_on_what_was_never_measured(tmp_path: Path) -> None:
    files = told(tmp_path, DAY)
    (tmp_path / "own.toml").write_text(HOT + '[[threshold]]\nname = "log"\nfigure = "wait_ms"\nlimit = 15\n')
    status, out, _ = run("thresholds", "check", files, "--thresholds", tmp_path / "own.toml")
    assert (status, "NEVER MEASURED\nlog (wait_ms)" in out) == (0, True)


@pytest.mark.parametrize("is_lake", [False, True])
def test_a_unit_that_changed(tmp_path: Path, *, is_lake: bool) -> None:
    lines = [
        f"{BEGIN + timedelta(hours=hour):%Y-%m-%dT%H:%M:%SZ},{'kB' if hour < 30 else 'MB'},9" for hour in range(48)
    ]
    (tmp_path / "redo.csv").write_text("at,unit,redo\n" + "\n".join(lines))
    (tmp_path / "redo.toml").write_text(
        '[csv]\nfile = "redo.csv"\ntime = "at"\n[[row]]\ntable = "statistic"\nhost = "a"\ndb = "x"\n'
        'name = "redo size"\nunit = "{unit}"\nvalue = "redo"\n'
    )
    (tmp_path / "own.toml").write_text(
        '[[figure]]\nname = "redo_size"\ntitle = "redo"\ncomponent = "redo"\ntable = "statistic"\nunit = "MB"\n'
        'where = "name = \'redo size\'"\nvalue = "value"\n'
    )
    files = tmp_path / "redo.toml"
    where: tuple[str | Path, ...] = ("--lake", in_lake(tmp_path, files)) if is_lake else (files,)
    document = json.loads(run("profile", *where, "--figures", tmp_path / "own.toml", "--json")[1])
    assert document["data_quality"] == [
        "redo size (a, x): its unit was 'kB' and is 'MB' since 2026-09-02 06:00 UTC: what is older is not comparable"
    ]


def test_a_restart_is_a_gap_and_no_value(tmp_path: Path) -> None:
    """Counters become rates where they are read; what a restart hides is a hole in the history."""
    files = told(tmp_path, [*DAY[:10], None, None, *DAY[12:]])
    document, line = profile(files)
    assert document["servers"][0]["measured"]["measured_hours_today"] == 22
    assert line["days_ago"]["0"] == pytest.approx(sum(DAY[:10] + DAY[12:]) / 22)
