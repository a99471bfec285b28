"""A connection for every query, and connections that are kept."""

import shutil
from collections.abc import Iterator

from doctord.lab.dose import Dose
from doctord.lab.errors import UnavailableError
from doctord.lab.host.processes import running
from doctord.lab.mysql.clients import Script, clients
from doctord.lab.mysql.fault import fault
from doctord.lab.mysql.server import DATABASE, PrivateMySQL

_FOR_EVER = 1_000_000_000


@fault(cause="connection_churn")
def connection_churn(server: PrivateMySQL, dose: Dose) -> Iterator[None]:
    """Clients open a connection for every query and close it again, as fast as they can (mysqlslap --detach=1).

    The server starts and ends a thread for each, and sets up a session. What the queries do costs next to nothing.
    """
    options = server.folder / "slap.cnf"
    options.touch(mode=0o600)
    options.write_text(f"[client]\nsocket={server.socket}\nuser=app\npassword={server.secret}\n")
    command = [_slap(server), f"--defaults-file={options}", f"--create-schema={DATABASE}", "--no-drop", "--detach=1"]
    command += ["--query=SELECT 1", f"--number-of-queries={_FOR_EVER}", f"--concurrency={dose.of(1, 2, 16)}"]
    with running(command, server.folder / "slap.log"):
        yield


@fault(cause=None)
def connections_kept(server: PrivateMySQL, dose: Dose) -> Iterator[None]:
    """The look-alike of connection_churn: the same queries, two hundred a second, over connections that are kept.

    There is nothing to be found.
    """
    with clients(server, [Script(("SELECT 1",))], seed=dose.seed, clients=4, rate_per_s=200):
        yield


def _slap(server: PrivateMySQL) -> str:
    """Clients in Python would cost more than the server, and open few connections."""
    name = "mariadb-slap" if server.program.is_mariadb else "mysqlslap"
    beside = str(server.program.path.parent)
    found = shutil.which(name, path=beside) or shutil.which(name)
    if found is None:
        raise UnavailableError(f"{name} was not found: it comes with the server's client programs")
    return found
