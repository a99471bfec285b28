"""`doctord forecast --saturation` and `--scaling`."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from doctord.cli import app, load

pytestmark = pytest.mark.slow

load()
START = datetime(2026, 9, 1, tzinfo=UTC)
HEAD = "ts,interval_s,host,device,reads_per_s,writes_per_s,read_ms\n"


def run(*arguments: str | Path) -> tuple[int, str, str]:
    outcome = CliRunner().invoke(app, ["forecast", *(str(argument) for argument in arguments)])
    return outcome.exit_code, outcome.stdout, outcome.stderr


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Ten days of a disk of 200 requests per second, and of a cache, by the hour."""
    random = np.random.default_rng(4)
    lines = []
    for number in range(240):
        about = f"{(START + timedelta(hours=number + 1)).isoformat()},3600,alpha"
        rate = 80 * (1 + 0.5 * np.sin(number * 2 * np.pi / 24)) * (1 + number / 2400) * random.normal(1, 0.02)
        lines.append(f"{about},sda,{rate},0,{5 / (1 - rate / 200) * random.normal(1, 0.03)}")
        lines.append(f"{about},sdb,{100 * rate},0,{random.normal(0.4, 0.01)}")
    path = tmp_path / "disk.csv"
    path.write_text(HEAD + "\n".join(lines) + "\n")
    return path


def test_it_says_how_far_it_is_and_what_cannot_be_told(file: Path) -> None:
    status, out, _ = run("--saturation", file, "--growth", "30%")
    assert status == 1
    assert out.startswith("sda of alpha: response has more than doubled in the busy hour")
    assert "sda of alpha: 99.1 (92.3 to 103) requests/s" in out
    assert "with 30% more, " in out
    assert "sdb of alpha: the response does not depend on the load" in out
    assert "is a cache's or flash's time" in out
    assert max(map(len, out.splitlines())) <= 80


def test_json_has_the_same_with_its_intervals(file: Path) -> None:
    _, out, _ = run("--saturation", file, "--growth", "30%", "--json")
    document = json.loads(out)
    disk, cache = document["resources"]
    assert (disk["kind"], disk["entity"], disk["load_unit"], disk["response_unit"]) == (
        "disk",
        "sda",
        "requests/s",
        "ms",
    )
    assert disk["saturation"]["low"] <= 200 <= disk["saturation"]["high"]
    assert disk["service"]["value"] == pytest.approx(5, rel=0.02)
    assert disk["grown"][0]["load"] == pytest.approx(1.3 * disk["load"])
    assert cache["knee"] is None
    assert document["scaling"] == []


def test_a_lake_tells_the_same_as_files(file: Path, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    assert CliRunner().invoke(app, ["read", str(file), "--lake", str(lake)]).exit_code == 0
    of_lake, of_files = (json.loads(run("--saturation", *where, "--json")[1]) for where in (("--lake", lake), (file,)))
    assert of_lake["resources"] == of_files["resources"]


def test_a_load_test_s_peak_is_told(tmp_path: Path) -> None:
    points = tmp_path / "sdm91.csv"
    points.write_text("scripts,per_hour\n1,64.9\n18,995.9\n36,1652.4\n72,1853.2\n108,1828.9\n144,1775.0\n216,1702.2\n")
    status, out, _ = run("--scaling", points)
    assert status == 0
    assert "sdm91.csv: peaks at 96.5 (78.5 to 140), with 1,884 (1,741 to 2,027)" in out
    _, out, _ = run("--scaling", points, "--json")
    assert json.loads(out)["scaling"][0]["sigma"]["value"] == pytest.approx(0.0277285, rel=1e-5)


def test_too_few_points_are_said_to_be_so(tmp_path: Path) -> None:
    points = tmp_path / "few.csv"
    points.write_text("1,10\n2,19\n4,33\n")
    status, out, _ = run("--scaling", points)
    assert status == 2
    assert "3 different N, and it takes 5" in out


@pytest.mark.parametrize("option", [("--saturation", "--alert", "prometheus"), ("--scaling", "a.csv", "b.csv")])
def test_options_that_do_not_go_together_are_refused(option: tuple[str, ...]) -> None:
    status, _, err = run(*option)
    assert status == 2
    assert "leave out what is not meant" in err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("users,x\n1,10\nmany,20\n", "points.csv:3: 'many,20' is not two numbers"),
        ("users,x\n1\n", "points.csv:2: '1' is not two numbers"),
        ("1,90\n1e300,5\n", "points.csv:2: '1e300,5': no system has or does so many"),
        ("users,x\n", "there are no points in it"),
        (None, "No such file"),
    ],
)
def test_a_file_of_points_has_a_form(tmp_path: Path, text: str | None, message: str) -> None:
    points = tmp_path / "points.csv"
    if text is not None:
        points.write_text(text)
    status, _, err = run("--scaling", points)
    assert status == 2
    assert message in err
    assert "hint: " in err


def test_a_mark_of_the_byte_order_takes_no_point(tmp_path: Path) -> None:
    points = tmp_path / "points.csv"
    points.write_text("1,90\n2,175\n4,330\n8,610\n12,800\n", encoding="utf-8-sig")
    assert json.loads(run("--scaling", points, "--json")[1])["scaling"][0]["points"] == 5
