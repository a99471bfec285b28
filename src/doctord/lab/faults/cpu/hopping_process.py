"""A session that is moved from CPU to CPU, and one that is left alone."""

import os
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.errors import UnavailableError
from doctord.lab.fault import fault
from doctord.lab.figures import answer
from doctord.lab.host.processes import running
from doctord.lab.server import PrivateServer

# Inside work_mem: a longer series goes to temporary files, and takes the disk.
_REPORT = "select count(*) from generate_series(1, 50000) as a, generate_series(1, 50000) as b where (a # b) % 7 = 0"
_MOVE = """
import itertools, os, sys, time
for cpu in itertools.cycle(map(int, sys.argv[3:])):
    os.sched_setaffinity(int(sys.argv[1]), {cpu})
    time.sleep(float(sys.argv[2]))
"""


def _moves(server: PrivateServer) -> float | None:
    """How often the session was moved to another CPU; null before there is one."""
    pid = answer("select pid from pg_stat_activity where application_name = 'report'")(server)
    if pid is None:
        return None
    lines = Path(f"/proc/{pid:.0f}/sched").read_text().splitlines()
    return next(float(line.split()[-1]) for line in lines if line.startswith("se.nr_migrations"))


_MOVES = Figure("moves of the session", "moves", 1000, _moves)


@fault(cause="process_hops", effect=_MOVES)
def hopping_process(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """Somebody sets the CPU of a session that computes a report anew, hundreds of times a second.

    As a script does that balances by taskset, or a program that binds its threads to the CPU with the least to do.
    `staying_process` is the same report left alone.

    Seen: 300 moves of the session a second and more, while a CPU is idle; the light load notices nothing.
    """
    cpus = sorted(os.sched_getaffinity(0))[:2]
    if len(cpus) < 2:
        raise UnavailableError("a process cannot hop on one CPU")
    with _report(server) as pid:
        moved = [str(pid), str(dose.of(0.005, 0.002, 0.0005)), *map(str, cpus)]
        with running([sys.executable, "-c", _MOVE, *moved], Path(os.devnull)):
            yield


@fault(cause=None)
def staying_process(server: PrivateServer, _dose: Dose) -> Iterator[None]:
    """The look-alike of hopping_process: the same report, left alone.

    It has a CPU to itself for as long as it computes.

    Seen: a move now and then; there is nothing to be found, the other CPUs are free.
    """
    with _report(server):
        yield


@contextmanager
def _report(server: PrivateServer) -> Iterator[int]:
    """A session that computes until the context ends; gives its process."""
    with closing(server.connect("report")) as session:
        session.pgconn.send_query(_REPORT.encode())
        yield session.info.backend_pid
        session.cancel_safe(timeout=5)
