"""`doctord read`, and `doctord diagnose` of files."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from doctord.cli import app, load
from doctord.lake.query import Lake


def pairs(path: Path, count: int = 3) -> Path:
    lines = [f"2024-05-30 13:27:{second:02}Z,{100 * second}" for second in range(count)]
    path.write_text("time,latency_us\n" + "".join(f"{line}\n" for line in lines))
    return path


load()


def run(*arguments: str | Path) -> tuple[int, str, str]:
    outcome = CliRunner().invoke(app, [str(argument) for argument in arguments])
    return outcome.exit_code, outcome.stdout, outcome.stderr


def test_it_says_what_each_file_holds(tmp_path: Path) -> None:
    pairs(tmp_path / "waits.csv")
    (tmp_path / "letter.txt").write_text("Dear doctor,\n")
    status, out, _ = run("read", tmp_path, "--json")
    files = json.loads(out)["files"]
    assert status == 0
    assert [(file["file"].rpartition("/")[2], bool(file["error"])) for file in files] == [
        ("letter.txt", True),
        ("waits.csv", False),
    ]
    assert files[1]["rows"] == {"latency": 3}
    assert files[1]["skipped_lines"] == 0
    assert files[1]["until"] == "2024-05-30T13:27:02+00:00"


def test_the_listing_reads_well_at_80_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pairs(Path("waits.csv"))
    Path("letter.txt").write_text("Dear doctor,\n")
    _, out, _ = run("read", ".")
    assert max(map(len, out.splitlines())) <= 80
    assert "letter.txt\n  not read: no format that Doctor D reads\n" in out
    assert out.endswith("1 of 2 files read: 3 rows, 0 lines skipped\n")


def test_a_file_that_was_named_must_be_readable(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Dear doctor,\n")
    assert run("read", pairs(tmp_path / "waits.csv"))[0] == 0
    assert run("read", tmp_path / "waits.csv", tmp_path / "letter.txt")[0] == 2
    assert run("read", tmp_path / "nowhere")[0] == 2
    assert run("read")[0] == 2


def test_a_lake_takes_each_row_once(tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    _, out, _ = run("read", pairs(tmp_path / "waits.csv"), "--lake", lake, "--json")
    assert json.loads(out)["kept"] == {"latency": 3}
    _, out, _ = run("read", pairs(tmp_path / "waits.csv", 5), tmp_path / "waits.csv", "--lake", lake, "--json")
    assert json.loads(out)["kept"] == {"latency": 2}
    with Lake(lake).connect() as connection:
        assert connection.sql("SELECT sum(count) FROM latency").fetchall() == [(5,)]


def test_the_formats_are_listed() -> None:
    status, out, _ = run("read", "--formats")
    assert status == 0
    assert "PyLatencyMap records" in out.splitlines()


@pytest.mark.parametrize(
    ("option", "hint"),
    [(("--zone", "Mars/Olympus"), "tz database"), (("--day", "tomorrow"), "2026-11-20"), (("--every", "x"), "500ms")],
)
def test_what_the_user_says_is_checked(tmp_path: Path, option: tuple[str, str], hint: str) -> None:
    status, _, err = run("read", pairs(tmp_path / "waits.csv"), *option)
    assert status == 2
    assert hint in err


def test_files_are_diagnosed_without_a_lake(tmp_path: Path) -> None:
    status, out, _ = run("diagnose", pairs(tmp_path / "waits.csv"), "--json")
    assert status == 2  # three waits are no ground for a verdict
    assert json.loads(out)["until"] == "2024-05-30T13:27:02Z"
    assert run("diagnose", tmp_path / "waits.csv", "--from", "2025-01-01")[0] == 2
    assert run("diagnose", tmp_path / "waits.csv", "--lake", tmp_path)[0] == 2
