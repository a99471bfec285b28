"""Names that hold escape sequences: harmless on a terminal, faithful in a file."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from doctord.dataset.rows import rows
from doctord.lake.writer import LakeWriter

pytestmark = pytest.mark.slow

NAME = "disk\x1b[2J\x9b31m\N{RIGHT-TO-LEFT OVERRIDE}gpj"
HARMFUL = ("\x1b", "\x9b", "\N{RIGHT-TO-LEFT OVERRIDE}")
DOCTORD = Path(sys.executable).with_name("doctord")


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("lake")
    with LakeWriter(path) as writer:
        writer.append(rows("disk", [{"ts": 1_000_000, "host": "h", "device": NAME}]))
    return path


def on_a_terminal(*command: str | Path) -> str:
    """What a command writes to its terminal; without colours, so that no escape is its own."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        command, stdout=theirs, stderr=theirs, stdin=subprocess.DEVNULL, env=os.environ | {"NO_COLOR": "1"}
    ) as process:
        os.close(theirs)
        written = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # the other end of a terminal is closed so
                break
            written += part
        process.wait()
    os.close(ours)
    return written.decode()


@pytest.mark.parametrize("form", [["--csv"], ["--json"], []])
def test_sql_is_harmless_on_a_terminal(lake: Path, form: list[str]) -> None:
    shown = on_a_terminal(DOCTORD, "sql", "--lake", lake, "SELECT device FROM disk", *form)
    assert "disk" in shown
    assert "gpj" in shown
    assert not [one for one in HARMFUL if one in shown]


def test_csv_and_json_in_a_file_are_faithful(lake: Path) -> None:
    command = [DOCTORD, "sql", "--lake", lake, "SELECT device FROM disk"]
    csv, json_text = (
        subprocess.run([*command, form], capture_output=True, text=True, check=True).stdout
        for form in ("--csv", "--json")
    )
    assert csv == f"device\n{NAME}\n"
    assert json.loads(json_text)["rows"] == [{"device": NAME}]


@pytest.mark.parametrize("command", [["read"], ["diagnose"], ["lint"], ["map", "--file"], ["trace"], ["report"]])
def test_names_of_files_are_harmless_in_whatever_is_said_of_them(tmp_path: Path, command: list[str]) -> None:
    file = tmp_path / f"{NAME}\ndoctord: all is well.txt"
    file.write_text("nothing that anybody reads\n")
    done = subprocess.run([DOCTORD, *command, file], capture_output=True, text=True, check=False)
    said = done.stderr + done.stdout
    assert done.returncode == 2
    assert not [one for one in HARMFUL if one in said]
    assert "\ndoctord: all is well" not in done.stderr


def test_json_is_harmless_and_means_the_same(tmp_path: Path) -> None:
    file = tmp_path / f"gr\N{LATIN SMALL LETTER U WITH DIAERESIS}n{NAME}.txt"
    file.write_text("nothing that anybody reads\n")
    done = subprocess.run([DOCTORD, "read", "--json", file], capture_output=True, text=True, check=False)
    assert not [one for one in HARMFUL if one in done.stdout]
    assert json.loads(done.stdout)["files"][0]["file"] == str(file)
