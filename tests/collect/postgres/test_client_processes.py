"""Clients on this host that get no CPU: programs in control groups of their own, and stopped ones."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from doctord.collect.postgres.sessions import SessionCollector
from postgres_samples import link_to, rows_of
from servers import PostgresServer

pytestmark = pytest.mark.server

BURNING = """
import sys, time, psycopg
with psycopg.connect(sys.argv[1], autocommit=True) as connection:
    print(flush=True)
    while True:
        with connection.transaction():
            connection.execute("SELECT 1")
            until = time.thread_time() + 0.02
            while time.thread_time() < until: pass
            connection.execute("SELECT 2")
"""
QUOTA = Path("/sys/fs/cgroup/cpu")


@contextmanager
def client(dsn: str) -> Iterator[int]:
    """A program whose transactions hold 20 ms of work of its own; yields its process id."""
    with subprocess.Popen([sys.executable, "-c", BURNING, dsn], stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        try:
            yield process.pid
        finally:
            process.kill()


@contextmanager
def throttled(pid: int, part: float) -> Iterator[str]:
    """A control group with that quota, and a process in it; yields its path."""
    group = QUOTA / f"doctord-test-{pid}"
    try:
        group.mkdir()
        (group / "cpu.cfs_quota_us").write_text(str(int(part * 100_000)))
        (group / "cgroup.procs").write_text(str(pid))
    except OSError as error:
        pytest.skip(f"no control group may be made here: {error}")
    try:
        yield f"/{group.name}"
    finally:
        (QUOTA / "cgroup.procs").write_text(str(pid))
        group.rmdir()


def stop_in_transaction(server: PostgresServer, pid: int, program: str) -> None:
    asked = f"SELECT state FROM pg_stat_activity WHERE application_name = '{program}'"
    for _ in range(100):
        os.kill(pid, signal.SIGSTOP)
        if server.execute("SELECT pg_sleep(0.05)", asked) == [("idle in transaction",)]:
            return
        os.kill(pid, signal.SIGCONT)
        time.sleep(0.03)
    pytest.fail("the client was never stopped within its transaction")


def told(dsn: str, wanted: str, seconds: float = 20.0) -> dict[tuple[str, str], dict[str, Any]]:
    """The last rows of `client_process.*` by name and entity, until one of that name has come twice."""
    found, until, times = dict[tuple[str, str], dict[str, Any]](), time.monotonic() + seconds, 0
    with closing(SessionCollector(link_to(dsn))) as collector:
        while time.monotonic() < until and times < 2:
            for row in rows_of("statistic", collector.sample()):
                if row["name"].startswith("client_process."):
                    found[row["name"].partition(".")[2], row["entity"]] = row
                    times += row["name"] == f"client_process.{wanted}"
            time.sleep(0.05)
    return found


@pytest.mark.parametrize("host", ["socket", "127.0.0.1"])
def test_a_client_without_cpu_is_found_by_its_socket(server: PostgresServer, host: str) -> None:
    if os.geteuid():
        pytest.skip("whose a socket is, root alone may see of all")
    where = {} if host == "socket" else {"host": host}
    dsn = server.dsn(application_name="order page", **where)
    with client(dsn) as pid, throttled(pid, 0.05) as group:
        found = told(server.dsn("doctord"), "throttled_pct")
    assert found["throttled_pct", f"{pid} {group}"]["value"] > 20  # on a busy machine it has no CPU for its quota
    assert found["throttled_s_per_s", f"{pid} {group}"]["value"] > 0.5
    assert found["cpu_limit_cpus", f"{pid} {group}"]["value"] == pytest.approx(0.05)
    assert found["in_transaction", f"{pid} order page"]["value"] > 0.6
    assert found["active", f"{pid} order page"]["value"] < 0.2
    assert found["sessions", f"{pid} order page"]["value"] == 1
    assert found["stopped", str(pid)]["value"] == 0


def test_a_stopped_client_is_told(server: PostgresServer) -> None:
    if os.geteuid():
        pytest.skip("whose a socket is, root alone may see of all")
    with ExitStack() as stack:
        pids = [stack.enter_context(client(server.dsn(application_name=f"app {number}"))) for number in range(2)]
        for number, pid in enumerate(pids):
            stop_in_transaction(server, pid, f"app {number}")
        found = told(server.dsn("doctord"), "processes")
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
    first = str(min(pids))
    assert found["stopped", first]["value"] == 1
    assert found["processes", first]["value"] == 2
    waited = [found["in_transaction", f"{first} app {number}"]["value"] for number in range(2)]
    assert waited == pytest.approx([1, 1], abs=0.2)


def test_we_are_no_client_of_ours(server: PostgresServer) -> None:
    with server.connect() as own:
        own.execute("BEGIN")
        assert told(server.dsn("doctord"), "processes", 5.0) == {}
