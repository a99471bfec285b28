"""A limit of addresses for each of the server's processes (ulimit -v), and one with room."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.fault import fault
from doctord.lab.figures import log_lines
from doctord.lab.host.processes import running, server_user, tied
from doctord.lab.server import PrivateServer
from doctord.regex import regex

_MIB = 2**20
_ROOM_BYTES = 150 * _MIB
_PEAK = regex(r"^VmPeak:\s+(\d+) kB$")
# Each holds 200 MB of text at once, as a report does that puts a document together.
_REPORTS = """
import sys, threading, time
import psycopg
def reports():
    while True:
        try:
            with psycopg.connect(sys.argv[1], application_name="report", autocommit=True) as session:
                while True:
                    time.sleep(float(sys.argv[2]))
                    session.execute("select length(repeat('x', 200000000))")
        except psycopg.Error as failed:
            print(failed, flush=True)
for _ in range(2):
    threading.Thread(target=reports).start()
"""
_FAILED = Figure("reports that found no memory", "reports", 5, log_lines("out of memory"))


@fault(cause="out_of_memory", effect=_FAILED)
def address_space_limited(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """A process of the server may have 150 MB of addresses more than it begins with; two sessions make large reports.

    The host has memory enough, and so has every setting of the server.

    Seen: "out of memory", "Failed on request of size", for each report.
    """
    with _reporting(server, _ROOM_BYTES, pause_s=dose.of(2.0, 0.5, 0.1)):
        yield


@fault(cause=None)
def address_space_ample(server: PrivateServer, _dose: Dose) -> Iterator[None]:
    """The look-alike of address_space_limited: the same reports, and a limit of 4 GB beyond what a process begins with.

    There is nothing to be found.
    """
    with _reporting(server, 4096 * _MIB, pause_s=0.5):
        yield


@contextmanager
def _reporting(server: PrivateServer, room_bytes: int, *, pause_s: float) -> Iterator[None]:
    """New processes have the postmaster's limit, which its user may lower."""
    own = [line for line in Path(f"/proc/{server.process.pid}/status").read_text().splitlines() if _PEAK.match(line)]
    limit = int(own[0].split()[1]) * 1024 + room_bytes
    command = tied(["prlimit", f"--pid={server.process.pid}", f"--as={limit}"], user=server_user())
    subprocess.run(command, check=True)
    reports = [sys.executable, "-c", _REPORTS, server.dsn, str(pause_s)]
    with running(reports, server.folder / "reports.log"):
        yield
