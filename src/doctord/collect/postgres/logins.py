"""Logging in to PostgreSQL as a client does, timed part by part.

libpq says how far it is. Where a login is refused, only the first answer is timed for a while: to the question whether
there is TLS (SSLRequest), which a backend answers before anybody is authenticated, and after which a client may leave
without a line in the server's log.
"""

import select
import socket
import struct
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from typing import Final

from psycopg import pq

from doctord.collect.core.probe import Login, Part
from doctord.collect.postgres.connect import Target, login_of

REFUSED_S: Final = 300.0  # each try that is refused is a line in the server's log
PROGRAM: Final = "doctord-probe"
CONNECT, ANSWER, AUTHENTICATION, QUERY = "TCP connect", "first answer", "authentication", "first query"
NOT_CONNECTED: Final = (pq.ConnStatus.STARTED, pq.ConnStatus.NEEDED, pq.ConnStatus.BAD)
SSL_REQUEST: Final = struct.pack("!ii", 8, 80877103)  # PostgreSQL documentation, "Message Formats"
ANYWHERE: Final = ("192.0.2.1", 9)  # RFC 5737; connecting a datagram socket sends nothing


class FullLogin:
    """A login with all that belongs to it, as long as it is let in; else what can be timed of it."""

    def __init__(self, target: Target) -> None:
        """Nothing is connected yet."""
        host, port = str(target.parameters.get("host", "")), int(target.parameters.get("port") or 5432)
        is_local = host.startswith(("/", "@")) or not host
        self.subject = "login local" if is_local else "login network"
        self._target = target
        self._first_answer = FirstAnswer(self.subject, f"{host}/.s.PGSQL.{port}" if is_local else (host, port))
        self._again_at = 0.0

    def parts(self, deadline: float) -> Iterator[Part]:
        """Log in, ask `select 1`, and leave."""
        if time.monotonic() < self._again_at:
            yield from self._first_answer.parts(deadline)
            return
        conninfo, identity = login_of(self._target, program=PROGRAM)
        watch = _Stopwatch(deadline)
        with identity:
            connection = pq.PGconn.connect_start(conninfo.encode())
        try:
            yield from self._log_in(connection, watch)
        except TimeoutError:
            yield watch.given_up()
        finally:
            connection.finish()

    def _log_in(self, connection: pq.abc.PGconn, watch: "_Stopwatch") -> Iterator[Part]:
        watch.begin(CONNECT if self.subject == "login network" else ANSWER)
        state: int = pq.PollingStatus.WRITING
        while state in {pq.PollingStatus.READING, pq.PollingStatus.WRITING}:
            is_reading = state == pq.PollingStatus.READING
            watch.wait(connection.socket, for_reading=is_reading)
            state = connection.connect_poll()
            if watch.part == CONNECT and connection.status not in NOT_CONNECTED:
                yield watch.ended(then=ANSWER)
            elif watch.part == ANSWER and is_reading:
                yield watch.ended(then=AUTHENTICATION)
        if state != pq.PollingStatus.OK:
            self._again_at = time.monotonic() + REFUSED_S
            return
        yield watch.ended(then=QUERY)
        connection.send_query(b"select 1")
        while connection.is_busy() or connection.flush():
            watch.wait(connection.socket, for_reading=True)
            connection.consume_input()
        yield watch.ended(then=QUERY)


class FirstAnswer:
    """Connects, waits for the first byte of the server, and leaves."""

    def __init__(self, subject: str, address: str | tuple[str, int]) -> None:
        """The address is a path, or host and port."""
        self.subject = subject
        self._address = address

    def parts(self, deadline: float) -> Iterator[Part]:
        """Nothing where nobody listens."""
        watch = _Stopwatch(deadline)
        is_local = isinstance(self._address, str)
        watch.begin(ANSWER if is_local else CONNECT)
        try:
            with closing(self._connected(deadline)) as client:
                if not is_local:
                    yield watch.ended(then=ANSWER)
                client.sendall(SSL_REQUEST)
                if client.recv(1):
                    yield watch.ended(then=ANSWER)
        except TimeoutError:
            yield watch.given_up()
        except OSError:
            return  # nobody listens there; the collector of the sessions says so

    def _connected(self, deadline: float) -> socket.socket:
        left_s = max(deadline - time.monotonic(), 0.001)
        if not isinstance(self._address, str):
            return socket.create_connection(self._address, timeout=left_s)
        client = socket.socket(socket.AF_UNIX)
        client.settimeout(left_s)
        try:
            client.connect(self._address)
        except OSError:
            client.close()
            raise
        return client


class _Stopwatch:
    """Times one part after the other."""

    def __init__(self, deadline: float) -> None:
        self.part = ""
        self._deadline = deadline
        self._since = time.monotonic()

    def begin(self, part: str) -> None:
        self.part, self._since = part, time.monotonic()

    def ended(self, *, then: str) -> Part:
        part, now = self.part, time.monotonic()
        told = Part(part, now - self._since)
        self.part, self._since = then, now
        return told

    def given_up(self) -> Part:
        return Part(self.part, time.monotonic() - self._since, is_over=False)

    def wait(self, descriptor: int, *, for_reading: bool) -> None:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN if for_reading else select.POLLOUT)
        if not poll.poll(max(0.0, self._deadline - time.monotonic()) * 1000):
            raise TimeoutError


def of(target: Target, *, is_found: bool) -> Sequence[Login]:
    """How to probe a server: in its own way; one that was found here through its network address too."""
    own = FullLogin(target)
    port = target.parameters.get("port")
    if not is_found or own.subject != "login local" or not port:
        return [own]
    return [own, FirstAnswer("login network", (_own_address(), int(port)))]


def _own_address() -> str:
    """The address of this host at which others reach it; that of the loopback where it has no other."""
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        asked.connect(ANYWHERE)
        return str(asked.getsockname()[0])
    return "127.0.0.1"
