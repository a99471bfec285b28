"""A real postmaster under strace while clients connect: its loop, its limit, and what makes it slow.

Each figure of the analysis is held against one that the test works out from the raw lines by itself.
"""

import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from servers import PostgresServer, running_postgres

SOURCE = Path(__file__).with_name("repeat_at_fork.c")
CLIENTS = 60
REPEATED = 300
IDLE = {"pselect6", "select", "poll", "ppoll", "epoll_wait", "epoll_pwait"}

pytestmark = [
    pytest.mark.server,
    pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler"),
    pytest.mark.skipif(not shutil.which("strace"), reason="no strace"),
]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = tmp_path_factory.mktemp("preloaded") / "repeat_at_fork.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", built, SOURCE, "-lpthread"], check=True)
    return built


@pytest.fixture(scope="module")
def traced(library: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., tuple["Log", dict[str, Any], int]]:
    """Traces a postmaster with these variables in its environment: its own log, doctord's document and exit status."""

    def trace(**variables: str) -> tuple[Log, dict[str, Any], int]:
        log = tmp_path_factory.mktemp("trace") / "postmaster.strace"
        with running_postgres() as server:
            server.stop()
            preloaded = shutil.copy(library, server.folder / library.name)  # where the server's user can read it
            with _environment(LD_PRELOAD=str(preloaded), **variables):
                server.start()
            _record(server, log)
            assert server.process is not None
            raw = Log(log, server.process.pid)
        doctord = Path(sys.executable).with_name("doctord")
        result = subprocess.run([doctord, "trace", log, "--json"], capture_output=True, text=True, check=False)
        return raw, json.loads(result.stdout), result.returncode

    return trace


def test_a_postmaster_that_repeats_a_call_before_each_fork(traced: Callable[..., Any]) -> None:
    raw, document, status = traced(AT_FORK_PARENT=str(REPEATED))
    assert status == 1
    check_loop(raw, document)
    repeated = document["repetitions"][0]
    inside = [call for one in raw.passes() for call in raw.within(one) if call.name == "access"]
    per_pass_s = sum(call.seconds for call in inside) / len(raw.passes())
    assert (repeated["call"], repeated["pid"], repeated["on_critical_path"]) == ("access", raw.pid, True)
    assert repeated["calls_per_pass"] == pytest.approx(REPEATED, rel=0.05)
    assert repeated["seconds_per_pass"] == pytest.approx(per_pass_s, rel=0.05)
    # Where CPUs are short a pass is longer than its calls, and what limits the loop may come first.
    [found] = [finding for finding in document["findings"][:2] if finding["cause"] == "repeated_call"]
    assert found["impact"] == pytest.approx(per_pass_s / raw.mean_pass_s(), abs=0.05)


def test_children_that_repeat_a_call_do_not_slow_the_postmasters_loop(traced: Callable[..., Any]) -> None:
    raw, document, _ = traced(AT_FORK_CHILD=str(REPEATED))
    check_loop(raw, document)
    repeated = document["repetitions"][0]
    assert (repeated["call"], repeated["on_critical_path"]) == ("access", False)
    assert repeated["role"].startswith("child")
    # As many again for the processes that the postmaster forks for itself while the trace is taken.
    assert CLIENTS * REPEATED <= repeated["calls"] <= 2 * CLIENTS * REPEATED
    assert "access" not in {part["call"] for part in document["loop"]["path"]}


def test_a_healthy_postmaster_is_blamed_for_nothing(traced: Callable[..., Any]) -> None:
    raw, document, status = traced()
    check_loop(raw, document)
    # On a busy machine a fork waits for a CPU, and is slow.
    others = [finding for finding in document["findings"] if finding["cause"] != "slow_fork"]
    assert others == []
    assert status == (0 if others == document["findings"] else 1)


def check_loop(raw: "Log", document: dict[str, Any]) -> None:
    """The loop, its limit and the cost of its forks, against the raw lines."""
    loop, passes = document["loop"], raw.passes()
    assert (loop["pid"], loop["anchor"]["call"] in IDLE) == (raw.pid, True)
    # Connections that come while one is being served are taken in the same pass.
    assert CLIENTS * 0.9 <= len(passes) <= CLIENTS + 1
    assert loop["complete_passes"] == len(passes)  # the trace may begin within another one
    assert loop["passes"] - loop["complete_passes"] <= 1
    lengths = [end - start for start, end in passes]
    assert loop["seconds_per_pass"] == pytest.approx(statistics.median(lengths), rel=0.02)
    assert loop["max_passes_per_second"] == pytest.approx(1 / statistics.mean(lengths), rel=0.02)
    clones = [call.seconds for call in raw.calls if call.name.startswith("clone")]
    births = next(row for row in document["births"] if row["parent"] == raw.pid)
    assert births["count"] == len(clones) >= CLIENTS
    assert births["mean_s"] == pytest.approx(statistics.mean(clones), rel=0.01)


@dataclass
class Call:
    """A call of the postmaster."""

    name: str
    start: float
    seconds: float
    failed: bool


class Log:
    """The postmaster's lines of a `strace -f -ttt -T` log, read in the simplest way."""

    LINE = re.compile(r"(\d+) +(\d+\.\d+) (?:<\.\.\. (\w+) resumed>|(\w+)\()(.*)")
    OUTCOME = re.compile(r"= ([-?]?).*<(\d+\.\d+)>$")  # ? where a signal interrupted it

    def __init__(self, file: Path, pid: int) -> None:
        self.pid = pid
        self.calls: list[Call] = []
        begun = ("", 0.0)
        for line in file.read_text(errors="replace").splitlines():
            match = self.LINE.match(line)
            if not match or int(match[1]) != pid:
                continue
            name, start = begun if match[3] else (match[4], float(match[2]))
            begun = (name, start)
            if outcome := self.OUTCOME.search(line):
                self.calls.append(Call(name, start, float(outcome[2]), bool(outcome[1])))
                begun = ("", 0.0)
        if begun[0]:  # the wait in which the trace ends
            self.calls.append(Call(*begun, 0.0, failed=True))

    def passes(self) -> list[tuple[float, float]]:
        """Start and end of each stretch between two idle waits in which a connection was accepted."""
        found, start, accepted = [], None, False
        for call in self.calls:
            if call.name in IDLE:
                if accepted and start is not None:
                    found.append((start, call.start))
                start, accepted = call.start + call.seconds, False
            accepted = accepted or (call.name.startswith("accept") and not call.failed)
        return found

    def within(self, one: tuple[float, float]) -> Iterator[Call]:
        return (call for call in self.calls if one[0] <= call.start < one[1])

    def mean_pass_s(self) -> float:
        return statistics.mean(end - start for start, end in self.passes())


def _record(server: PostgresServer, log: Path) -> None:
    """Trace the postmaster while clients connect one after the other."""
    assert server.process is not None
    command = ["strace", "-f", "-ttt", "-T", "-o", log, "-p", str(server.process.pid)]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as tracer:
        assert tracer.stderr is not None
        said = tracer.stderr.readline()
        try:
            if b"attached" not in said:
                pytest.skip(f"strace may not attach here: {said.decode().strip()}")
            for _ in range(CLIENTS):
                with server.connect():
                    pass
                time.sleep(0.005)
        finally:
            tracer.send_signal(signal.SIGINT)


@contextmanager
def _environment(**variables: str) -> Iterator[None]:
    """The variables for what is started meanwhile."""
    before = os.environ.copy()
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
