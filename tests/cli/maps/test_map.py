"""`doctord map` as a user calls it."""

import json
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from fcntl import ioctl
from pathlib import Path

import pytest

from doctord.dataset.rows import rows
from doctord.lake.writer import LakeWriter
from in_process import doctord
from needs import needs_bpftrace

pytestmark = pytest.mark.slow

DOCTORD = Path(sys.executable).with_name("doctord")
RECORD = """<begin record>
timestamp, microsec, {second}000000, 26-AUG-13 04.26.{second:02d}.000000 PM +02:00
label, {label}
latencyunit, microsec
datasource, oracle
{counts}
<end record>
"""


def records(label: str = "log file sync", number: int = 30) -> str:
    """Counters of two buckets that grow by 10 and by 1 a second."""
    return "".join(
        RECORD.format(second=second, label=label, counts=f"512, {10 * second}\n8192, {second}")
        for second in range(number)
    )


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "records.txt"
    path.write_text(records())
    return path


def run(*arguments: str | Path, stdin: str | None = None, command: str = "map") -> subprocess.CompletedProcess[str]:
    if stdin is None:
        return doctord(command, *arguments)
    return subprocess.run(
        [DOCTORD, command, *arguments], input=stdin, capture_output=True, text=True, timeout=180, check=False
    )


def test_both_maps_are_printed(file: Path) -> None:
    result = run(file)
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0] == "log file sync"
    assert "WAITS  now 11  most 11  mean 11" in result.stdout
    assert "TIME WAITED  now 9.98 ms  most 9.98 ms  mean 9.98 ms" in result.stdout
    assert max(map(len, lines)) <= 80
    assert "* 91 % took around 384 us (269 us to 499 us)" in result.stdout


def test_json_is_one_document(file: Path) -> None:
    document = json.loads(run(file, "--json").stdout)
    assert document["subject"] == "log file sync"
    assert len(document["columns"]) == 29
    assert document["whole"]["count"] == 29 * 11
    assert document["whole"]["time_is"] == "estimated"
    assert document["columns"][0]["buckets"][0] == {"gt_us": 256.0, "le_us": 512.0, "count": 10, "waited_us": None}


def test_standard_input_and_several_files(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text(records("db file sequential read", 10))
    assert run("-", stdin=records()).stdout == run(file).stdout
    listed = run(file, other, "--list").stdout.splitlines()
    assert [line.split()[0] for line in listed[1:]] == ["319", "99"]
    assert run(file, other, "--event", "db file sequential read").stdout.startswith("db file sequential read\n")


def test_moments_bound_what_is_drawn(file: Path) -> None:
    document = json.loads(run(file, "--json", "--from", "2013-08-26T14:26:10", "--to", "2013-08-26T14:26:15").stdout)
    assert [column["end"][17:19] for column in document["columns"]] == ["11", "12", "13", "14", "15"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--event", "log file"], "no latencies of 'log file'\nhint: did you mean log file sync?"),
        (["--zone", "Mars/Olympus"], "there is no time zone 'Mars/Olympus'"),
        (["--db", "oracle:x"], "no latencies of 'log file sync' on oracle:x"),
        (["--from", "2020-01-01"], "there are no latencies in it"),
    ],
)
def test_what_cannot_be_done_is_said(file: Path, arguments: list[str], message: str) -> None:
    result = run(file, *arguments)
    assert result.returncode == 2
    assert message in result.stderr
    assert not result.stdout


@pytest.mark.parametrize("arguments", [[], ["--speed", "10"]])
def test_a_replay_off_a_terminal_is_refused(file: Path, arguments: list[str]) -> None:
    result = run(file, *arguments, command="map-replay")
    assert result.returncode == 2
    assert "a replay needs a terminal\nhint: doctord map" in result.stderr


