"""A log writer that shares its CPU with others: one that comes after them, and one that comes before."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from doctord.lab.errors import LabError, UnavailableError
from doctord.lab.fault import fault
from doctord.lab.processes import running
from doctord.lab.server import PrivateServer
from doctord.lab.workload import workload

_SETTINGS = {"synchronous_commit": "off", "wal_writer_delay": "10ms"}
_RIVALS = 2
_AFTER, _BEFORE = 10, -10
_SCRIPT = "insert into doctord_log select n, repeat('x', 200) from generate_series(1, 200) as n;\n\\sleep 20 ms\n"


@fault(cause="log_writer_preempted", settings=_SETTINGS)
def log_writer_preempted(server: PrivateServer, seed: int) -> Iterator[None]:
    """The WAL writer is bound to one CPU, on which two other processes compute, and comes after them (nice 10).

    Commits are asynchronous, so that it is the one that writes the log. The other CPUs are free. `log_writer_first` is
    the same with a higher priority.

    Seen: the WAL writer runs for 12 ms of every second and waits for its CPU for half a second and more.
    """
    with _sharing(server, seed, _AFTER):
        yield


@fault(cause=None, settings=_SETTINGS)
def log_writer_first(server: PrivateServer, seed: int) -> Iterator[None]:
    """The look-alike of log_writer_preempted: the same WAL writer, CPU and processes, but it comes first (nice -10).

    Setting a priority below 0 needs root.

    Seen: it runs whenever it is woken; there is nothing to be found.
    """
    with _sharing(server, seed, _BEFORE):
        yield


@contextmanager
def _sharing(server: PrivateServer, seed: int, nice: int) -> Iterator[None]:
    """The WAL writer on one CPU with processes that compute, at this nice value."""
    server.execute("create table if not exists doctord_log (number bigint, text text)")
    with server.connect() as connection:
        found = connection.execute("select pid from pg_stat_activity where backend_type = 'walwriter'").fetchone()
    if found is None:
        raise LabError("the server has no WAL writer", "look at its log")
    cpu, writer = min(os.sched_getaffinity(0)), int(found[0])
    os.sched_setaffinity(writer, {cpu})
    try:
        os.setpriority(os.PRIO_PROCESS, writer, nice)
    except PermissionError as error:
        raise UnavailableError("a priority below 0 needs root") from error
    with ExitStack() as beside:
        beside.enter_context(workload(server, seed=seed, clients=2, script=_SCRIPT))
        for _ in range(_RIVALS):
            beside.enter_context(running(["taskset", "-c", str(cpu), "sha256sum", "/dev/zero"], Path(os.devnull)))
        yield
