"""Files of two hosts, years apart: each command tells them apart, or asks which one is meant."""

import json
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from doctord import cli

HEADING = "ts,interval_s,host,usr_pct,sys_pct,steal_pct,idle_pct"
BUSY, IDLE = ("db1", datetime(2024, 3, 2, 10), 90.0), ("db2", datetime(2026, 11, 20, 10), 30.0)  # noqa: DTZ001
STEPS = 360  # of five minutes


def rows_of(host: str, end: datetime, usr_pct: float) -> list[str]:
    moments = (end - timedelta(minutes=5 * step) for step in range(STEPS))
    return [f"{moment:%F %T},300,{host},{usr_pct},5.0,0.0,{95 - usr_pct}" for moment in moments]


@pytest.fixture
def both(tmp_path: Path) -> Path:
    """A table that was exported, with rows of both."""
    path = tmp_path / "cpu.csv"
    path.write_text("\n".join([HEADING, *rows_of(*IDLE), *rows_of(*BUSY), ""]))
    return path


@pytest.fixture
def apart(tmp_path: Path) -> Path:
    """A folder with a file of each."""
    for host in (BUSY, IDLE):
        (tmp_path / host[0]).mkdir()
        (tmp_path / host[0] / "cpu.csv").write_text("\n".join([HEADING, *rows_of(*host), ""]))
    return tmp_path


def run(*arguments: str | Path) -> Result:
    cli.load()
    return CliRunner().invoke(cli.app, [*map(str, arguments), "--zone", "UTC"])


@pytest.mark.parametrize("files", ["both", "apart"])
@pytest.mark.parametrize(
    ("command", "as_of"), [("profile", "at"), ("thresholds check", "as_of"), ("forecast", "items.as_of")]
)
def test_each_host_is_judged_at_the_end_of_its_own_time(
    files: str, command: str, as_of: str, request: pytest.FixtureRequest
) -> None:
    path: Path = request.getfixturevalue(files)
    result = run(*command.split(), path, "--json")
    assert result.exit_code == 1
    first = json.loads(result.stdout)
    (second,) = first["others"]
    assert [first["host"], second["host"], second["others"]] == ["db1", "db2", []]
    for host, document in ((BUSY, first), (IDLE, second)):
        alone = json.loads(run(*command.split(), path, "--json", "--host", host[0]).stdout)
        assert {**document, "others": []} == alone, "no other host changes it"
        moments = [one["as_of"] for one in document["items"]] if "." in as_of else [document[as_of]]
        assert {moment[:16] for moment in moments} == {f"{host[1]:%FT%H:%M}"}
    text = run(*command.split(), path)
    assert text.stdout.startswith("2 hosts, each judged for itself, the worst first\n\n1 OF 2  ")
    assert text.stdout.index("1 OF 2") < text.stdout.index("2 OF 2")
    assert text.exit_code == 1


def test_one_host_is_judged_alone(both: Path) -> None:
    healthy, sick = (run("thresholds", "check", both, "--host", host) for host in ("DB2", "db1"))
    assert (healthy.exit_code, sick.exit_code) == (0, 1)
    assert "OF 2" not in healthy.stdout + sick.stdout
    assert run("diagnose", both, "--host", "db2").exit_code == 0


def test_alerts_are_of_all_hosts(both: Path) -> None:
    text = both.read_text().replace("db2,30.0,5.0,0.0,65.0", "db2,91.0,5.0,0.0,4.0")
    both.write_text(text)
    for command in (["thresholds", "check"], ["forecast"]):
        found = run(*command, both, "--alert", "alertmanager")
        if command == ["thresholds", "check"]:
            assert {one["labels"]["host"] for one in json.loads(found.stdout)} == {"db1", "db2"}
        else:
            assert json.loads(found.stdout) == [], "what is violated already is not foreseen"


