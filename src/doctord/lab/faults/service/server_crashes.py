"""A server that goes down again and again."""

import sys
from collections.abc import Iterator

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.fault import fault
from doctord.lab.figures import log_lines
from doctord.lab.host.processes import running
from doctord.lab.server import PrivateServer

# As the kernel does when memory is out, or a bug in an extension.
_KILLER = """
import os, sys, time
import psycopg
while True:
    try:
        with psycopg.connect(sys.argv[1], application_name="victim") as session:
            os.kill(session.info.backend_pid, 9)
    except psycopg.OperationalError:
        pass
    time.sleep(float(sys.argv[2]))
"""
_CRASHES = Figure("crashes", "crashes", 1, log_lines("terminating any other active server processes"))


@fault(cause="server_restarted", effect=_CRASHES, restarts_load=True, warm_up_s=5.0)
def server_crashes(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """Every four seconds a session is killed by signal 9: the server ends all others and recovers.

    The application connects again, as applications do.

    Seen: "terminating any other active server processes" in the log, and "the database system is in recovery mode".
    """
    killer = [sys.executable, "-c", _KILLER, server.dsn, str(dose.of(10, 4, 2))]
    with running(killer, server.folder / "killer.log"):
        yield
