"""`doctord profile`."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from doctord.cli import app, load
from doctord.dataset.dataset import Dataset
from doctord.lake.imports import keep
from doctord.lake.rollups import expire

pytestmark = pytest.mark.slow

AT = datetime(2026, 11, 20, tzinfo=UTC)

load()


def run(*arguments: str | Path) -> tuple[int, str, str]:
    outcome = CliRunner().invoke(app, ["profile", *(str(argument) for argument in arguments)])
    return outcome.exit_code, outcome.stdout, outcome.stderr


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """Some days of one disk, busier by the day, and the last hour's waits."""
    disk = [
        {
            "ts": AT - timedelta(days=days),
            "interval_s": 3600.0,
            "host": "a",
            "device": "vda",
            "requests_per_s": 1000.0 - days,
        }
        for days in (0, 7, 14, 30, 37, 90, 97)
    ]
    names = {"CPU": "CPU", "log file sync": "Commit", "PX qref latch": "Other", "rdbms ipc message": "Idle"}
    wait = [
        {
            "ts": AT,
            "interval_s": 3600.0,
            "host": "a",
            "db": "oracle:X",
            "instance": instance,
            "event": event,
            "wait_class": wait_class,
            "waits_per_s": None if event == "CPU" else 100.0,
            "average_active_sessions": 0.5,
            "avg_wait_ms": None if event == "CPU" else 5.0,
        }
        for event, wait_class in names.items()
        for instance in ("1", "2")
    ]
    keep(tmp_path / "lake", Dataset.from_rows(disk=disk, wait=wait).tables)
    return tmp_path / "lake"


def test_a_lake_on_one_page(lake: Path) -> None:
    status, out, _ = run("--lake", lake)
    assert status == 0
    line = next(line for line in out.splitlines() if "requests to the device" in line)
    assert line.split()[:7] == ["910", "970", "993", "1", "k", "993", "+3"]
    assert max(map(len, out.splitlines())) <= 80
    assert "not measured: cpu" in out


def test_it_is_the_same_when_the_rows_are_gone(lake: Path) -> None:
    _, before, _ = run("--lake", lake, "--json")
    for sealed in lake.glob("sealed/disk/*/*.parquet"):
        sealed.unlink()
    assert run("--lake", lake, "--json")[1] == before


def test_idle_and_parallel_slave_waits_are_none_of_the_top(lake: Path) -> None:
    document = json.loads(run("--lake", lake, "--json")[1])
    (server,) = (server for server in document["servers"] if server["db"])
    waits = {
        wait["event"]: (wait["wait_class"], wait["seconds_per_second"], wait["average_ms"])
        for wait in server["top_waits"]
    }
    assert waits == {"CPU": ("CPU", 1.0, None), "log file sync": ("Commit", 1.0, 5.0)}


def test_a_past_moment(lake: Path) -> None:
    document = json.loads(run("--lake", lake, "--at", "2026-11-13", "--json")[1])
    (figure,) = document["servers"][0]["figures"]
    assert figure["days_ago"] == {"90": 903.0, "30": 963.0, "7": 986.0, "0": 993.0}


def test_a_lake_that_may_not_be_written_is_profiled_all_the_same(lake: Path) -> None:
    (lake / "rollups").write_text("a file where the folder would be\n")
    status, out, err = run("--lake", lake)
    assert status == 2 or "requests to the device" in out
    assert "rollups" in err