@pytest.mark.parametrize("command", ["size pool", "report --capacity"])
def test_what_is_of_one_host_asks_which(both: Path, tmp_path: Path, command: str) -> None:
    page = ["-o", tmp_path / "page.html"] if command.startswith("report") else []
    refused = run(*command.split(), both, *page)
    assert refused.exit_code == 2
    assert "2 hosts are told of: db1, db2\nhint: choose one with --host" in refused.stderr.replace(
        "db2, db1", "db1, db2"
    )
    chosen = run(*command.split(), both, *page, "--host", "db2")
    assert "hosts are told of" not in chosen.stderr
    unknown = run(*command.split(), both, *page, "--host", "db3")
    assert (unknown.exit_code, "no host 'db3'" in unknown.stderr) == (2, True)
    assert "hint: there are: db1, db2" in unknown.stderr


def test_proposals_are_of_each_host(both: Path) -> None:
    proposed = run("thresholds", "init", both)
    assert proposed.exit_code == 0
    assert "CPU used (db1)" in proposed.stdout
    assert "CPU used (db2)" in proposed.stdout


def test_who_could_not_be_judged_is_named_above(both: Path) -> None:
    """Of a minute no threshold can be told."""
    lines = both.read_text().splitlines()
    both.write_text("\n".join([HEADING, *(line for line in lines if "db1" in line), rows_of(*IDLE)[0], ""]))
    result = run("thresholds", "check", both)
    assert result.exit_code == 1
    assert result.stdout.startswith("2 hosts, each judged for itself, the worst first; no verdict on db2\n")


def test_a_profile_says_what_is_too_old_for_it(tmp_path: Path) -> None:
    end = BUSY[1] - timedelta(days=400)
    path = tmp_path / "cpu.csv"
    path.write_text("\n".join([HEADING, *rows_of(*BUSY), *rows_of("db1", end, 30.0), ""]))
    result = run("profile", path)
    assert "what is older than 91 d before 2024-03-02 10:00:00 UTC is not in the profile" in result.stderr
    assert result.exit_code == 1
    earlier = run("profile", path, "--at", f"{end:%FT%T}Z")
    assert (earlier.exit_code, "is not in the profile" in earlier.stderr) == (0, False)


def test_a_host_of_files_is_named_with_them() -> None:
    refused = run("size", "pool", "--host", "db1")
    assert (refused.exit_code, "--host is one of files or of a lake" in refused.stderr) == (2, True)


@pytest.mark.parametrize("command", ["profile", "thresholds check", "forecast", "forecast --saturation", "diagnose"])
def test_a_lake_of_two_hosts_shows_one_of_them(both: Path, tmp_path: Path, command: str) -> None:
    lake = tmp_path / "lake"
    assert run("read", both, "--lake", lake).exit_code == 0
    window = ["--from", "2024-03-02", "--to", "2026-11-21"] if command in {"thresholds check", "diagnose"} else []
    told = {}
    for host in ("db1", "db2"):
        cli.load()
        chosen = CliRunner().invoke(cli.app, [*command.split(), "--lake", str(lake), "--host", host, *window, "--json"])
        told[host] = chosen.stdout
        assert json.loads(chosen.stdout), chosen.stderr
    assert "db1" in told["db1"]
    assert "db2" not in told["db1"]
    assert "db1" not in told["db2"]


def test_a_time_of_day_is_of_the_last_day_of_the_files(both: Path, tmp_path: Path) -> None:
    """Wherever a moment is given."""
    profile = run("profile", both, "--host", "db1", "--at", "22:00")
    assert "Profile of the day to 2024-03-01 22:00 UTC" in profile.stdout
    assert "22:00: 2024-03-01 22:00:00 UTC is taken" in profile.stderr
    checked = run("thresholds", "check", both, "--host", "db1", "--from", "22:00", "--to", "02:00", "--json")
    assert json.loads(checked.stdout)["as_of"].startswith("2024-03-02T02:00")
    waits = tmp_path / "waits.csv"
    waits.write_text("time,latency_us\n" + "".join(f"2024-05-30 13:{minute}:00Z,500\n" for minute in range(10, 60)))
    compared = run("map-compare", waits, "--unit", "1us", "--at", "13:30")
    assert compared.exit_code == 0
    assert "13:30: 2024-05-30 13:30:00 UTC is taken" in compared.stderr
