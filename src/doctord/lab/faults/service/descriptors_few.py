"""Sessions that may not open another file, and sessions that may open as many as they need."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.errors import LabError
from doctord.lab.fault import fault
from doctord.lab.figures import log_lines
from doctord.lab.host.processes import running, server_user, tied
from doctord.lab.server import PrivateServer

_STARTS_S: Final = 10.0
# Some of the tables' files at a time: the server closes one before it opens another.
_ENOUGH: Final = 48
_REQUESTS = """
import sys, threading, time
from contextlib import suppress
import psycopg
def requests(session):
    while True:
        for table in ("pgbench_branches", "pgbench_tellers", "items", "purchases"):
            with suppress(psycopg.errors.InsufficientResources):
                session.execute(f"select count(*) from {table}")
            time.sleep(float(sys.argv[3]))
sessions = [
    psycopg.connect(sys.argv[1], application_name="web", autocommit=True, prepare_threshold=None)
    for _ in range(int(sys.argv[2]))
]
print(*(session.info.backend_pid for session in sessions), flush=True)
for session in sessions:
    threading.Thread(target=requests, args=[session]).start()
"""
_FAILED = Figure("requests that failed", "requests", 20, log_lines("Too many open files"))


@fault(cause="descriptors_used_up", effect=_FAILED)
def descriptors_few(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """The sessions of an application have as many descriptors open as they may, as where a library leaks them.

    Here the limit is brought down to what they have open but for files of tables (prlimit). The server closes files
    that it needs least before it opens others, and has none left to close: each look into a table fails.

    Seen: "could not open file: Too many open files" for each request, and nobody waits for anything.
    """
    with _web(server, clients=dose.of(1, 3, 8), pause_s=0.1) as backends:
        for pid in backends:
            _limit(pid, _open_but_for_tables(pid, server.data))
        yield


@fault(cause=None)
def descriptors_enough(server: PrivateServer, _dose: Dose) -> Iterator[None]:
    """The look-alike of descriptors_few: the same sessions, with a limit that has room for a few files of tables.

    There is nothing to be found.
    """
    with _web(server, clients=3, pause_s=0.1) as backends:
        for pid in backends:
            _limit(pid, _ENOUGH)
        yield


@contextmanager
def _web(server: PrivateServer, *, clients: int, pause_s: float) -> Iterator[list[int]]:
    """An application at work; gives the processes of its sessions."""
    log = server.folder / "web.log"
    with running([sys.executable, "-c", _REQUESTS, server.dsn, str(clients), str(pause_s)], log):
        deadline = time.monotonic() + _STARTS_S
        while not log.read_text().endswith("\n"):
            if time.monotonic() > deadline:
                raise LabError("the application did not start", f"look at {log} (--keep)")
            time.sleep(0.05)
        yield [int(pid) for pid in log.read_text().split()]


def _open_but_for_tables(pid: int, data: Path) -> int:
    """How many descriptors, from 0 on without a gap, are something else than files of tables, which may be closed."""
    tables = (f"{data}/base", f"{data}/global")
    opened = Path(f"/proc/{pid}/fd").iterdir()
    kept = {int(one.name) for one in opened if not str(one.readlink()).startswith(tables)}
    return next(number for number in range(len(kept) + 1) if number not in kept)


def _limit(pid: int, files: int) -> None:
    """As the server's user: whoever is another one, and root without CAP_SYS_RESOURCE, may not (prlimit(2))."""
    limited = ["prlimit", f"--pid={pid}", f"--nofile={files}:{files}"]
    subprocess.run(tied(limited, user=server_user()), check=True)