def test_figures_of_ones_own(lake: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(
        '[[figure]]\nname = "requests_k"\ntitle = "thousands"\ncomponent = "storage"\ntable = "disk"\n'
        'value = "requests_per_s / 1000"\nunit = "k"\n'
    )
    document = json.loads(run("--lake", lake, "--figures", own, "--json")[1])
    figures = {figure["figure"]: figure["days_ago"]["0"] for figure in document["servers"][0]["figures"]}
    assert figures == {"disk_requests_per_s": 1000.0, "requests_k": 1.0}


@pytest.mark.parametrize("name", ["disk_read_ms", "cpu_used_pct"])
def test_a_name_that_is_taken_is_refused(lake: Path, tmp_path: Path, name: str) -> None:
    own = tmp_path / "own.toml"
    own.write_text(
        f'[[figure]]\nname = "{name}"\ntitle = "x"\ncomponent = "storage"\ntable = "disk"\n'
        'value = "read_ms"\nunit = "ms"\n'
    )
    status, _, err = run("--lake", lake, "--figures", own)
    assert (status, "hint:" in err, name in err) == (2, True, True)


def test_nothing_of_use_is_an_error(tmp_path: Path) -> None:
    letter = tmp_path / "letter.txt"
    letter.write_text("Dear doctor,\n")
    assert run(letter)[0] == 2
    assert run("--lake", tmp_path / "none")[0] == 2
    assert run(letter, "--lake", tmp_path)[0] == 2


def minutes_of(path: Path, *of_hours: float) -> Path:
    """A lake of hours of CPU to `AT`, a row a minute: nine tenths of them use little, the last of each so much."""
    begin = AT - timedelta(hours=len(of_hours))
    cpu = [
        {
            "ts": begin + timedelta(minutes=60 * hour + minute + 1),
            "interval_s": 60.0,
            "host": "a",
            "usr_pct": used if minute >= 54 else 10.0,
            "sys_pct": 0.0,
        }
        for hour, used in enumerate(of_hours)
        for minute in range(60)
    ]
    keep(path, Dataset.from_rows(cpu=cpu).tables)
    return path


def percentiles(*arguments: str | Path) -> dict[str, dict[str, float] | None]:
    (server,) = json.loads(run(*arguments, "--json")[1])["servers"]
    (line,) = (line for line in server["figures"] if line["figure"] == "cpu_used_pct")
    found: dict[str, dict[str, float] | None] = line["percentiles"]
    return found


def test_percentiles_of_the_day_and_of_the_busy_hour(tmp_path: Path) -> None:
    lake = minutes_of(tmp_path / "lake", *(20.0,) * 20, 100.0, 20.0, 20.0, 20.0)
    day, hour = percentiles("--lake", lake)["0"], percentiles("--lake", lake, "--busy-hour")["0"]
    assert day == pytest.approx({"rows": 1440, "p1": 10, "p5": 10, "p50": 10, "p95": 20, "p99": 20}, rel=0.01)
    assert hour == pytest.approx({"rows": 60, "p1": 10, "p5": 10, "p50": 10, "p95": 100, "p99": 100}, rel=0.01)
    line = next(line for line in run("--lake", lake)[1].splitlines() if line.endswith("CPU used, %"))
    assert line.split()[:5] == ["-", "-", "-", "11.3", "20.1"]


def test_percentiles_stay_when_rows_and_hours_go(tmp_path: Path) -> None:
    lake = minutes_of(tmp_path / "lake", *(20.0,) * 24)
    before = percentiles("--lake", lake)
    for sealed in lake.glob("sealed/*/*/*.parquet"):
        sealed.unlink()
    assert percentiles("--lake", lake) == before
    for day in lake.glob("sealed/*/*/"):
        day.rmdir()
    expire(lake, timedelta(0))
    assert list(lake.glob("rollups/1h-buckets/*")) == []
    assert percentiles("--lake", lake) == before, "the buckets of the day stay"
    assert percentiles("--lake", lake, "--busy-hour")["0"] is None, "of its hours they tell nothing"


def test_a_limit_of_a_percentile(tmp_path: Path) -> None:
    lake, file = minutes_of(tmp_path / "lake", *(20.0,) * 23, 100.0), tmp_path / "own.toml"
    file.write_text('[[threshold]]\nname = "peaks"\nfigure = "cpu_used_pct"\nof = "p95"\nlimit = 90\n')
    assert run("--lake", lake, "--thresholds", file)[0] == 0
    status, out, _ = run("--lake", lake, "--thresholds", file, "--busy-hour")
    assert status == 1
    assert "90 p95" in out


def test_a_figure_made_of_the_same_rows_takes_nothing_from_another(lake: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(
        '[[figure]]\nname = "most"\ntitle = "most"\ncomponent = "storage"\ntable = "disk"\neach = ["device"]\n'
        'value = "coalesce(requests_per_s, reads_per_s + writes_per_s)"\nunit = "per_s"\nsum = "max"\n'
    )
    for _ in range(2):
        figures = json.loads(run("--lake", lake, "--figures", own, "--json")[1])["servers"][0]["figures"]
        told = {figure["figure"]: figure["percentiles"]["0"]["rows"] for figure in figures}
        assert told == {"disk_requests_per_s": 1, "most": 1}


def test_a_moment_in_another_zone_is_the_same_busy_hour(lake: Path) -> None:
    _, in_utc, _ = run("--lake", lake, "--at", "2026-11-20T00:00Z", "--busy-hour")
    _, in_kolkata, _ = run("--lake", lake, "--at", "2026-11-20T05:30+05:30", "--busy-hour")
    assert "2026-11-20 00:00 UTC" in in_utc
    assert in_kolkata == in_utc
