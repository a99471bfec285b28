"""A server that asks for the name of each client's address: of a name server that is late, and of one that is not."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Final

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.fault import fault
from doctord.lab.host.network import far_end
from doctord.lab.host.processes import running
from doctord.lab.load.logins import clients_that_log_in, last_login_s
from doctord.lab.server import DATABASE, PrivateServer

_ADDRESS: Final = "127.0.0.99"
# A view of the file systems of the server's own, in which it has its own name server.
_RESOLVER = (
    f'mount -t tmpfs none /mnt && echo "nameserver {_ADDRESS}" > /mnt/resolv.conf'
    ' && mount --bind /mnt/resolv.conf /etc/resolv.conf && exec "$@"'
)
_ENTRANCE = ("unshare", "--mount", "sh", "-c", _RESOLVER, "sh")
# It knows no name (NXDOMAIN), and says so after a while. RFC 1035, 4.1.1: the number, the flags, how many of what.
_NAMES = """
import socket, sys, threading, time
def answer(query, client):
    time.sleep(float(sys.argv[2]))
    names.sendto(query[:2] + bytes([0x81, 0x83, 0, 1, 0, 0, 0, 0, 0, 0]) + query[12:], client)
names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
names.bind((sys.argv[1], 53))
while True:
    threading.Thread(target=answer, args=names.recvfrom(512)).start()
"""


_LOGIN = Figure("until a client elsewhere is logged in", "s", 0.5, last_login_s)
_SETTINGS = {"log_hostname": "on"}
_ROOT_FOR = "a network of its own"


@fault(cause="logins_slow", effect=_LOGIN, settings=_SETTINGS, entrance=_ENTRANCE, root_for=_ROOT_FOR, warm_up_s=10.0)
def names_resolved_late(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """By log_hostname each new connection is asked a name server about first, which takes three seconds to answer.

    Four clients elsewhere connect anew each time. Whoever comes by the Unix socket has no address to look up, and is in
    at once: the light load, and an administrator.

    Seen: backends that wait for an answer from port 53, and that no view shows; the CPUs are idle.
    """
    with _coming(server, dose.of(1.5, 3.0, 4.5)):
        yield


@fault(cause=None, settings=_SETTINGS, entrance=_ENTRANCE, root_for=_ROOT_FOR, warm_up_s=4.0)
def names_resolved_at_once(server: PrivateServer, _dose: Dose) -> Iterator[None]:
    """The look-alike of names_resolved_late: the same clients and the same setting, and a name server that is quick.

    There is nothing to be found.
    """
    with _coming(server, 0.0):
        yield


@contextmanager
def _coming(server: PrivateServer, delay_s: float) -> Iterator[None]:
    with ExitStack() as beside:
        names = [sys.executable, "-c", _NAMES, _ADDRESS, str(delay_s)]
        beside.enter_context(running(names, server.folder / "names.log"))
        far = beside.enter_context(far_end(server))
        dsn = f"host={far.address} port={server.port} user=postgres dbname={DATABASE}"
        beside.enter_context(clients_that_log_in(server, dsn, 4, far.entrance))
        yield
