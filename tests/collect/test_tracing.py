"""Live tracing of a small real server, with whatever this machine grants."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from doctord.collect.linux import strace
from doctord.collect.linux.tracee import Meter, command_of, family
from doctord.errors import UserError
from needs import needs_call_counts

# Accepts a connection from its own thread every 20 ms, and asks for the same file 40 times in each pass.
SERVER = """
import os, select, socket, threading, time
server = socket.create_server(("127.0.0.1", 0))
def connect():
    while True:
        socket.create_connection(server.getsockname()).close()
        time.sleep(0.02)
threading.Thread(target=connect, daemon=True).start()
print("ready", flush=True)
while True:
    select.select([server], [], [])
    connection, _ = server.accept()
    for _ in range(40):
        os.stat("/etc/hosts")
    connection.close()
"""

needs_strace = pytest.mark.skipif(not shutil.which("strace"), reason="no strace")


@pytest.fixture
def server() -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        yield process
        process.kill()


def traced(server: subprocess.Popen[str], *options: str) -> dict[str, Any]:
    doctord = Path(sys.executable).with_name("doctord")
    command = [doctord, "trace", "--pid", str(server.pid), "--for", "1.5s", "--json", *options]
    result = subprocess.run(command, capture_output=True, text=True, timeout=180, check=False)
    if result.returncode == 2 and "cannot trace" in result.stderr:
        pytest.skip(result.stderr.strip())
    assert result.returncode in {0, 1}, result.stderr
    document: dict[str, Any] = json.loads(result.stdout)
    return document


@pytest.mark.slow
@needs_strace
def test_strace_shows_the_loop_and_lets_the_process_go(server: subprocess.Popen[str], tmp_path: Path) -> None:
    kept = tmp_path / "kept.strace"
    document = traced(server, "--how", "strace", "--log", str(kept))
    loop, live = document["loop"], document["live"]
    assert (live["how"], live["pid"], live["ended"]) == ("strace", server.pid, "time")
    assert live["resident_bytes"] > live["page_tables_bytes"] > 0
    assert 5 < loop["passes"] < 90  # fewer where the machine is busy
    assert any(row["call"].endswith("stat") or "stat" in row["call"] for row in document["repetitions"])
    assert kept.stat().st_size > 10_000
    status = Path(f"/proc/{server.pid}/status").read_text()
    assert "TracerPid:\t0" in status
    assert server.poll() is None
    assert re.search(r"State:\t[RS]", status)


@pytest.mark.root
@needs_call_counts
def test_calls_are_summed_in_the_kernel_and_passes_timed(server: subprocess.Popen[str]) -> None:
    document = traced(server, "--how", "bpf")
    loop = document["loop"]
    stats = next(call for call in document["calls"] if "stat" in call["call"])
    accepts = next(call for call in document["calls"] if call["call"].startswith("accept"))
    assert document["live"]["how"] == "bpf"
    assert 20 < accepts["count"] < 90
    assert stats["count"] == pytest.approx(40 * accepts["count"], abs=80)
    assert loop["passes"] == pytest.approx(accepts["count"], abs=2)
    assert loop["mean_s"] < 0.02
    assert stats["p50_s"] <= stats["p95_s"] <= stats["max_s"]


@pytest.mark.root
@needs_call_counts
@needs_strace
def test_where_the_kernel_refuses_a_process_is_traced_with_strace(server: subprocess.Popen[str]) -> None:
    refused = ["setpriv", "--bounding-set=-bpf,-perfmon,-sys_admin", "--inh-caps=-bpf,-perfmon,-sys_admin"]
    doctord = [*refused, Path(sys.executable).with_name("doctord"), "trace", "--pid", str(server.pid), "--for", "1s"]
    result = subprocess.run([*doctord, "--json"], capture_output=True, text=True, timeout=180, check=False)
    live = json.loads(result.stdout)["live"]
    assert live["how"] == "strace"
    assert live["note"].startswith("the kernel does not let system calls be counted: ")
    assert live["note"].endswith(": strace was taken instead")
    told = subprocess.run([*doctord, "--how", "bpf"], capture_output=True, text=True, timeout=180, check=False)
    assert told.returncode == 2
    assert "hint: run it as root (CAP_BPF and CAP_PERFMON" in told.stderr


@needs_strace
def test_a_log_that_grows_too_long_ends_the_trace(server: subprocess.Popen[str], tmp_path: Path) -> None:
    log = tmp_path / "log"
    try:
        why = strace.record([server.pid], 20.0, log, limit_bytes=20_000)
    except UserError as refusal:
        pytest.skip(str(refusal))
    assert why == "limit"
    assert server.poll() is None


@needs_strace
def test_the_end_of_the_process_ends_the_trace(server: subprocess.Popen[str], tmp_path: Path) -> None:
    def kill(elapsed_s: float) -> None:
        if elapsed_s > 0.3:
            server.send_signal(signal.SIGKILL)

    began_s = time.monotonic()
    try:
        why = strace.record([server.pid], 20.0, tmp_path / "log", limit_bytes=1 << 30, progress=kill)
    except UserError as refusal:
        pytest.skip(str(refusal))
    assert why == "ended"
    assert time.monotonic() - began_s < 19  # asked for 20


def test_what_cannot_be_traced_is_refused_in_words() -> None:
    with pytest.raises(UserError, match="no process 4194303"):
        command_of(4194303)
    with pytest.raises(UserError, match="kernel"):
        command_of(2)
    with subprocess.Popen(["true"]) as ended:
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)  # a zombie
        with pytest.raises(UserError, match=r"\(true\) has ended"):
            command_of(ended.pid)


def test_the_family_of_a_process_holds_its_children(server: subprocess.Popen[str]) -> None:
    assert server.pid in family(os.getpid())
    assert family(server.pid) == [server.pid]


def test_a_process_that_ended_leaves_no_figure(server: subprocess.Popen[str]) -> None:
    meter = Meter([server.pid])
    time.sleep(0.1)
    assert (meter.used()["switches_per_s"] or 0) > 0
    server.kill()
    server.wait()
    assert meter.used() == {"cpu_ms_per_s": None, "switches_per_s": None}
