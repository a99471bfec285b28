"""System calls counted in the kernel, of programs whose calls are known."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from doctord._native import CallCounter, syscall_number
from doctord.collect.bpf import calls
from doctord.errors import UserError
from needs import needs_call_counts

pytestmark = [pytest.mark.root, needs_call_counts]

ERROR_OF_EVERY_CALL = "import os\nfor _ in range(500):\n  try: os.stat('/nonexistent')\n  except OSError: pass"


@contextmanager
def waiting(program: str) -> Iterator[subprocess.Popen[str]]:
    """A process that has started, runs a program when a line comes, says so when it has, and waits on."""
    whole = f"print('ready', flush=True)\ninput()\n{program}\nprint('done', flush=True)\ninput()"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", whole], text=True, **pipes) as process:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        reads, until = f"{syscall_number('read')} ", time.monotonic() + 30
        while not Path(f"/proc/{process.pid}/syscall").read_text(encoding="ascii").startswith(reads):
            assert time.monotonic() < until, "it asks what its standard input is before it reads"
            time.sleep(0.001)
        yield process
        process.kill()


def counted(program: str) -> dict[str, dict[str, Any]]:
    """The calls of a program, by name."""
    with waiting(program) as process:
        assert process.stdin
        assert process.stdout
        counter = CallCounter([process.pid], [], [])
        process.stdin.write("go\n")
        process.stdin.flush()
        assert process.stdout.readline() == "done\n"
        told = counter.sums()["calls"]
    names = {name: syscall_number(name) for name in ("getppid", "newfstatat", "stat", "clock_nanosleep")}
    return {name: told[number] for name, number in names.items() if number in told}


def test_each_call_is_counted_once() -> None:
    ppid = counted("import os\nfor _ in range(10000): os.getppid()")["getppid"]
    assert ppid["count"] == 10_000
    assert sum(bucket["count"] for bucket in ppid["buckets"]) == 10_000
    assert 0 < ppid["ns"] < 1e9
    assert ppid["longest_ns"] <= ppid["ns"]


def test_what_fails_is_counted() -> None:
    told = counted(ERROR_OF_EVERY_CALL)
    assert sum(told[name]["errors"] for name in ("newfstatat", "stat") if name in told) == 500


def test_times_are_those_of_the_call_and_fall_into_its_bucket() -> None:
    sleep = counted("import time\nfor _ in range(5): time.sleep(0.02)")["clock_nanosleep"]
    assert sleep["count"] == 5
    assert sleep["longest_ns"] >= sleep["ns"] / 5 >= 20e6
    assert all(bucket["min"] >= 2**24 and bucket["max"] == 2 * bucket["min"] - 1 for bucket in sleep["buckets"])


FORKS = """
import os
for _ in range(20):
    if not (child := os.fork()):
        for _ in range(10): os.getppid()
        os._exit(0)
    os.waitpid(child, 0)
"""
THREADS = """
import os, threading
def work():
    for _ in range(10): os.getppid()
for _ in range(20):
    thread = threading.Thread(target=work); thread.start(); thread.join()
"""


@pytest.mark.parametrize("program", [FORKS, THREADS], ids=["processes", "threads"])
def test_what_is_forked_is_followed(program: str) -> None:
    assert counted(program)["getppid"]["count"] == 200


def test_another_process_is_not_counted() -> None:
    with waiting("") as other:
        counter = CallCounter([other.pid], [], [])
        time.sleep(0.1)
        assert counter.sums()["calls"] == {}


def test_the_end_of_the_process_ends_it() -> None:
    with waiting("") as process:
        began_s = time.monotonic()
        _, seconds, why = calls.observe([process.pid], 20.0, progress=lambda _: process.send_signal(signal.SIGKILL))
        assert why == "ended"
        assert seconds <= time.monotonic() - began_s < 19


def test_a_refusal_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise OSError("Operation not permitted (os error 1)")

    monkeypatch.setattr(calls, "CallCounter", refused)
    with pytest.raises(UserError, match="does not let system calls be counted: Operation not permitted") as refusal:
        calls.observe([1], 1.0)
    assert "--how strace" in (refusal.value.hint or "")