def test_where_no_source_is_named_it_is_the_last_hour_of_the_usual_lake(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = tmp_path / "lake"
    now = datetime.now(UTC)
    with LakeWriter(lake) as writer:
        for hours in (2, 0.5):
            sample = {"ts": int((now - timedelta(hours=hours)).timestamp() * 1e6), "interval_s": 1.0, "host": "a"}
            timed = {"subject": "fdatasync", "le_us": 512.0, "gt_us": 256.0, "count": 3}
            writer.append(rows("latency", [sample | timed]))
    monkeypatch.setenv("DOCTORD_LAKE", str(lake))
    assert json.loads(run("--json").stdout)["whole"]["count"] == 3
    assert json.loads(run("--json", "--from", "-3h").stdout)["whole"]["count"] == 6
    assert json.loads(run("--list", "--json").stdout)[0]["count"] == 3
    assert json.loads(run(lake, "--json").stdout)["whole"]["count"] == 6
    monkeypatch.setenv("DOCTORD_LAKE", str(tmp_path / "none"))
    nothing = run()
    assert nothing.returncode == 2
    assert "doctord map-live" in nothing.stderr


def test_a_live_map_off_a_terminal_needs_an_end() -> None:
    result = run(command="map-live")
    assert result.returncode == 2
    assert "without a terminal nobody can end it\nhint: say how long: --for 1m" in result.stderr


def test_what_can_be_mapped_live_is_listed() -> None:
    result = run("--list", command="map-live")
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[0].split()[:2] == ["timed", "by"]
    assert "and every system call" in result.stdout
    known = json.loads(run("--list", "--json", command="map-live").stdout)
    assert {"name", "db", "source"} <= set(known[0])


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "passwd"
    other.write_text("root:x:0:0:root:/root:/bin/sh\n")
    result = run(other)
    assert result.returncode == 2
    assert "no format that Doctor D reads" in result.stderr


class Terminal:
    """A terminal on which a program runs."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor, self.seen = descriptor, ""

    def until(self, text: str) -> None:
        """Read until a text was shown after the one before."""
        deadline = time.monotonic() + 60
        while text not in self.seen:
            assert time.monotonic() < deadline, self.seen
            if select.select([self._descriptor], [], [], 0.2)[0]:
                self.seen += os.read(self._descriptor, 65536).decode()
        self.seen = self.seen.partition(text)[2]

    def press(self, keys: str) -> None:
        os.write(self._descriptor, keys.encode())

    def resize(self, lines: int, columns: int) -> None:
        ioctl(self._descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))


def _own_terminal(descriptor: int) -> None:
    os.setsid()
    ioctl(descriptor, termios.TIOCSCTTY, 0)


@contextmanager
def on_terminal(
    command: str, *arguments: str | Path, stdin: int | None = None, **environment: str
) -> Iterator[tuple[Terminal, "subprocess.Popen[bytes]"]]:
    ours, theirs = pty.openpty()
    terminal = Terminal(ours)
    terminal.resize(30, 100)
    environment = {**os.environ, "TERM": "xterm-256color", **environment}
    words = [DOCTORD, command, *arguments]
    own = {"stdout": theirs, "stderr": theirs, "env": environment, "preexec_fn": lambda: _own_terminal(theirs)}
    with subprocess.Popen(words, stdin=theirs if stdin is None else stdin, **own) as child:
        os.close(theirs)
        try:
            yield terminal, child
        finally:
            child.kill()
            os.close(ours)


def test_a_replay_follows_the_keys(file: Path) -> None:
    # Some shells export the size that the terminal had once.
    with on_terminal("map-replay", file, "--speed", "1000", NO_COLOR="", COLUMNS="80", LINES="24") as (terminal, child):
        terminal.until("\x1b[?1049h")
        terminal.until("REPLAY x1000")
        terminal.until("\x1b[48;5;")
        terminal.press(" ")
        terminal.until("PAUSED")
        terminal.press("\x1b[D")
        terminal.until("waits, 0 % of 11")
        terminal.press("\x1b[B\x1b[B\x1b[B")
        terminal.until("10 waits, 90.9 % of 11")
        terminal.resize(10, 30)
        terminal.until("a map needs 40 columns and 14 lines")
        terminal.resize(24, 80)
        terminal.until("log file sync")
        terminal.press("q")
        terminal.until("\x1b[?1049l")
        terminal.until("WAITS")  # it stays printed
        assert child.wait(60) == 0


def test_a_pipe_is_shown_as_it_grows() -> None:
    reading, writing = os.pipe()
    with on_terminal("map", "-", stdin=reading, NO_COLOR="1") as (terminal, child), os.fdopen(writing, "w") as pipe:
        os.close(reading)
        for seconds in (3, 6):
            pipe.write(records(number=seconds).removeprefix(records(number=seconds - 3)))
            pipe.flush()
            terminal.until(f"|{'#' * (seconds - 1)}|")
        terminal.press("q")
        terminal.until("\x1b[?1049l")
        assert child.wait(60) == 0


def test_page_and_pictures_are_written_beside_what_is_printed(file: Path, tmp_path: Path) -> None:
    html, svg, png = (tmp_path / f"map.{form}" for form in ("html", "svg", "png"))
    result = run(file, "--html", html, "--svg", svg, "--png", png)
    assert result.returncode == 0, result.stderr
    assert "WAITS" in result.stdout
    assert '<option value="0">log file sync</option>' in html.read_text(encoding="utf-8")
    assert "log file sync" in svg.read_text(encoding="utf-8")
    assert png.read_bytes().startswith(b"\x89PNG")


def test_a_file_that_cannot_be_written_is_said_first(file: Path, tmp_path: Path) -> None:
    result = run(file, "--png", tmp_path / "nowhere" / "map.png")
    assert result.returncode == 2
    assert "map.png cannot be written" in result.stderr
    assert result.stdout == ""


def test_what_differs_after_a_moment_is_said_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "records.txt"
    # From second 11 on the waits take the other way round.
    counts = [(10 * second, second) if second <= 10 else (90 + second, 10 * second - 90) for second in range(30)]
    path.write_text(
        "".join(
            RECORD.format(second=second, label="log file sync", counts=f"512, {fast}\n8192, {slow}")
            for second, (fast, slow) in enumerate(counts)
        )
    )
    result = run(path, "--at", "2013-08-26T14:26:10", command="map-compare")
    assert result.returncode == 0, result.stderr
    assert "Waits per second: 11 in A, 11 in B: as many." in result.stdout
    assert "81.8 % of the waits lie elsewhere" in " ".join(result.stdout.split())
    page = tmp_path / "compared.html"
    asked = ("--at", "2013-08-26T14:26:10", "--json", "--html", page)
    compared = json.loads(run(path, *asked, command="map-compare").stdout)["compared"]
    assert '"compareAt":1377527170000' in page.read_text(encoding="utf-8").replace('": ', '":')
    assert (compared["a"]["count"], compared["b"]["count"]) == (110, 209)
    assert compared["moved"] == pytest.approx(9 / 11)


@pytest.mark.root
@needs_bpftrace
def test_ctrl_c_ends_a_live_map_and_prints_what_was_seen(tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    command = [DOCTORD, "map-live", "--event", "pread64", "--interval", "1s", "--for", "1h", "--record", lake, "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        try:
            while not any(segment.stat().st_size > 100 for segment in lake.glob("open/*")):
                assert child.poll() is None, child.communicate()
                time.sleep(0.1)
            child.send_signal(signal.SIGINT)
            out, err = child.communicate(timeout=180)
        finally:
            child.kill()
    assert child.returncode == 0, err
    kept = json.loads(run(lake, "--event", "pread64", "--json").stdout)
    counted = [[column["count"] for column in told["columns"] if column["count"]] for told in (kept, json.loads(out))]
    assert counted[0] == counted[1]  # on a busy machine columns of a lake may lie apart


def test_records_of_pylatencymap_come_out_as_they_went_in(file: Path, tmp_path: Path) -> None:
    result = run(file, command="map-export")
    assert result.returncode == 0, result.stderr
    again = tmp_path / "again.txt"
    again.write_text(result.stdout)
    assert run(again, "--json").stdout == run(file, "--json").stdout


def test_a_unit_that_a_file_does_not_say_is_the_users(tmp_path: Path) -> None:
    file = tmp_path / "loop.dtrace"
    file.write_text("value ------------- Distribution ------------- count\n1 |@ 16\n2 | 0\n")
    assert "20 ms" in run(file, "--unit", "10ms").stdout
    unsaid = run(file)
    assert "values are taken for nanoseconds" in unsaid.stderr
