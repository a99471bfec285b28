"""A lock of the application's own making that somebody forgot, and one that is given back at once."""

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from subprocess import Popen

from doctord.lab.dose import Dose
from doctord.lab.fault import ONE, fault
from doctord.lab.host.processes import running
from doctord.lab.server import PrivateServer

_JOBS = """
import sys, threading, time
import psycopg
def job(branch):
    with psycopg.connect(sys.argv[1], application_name="settlement", autocommit=True) as session:
        while True:
            with session.transaction():
                session.execute("update pgbench_branches set bbalance = bbalance + 1 where bid = %s", [branch])
                session.execute("select pg_advisory_xact_lock(4711)")
                time.sleep(0.002)
            time.sleep(0.2)
for branch in (1, 2, 3):
    threading.Thread(target=job, args=(branch,)).start()
"""


@fault(cause="table_locks", intensities=ONE)  # the lock is held, or it is not
def advisory_lock_chain(server: PrivateServer, _dose: Dose) -> Iterator[None]:
    """A session took an advisory lock, and is idle, outside of any transaction: its pool has it back, lock and all.

    Jobs change a branch and then want that lock: they wait for the idle session, and the light load, which needs the
    branches, for them.

    Seen: 2 sessions in `Lock: advisory` and 5 behind them in `Lock: transactionid` and `tuple`, the light load at 0.
    """
    with server.connect("import") as holder:
        holder.execute("select pg_advisory_lock(4711)")
        with _jobs(server):
            yield


@fault(cause=None)
def advisory_lock_brief(server: PrivateServer, _dose: Dose) -> Iterator[None]:
    """The look-alike of advisory_lock_chain: the same jobs and the same lock, which each has for two milliseconds.

    Nobody waits for long, neither for the lock nor for a branch.
    """
    with _jobs(server):
        yield


def _jobs(server: PrivateServer) -> AbstractContextManager[Popen[bytes]]:
    return running([sys.executable, "-c", _JOBS, server.dsn], server.folder / "jobs.log")
