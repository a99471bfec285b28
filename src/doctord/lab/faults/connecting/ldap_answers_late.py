"""Logins that a directory has to answer for: one that is late, and one that is not."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

import psycopg

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.errors import LabError
from doctord.lab.fault import fault
from doctord.lab.host.processes import running
from doctord.lab.load.logins import clients_that_log_in
from doctord.lab.server import DATABASE, PrivateServer

_STARTS_S = 10.0
# It takes every password. A BindRequest of few letters has its number in the fifth byte (RFC 4511, 4.1.1 and 4.2).
_DIRECTORY = """
import socket, sys, threading, time
def answer(client):
    with client:
        while request := client.recv(4096):
            if request[5] == 0x60:
                time.sleep(float(sys.argv[1]))
                client.sendall(bytes([0x30, 12, 2, 1, request[4], 0x61, 7, 10, 1, 0, 4, 0, 4, 0]))
with socket.create_server(("127.0.0.1", 0), backlog=128) as server:
    print(server.getsockname()[1], flush=True)
    while True:
        threading.Thread(target=answer, args=(server.accept()[0],)).start()
"""


def _login_s(server: PrivateServer) -> float:
    """How long a login of the application takes; refused while nobody knows its role."""
    began = monotonic()
    psycopg.connect(_dsn(server)).close()
    return monotonic() - began


_LOGIN = Figure("until the application is logged in", "s", 0.5, _login_s)


@fault(cause="logins_slow", effect=_LOGIN, warm_up_s=4.0)
def ldap_answers_late(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """By pg_hba.conf the application's passwords are asked of a directory (LDAP), which takes three seconds.

    Its four clients connect anew each time. An administrator, who comes by the Unix socket, is in at once.

    Seen: backends whose title says `authentication`, and that no view shows; the CPUs are idle.
    """
    with _logging_in(server, dose.of(1.5, 3.0, 8.0)):
        yield


@fault(cause=None, warm_up_s=4.0)
def ldap_answers_at_once(server: PrivateServer, _dose: Dose) -> Iterator[None]:
    """The look-alike of ldap_answers_late: the same clients and the same directory, which is quick.

    There is nothing to be found.
    """
    with _logging_in(server, 0.0):
        yield


@contextmanager
def _logging_in(server: PrivateServer, delay_s: float) -> Iterator[None]:
    log = server.folder / "directory.log"
    with running([sys.executable, "-c", _DIRECTORY, str(delay_s)], log):
        server.execute("create role app login")
        _ask_directory(server, _port(log))
        with clients_that_log_in(server, _dsn(server), 4):
            yield


def _ask_directory(server: PrivateServer, port: int) -> None:
    rules = server.data / "pg_hba.conf"
    asked = f'host all app 127.0.0.1/32 ldap ldapserver=127.0.0.1 ldapport={port} ldapprefix="cn="\n'
    rules.write_text(asked + rules.read_text())
    server.execute("select pg_reload_conf()")


def _port(log: Path) -> int:
    """Where the directory listens, once it does."""
    deadline = monotonic() + _STARTS_S
    while monotonic() < deadline:
        if (told := log.read_text()).endswith("\n"):
            return int(told)
        sleep(0.05)
    raise LabError("the directory did not start", f"look at {log} (--keep)")


def _dsn(server: PrivateServer) -> str:
    return f"host=127.0.0.1 port={server.port} user=app password=secret dbname={DATABASE}"
