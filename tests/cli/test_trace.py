"""`doctord trace` on files, as a user calls it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from in_process import doctord

pytestmark = pytest.mark.slow

LINE = "{pid} {at:.6f} {call} = {result} <{seconds:.6f}>\n"


def log(pid: int, calls: int, seconds: float, name: str = 'stat("/etc/motd", 0x7ffd01)') -> str:
    """A process that makes the same call again and again, a millisecond apart."""
    begin = 1_700_000_000.0
    lines = [
        LINE.format(pid=pid, at=begin + i * (seconds + 0.001), call=name, result=0, seconds=seconds)
        for i in range(calls)
    ]
    return "".join(lines)


def trace(*arguments: str | Path, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    if stdin is None:
        return doctord("trace", *arguments)
    command = [Path(sys.executable).with_name("doctord"), "trace", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=180, check=False)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.strace"
    path.write_text(log(100, 200, 0.002))
    return path


def test_nothing_is_loaded_that_a_trace_does_not_need(file: Path) -> None:
    """Half of what the command cost was loading readers, and pandas for an empty table."""
    code = "import sys; from doctord.cli import main\ntry: main()\nfinally: print(*sys.modules, file=sys.stderr)"
    run = [sys.executable, "-c", code, "trace", str(file), "--json"]
    loaded = subprocess.run(run, capture_output=True, text=True, timeout=180, check=False).stderr.split()
    assert "doctord.diagnose.engine" in loaded
    assert {"pandas", "duckdb", "jinja2", "doctord.read.formats", "doctord.lake.query"} & set(loaded) == set()


def test_json_is_the_document_with_findings(file: Path) -> None:
    result = trace(file, "--json")
    document = json.loads(result.stdout)
    assert document["trace"]["calls"] == 200
    assert document["calls"][0]["call"] == "stat"
    assert document["comparison"] is None
    assert [finding["cause"] for finding in document["findings"]] == ["repeated_call"]
    assert (result.returncode, result.stderr) == (1, "")


def test_a_trace_that_blames_nothing_ends_with_zero(tmp_path: Path) -> None:
    file = tmp_path / "healthy"
    file.write_text(log(100, 5, 0.002, "poll([{fd=3, events=POLLIN}], 1, 1000)"))
    result = trace(file)
    assert result.returncode == 0
    assert result.stdout.startswith("No finding")


def test_two_files_are_compared(file: Path, tmp_path: Path) -> None:
    after = tmp_path / "b.strace"
    after.write_text(log(200, 200, 0.0001))
    result = trace(file, after, "--json")
    document = json.loads(result.stdout)
    assert document["trace"]["files"] == [str(after)]
    assert document["before"]["trace"]["files"] == [str(file)]
    assert document["comparison"]["changes"][0]["call"] == "stat"
    assert document["comparison"]["changes"][0]["kind"] == "faster"


@pytest.mark.parametrize("names", [("t.100", "t.200"), ("one", "two")])
def test_parts_of_one_trace_are_taken_together(tmp_path: Path, names: tuple[str, str]) -> None:
    files = [tmp_path / name for name in names]
    for pid, file in zip((100, 200), files, strict=True):
        file.write_text(log(pid, 10, 0.002))
    options = [] if "." in names[0] else ["--together"]
    document = json.loads(trace(*files, *options, "--json").stdout)
    assert (document["trace"]["calls"], document["trace"]["processes"]) == (20, 2)
    assert document["comparison"] is None


def test_standard_input(file: Path) -> None:
    result = trace("-", "--json", stdin=file.read_text())
    assert json.loads(result.stdout)["trace"]["calls"] == 200


def test_a_page_and_flame_graph_input_are_written(file: Path, tmp_path: Path) -> None:
    html, stacks = tmp_path / "page.html", tmp_path / "stacks"
    trace(file, "--html", html, "--folded", stacks)
    assert "stat" in html.read_text()
    assert all(line.rpartition(" ")[2].isdigit() for line in stacks.read_text().splitlines())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("/no/such/file",), "/no/such/file: No such file or directory"),
        (("-", "-"), "standard input can be read only once"),
        ((__file__,), "is no call trace"),
        ((__file__, "--html", "/no/such/folder/a.html"), "/no/such/folder/a.html cannot be written"),
    ],
)
def test_what_cannot_be_done_is_said(arguments: tuple[str, ...], message: str) -> None:
    result = trace(*arguments, stdin="")
    assert result.returncode == 2
    assert message in result.stderr
    assert "hint: " in result.stderr
    assert "Traceback" not in result.stderr


def test_without_a_loop_there_is_no_timeline(tmp_path: Path) -> None:
    file = tmp_path / "log"
    file.write_text(log(100, 3, 0.002, "getpid()"))
    result = trace(file, "--svg", tmp_path / "a.svg")
    assert result.returncode == 2
    assert "there is no timeline" in result.stderr
