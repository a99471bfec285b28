"""A process that sends the log and shares its CPU with others: one that comes after them, and one that comes before."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from doctord.lab.dose import Dose
from doctord.lab.errors import LabError, UnavailableError
from doctord.lab.fault import fault
from doctord.lab.host.processes import running
from doctord.lab.server import PrivateServer

_NICE, _REAL_TIME = 19, 10
_CONNECT_S = 10.0


@fault(cause="log_writer_preempted")
def log_writer_preempted(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """The WAL sender of a synchronous standby shares one CPU with processes that come before it (it has nice 19).

    Each commit waits until it has sent the log and the standby, on this host, has confirmed it. The other CPUs are
    free. `log_writer_first` is the same with a higher priority.

    Seen: it runs for 7 ms of every second and waits for its CPU for a third of a second; commits take 7 ms.
    """
    with _sharing(server, _come_last, rivals=dose.of(1, 6, 20)):
        yield


@fault(cause=None)
def log_writer_first(server: PrivateServer, _dose: Dose) -> Iterator[None]:
    """The look-alike of log_writer_preempted: the same WAL sender, CPU and processes, but it is real time (SCHED_FIFO).

    A nice value would not do: on Linux 6.6 and later whoever runs may use up a slice before a task that is woken.

    Seen: it runs whenever it is woken; there is nothing to be found.
    """
    with _sharing(server, _come_first, rivals=6):
        yield


@contextmanager
def _sharing(server: PrivateServer, give_priority: Callable[[int], None], *, rivals: int) -> Iterator[None]:
    """A synchronous standby whose WAL sender has a priority, on one CPU with processes that compute."""
    archive = server.folder / "standby"
    archive.mkdir()
    receive: list[str | Path] = [
        server.binaries / "pg_receivewal",
        "--synchronous",
        "--no-loop",
        "-D",
        archive,
        "-d",
        server.dsn,
    ]
    with ExitStack() as beside:
        beside.enter_context(running(receive, server.folder / "standby.log"))
        sender, cpu = _sender(server), min(os.sched_getaffinity(0))
        os.sched_setaffinity(sender, {cpu})
        give_priority(sender)
        server.set(synchronous_standby_names="*")
        for _ in range(rivals):
            beside.enter_context(running(["taskset", "-c", str(cpu), "sha256sum", "/dev/zero"], Path(os.devnull)))
        yield


def _come_last(pid: int) -> None:
    """A low priority for a process and its session: each of PostgreSQL is one, and may be scheduled as such."""
    os.setpriority(os.PRIO_PROCESS, pid, _NICE)
    autogroup = Path(f"/proc/{pid}/autogroup")
    if autogroup.exists():
        autogroup.write_text(str(_NICE))


def _come_first(pid: int) -> None:
    try:
        os.sched_setscheduler(pid, os.SCHED_FIFO, os.sched_param(_REAL_TIME))
    except PermissionError as error:
        raise UnavailableError("a real-time priority needs root") from error


def _sender(server: PrivateServer) -> int:
    """The WAL sender, once the standby is connected."""
    deadline = time.monotonic() + _CONNECT_S
    with server.connect() as connection:
        while time.monotonic() < deadline:
            found = connection.execute("select pid from pg_stat_replication where state = 'streaming'").fetchone()
            if found is not None:
                return int(found[0])
            time.sleep(0.05)
    raise LabError("no standby connected", f"look at {server.folder}/standby.log (--keep)")
