"""The server logs every statement: its log collector is kept from its work, and the same while it is not."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

from doctord.lab.dose import Dose
from doctord.lab.errors import LabError
from doctord.lab.fault import fault
from doctord.lab.host.processes import running
from doctord.lab.server import PrivateServer

_ALL = {"logging_collector": "on", "log_statement": "all", "log_filename": "all.log"}
# It works for a moment at a time: a pipe holds 64 KiB, and the light load writes more than that in a second. Should the
# lab be killed, it is let go: a server whose log nobody takes could not even end.
_STOP_AND_GO = (
    'trap \'kill -CONT "$1"; exit\' TERM\nwhile kill -STOP "$1"; do sleep "$2"; kill -CONT "$1"; sleep 0.005; done'
)


@fault(cause="server_log_slow", settings=_ALL)
def log_read_slowly(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """Every statement is logged, and the log collector is stopped for all but a moment of each second.

    Its pipe is full: every session waits in write(2), for which PostgreSQL has no wait event, until there is room.
    `log_of_all_statements` is the same with a collector that is quick.

    Seen: the light load does 40 transactions a second instead of 100; sessions are active, and no CPU is busy.
    """
    collector = _collector(server)
    try:
        stopper = ["sh", "-c", _STOP_AND_GO, "sh", str(collector), dose.of("0.7", "1", "3")]
        with running(stopper, Path(os.devnull), on_death="TERM"):
            yield
    finally:
        os.kill(collector, signal.SIGCONT)


@fault(cause=None, settings=_ALL)
def log_of_all_statements(server: PrivateServer, _dose: Dose) -> Iterator[None]:
    """The look-alike of log_read_slowly: every statement is logged, into a file, by a collector that keeps up.

    It costs CPU time and room on the disk, and nobody waits for it.

    Seen: the light load is as quick as without.
    """
    _collector(server)
    yield


def _collector(server: PrivateServer) -> int:
    """The process that reads what the server logs."""
    parent = str(server.process.pid)
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                told = (process / "stat").read_text().rpartition(")")[2].split()
                title = (process / "cmdline").read_bytes()
            except OSError:  # it has ended
                continue
            if told[1] == parent and b"logger" in title:
                return int(process.name)
    raise LabError("the server has no log collector", f"look at {server.folder}/postgresql.log (--keep)")
