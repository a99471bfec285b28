"""Logging in to PostgreSQL as a client does, timed part by part.

libpq says how far it is. Where a login is refused, only the first answer is timed for a while: to the question whether
there is TLS (SSLRequest), which a backend answers before anybody is authenticated, and after which a client may leave
without a line in the server's log, where there is TLS after a handshake.
"""

import select
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from typing import Final

import psycopg
from psycopg import pq

from doctord.collect.core.notices import Notices
from doctord.collect.core.probe import Login, Part
from doctord.collect.postgres.connection.connect import Target, login_of
from doctord.collect.postgres.connection.link import brief, is_refused
from doctord.collect.postgres.connection.served_certificate import SSL_REQUEST, WILLING, shaken_hands

REFUSED_S: Final = 300.0  # each try that is refused is a line in the server's log
PROGRAM: Final = "doctord-probe"
CONNECT, ANSWER, AUTHENTICATION, QUERY = "TCP connect", "first answer", "authentication", "first query"
NOT_CONNECTED: Final = (pq.ConnStatus.STARTED, pq.ConnStatus.NEEDED, pq.ConnStatus.BAD)
LISTENS: Final = b"""\
SELECT /* doctord */ pg_catalog.current_setting('listen_addresses'), pg_catalog.current_setting('port')
"""
EVERYWHERE: Final = ("*", "0.0.0.0")  # noqa: S104 - what a server is set to; nobody listens here
ANYWHERE: Final = ("192.0.2.1", 9)  # RFC 5737; connecting a datagram socket sends nothing

# The path of a UNIX socket, or host and port.
Address = str | tuple[str, int]


class FullLogin:
    """A login with all that belongs to it; after one that was refused, for a while what can be timed without.

    One that is refused to everybody, as no connection is left or the server starts, is noted, and tried again.
    """

    def __init__(self, target: Target, notices: Notices) -> None:
        """Nothing is connected yet."""
        self._target = target
        self._notices = notices
        self._unserved_at: float | None = None
        self._refused_by: Address | None = None
        self.network_address: tuple[str, int] | None = None  # of a server reached by its Unix socket, once it has said
        self._again_at = 0.0

    def parts(self, deadline: float) -> Iterator[Part]:
        """Log in, ask where the server listens, and leave; nothing where nobody listens."""
        if self._refused_by and time.monotonic() < self._again_at:
            yield from FirstAnswer(self._refused_by).parts(deadline)
            return
        watch = _Stopwatch(deadline)
        conninfo, identity = login_of(self._target, program=PROGRAM)
        with identity:
            connection = pq.PGconn.connect_start(conninfo.encode())
        try:
            if connection.status != pq.ConnStatus.BAD:
                yield from self._log_in(connection, watch)
        except psycopg.OperationalError:
            return  # it went away meanwhile; the collector of the sessions says so
        except TimeoutError:
            yield watch.given_up()
        finally:
            connection.finish()

    def _log_in(self, connection: pq.abc.PGconn, watch: "_Stopwatch") -> Iterator[Part]:
        watch.starts_at(_address(connection))
        state: int = pq.PollingStatus.WRITING
        while state in {pq.PollingStatus.READING, pq.PollingStatus.WRITING}:
            is_reading = state == pq.PollingStatus.READING
            watch.wait(connection.socket, for_reading=is_reading)
            state = connection.connect_poll()
            if watch.part == CONNECT and connection.status not in NOT_CONNECTED:
                yield watch.ended(then=ANSWER)
            elif watch.part == ANSWER and is_reading:
                self._refused_by = _address(connection)
                yield watch.ended(then=AUTHENTICATION)
        if state != pq.PollingStatus.OK:
            self._note_refusal(connection, watch)
            return
        self._unserved_at = None
        yield watch.ended(then=QUERY)
        connection.send_query(LISTENS)
        while connection.is_busy() or connection.flush():
            watch.wait(connection.socket, for_reading=True)
            connection.consume_input()
        yield watch.ended(then=QUERY)
        self._learn_address(connection)

    def _learn_address(self, connection: pq.abc.PGconn) -> None:
        """Where the server listens besides; of one behind a pooler, whose port is another, nothing."""
        told = connection.get_result()
        row = [told.get_value(0, column) for column in range(told.nfields)] if told and told.ntuples else []
        if isinstance(_address(connection), str) and row and row[1] == (connection.port or b"5432"):
            self.network_address = _listening_at((row[0] or b"").decode(), int(row[1]))

    def _note_refusal(self, connection: pq.abc.PGconn, watch: "_Stopwatch") -> None:
        text, now = brief(connection.error_message.decode(errors="replace")), time.monotonic()
        if is_refused(text):
            since = watch.begun_at if self._unserved_at is None else self._unserved_at
            self._notices.unserved("refused", self._target.db, now - since, text)
            self._unserved_at = now
        else:
            self._unserved_at, self._again_at = None, now + REFUSED_S


class ThroughTheNetwork:
    """The first answer at the address at which a server listens too that was reached by its Unix socket."""

    def __init__(self, own: FullLogin) -> None:
        """Nothing before `own` has logged in."""
        self._own = own

    def parts(self, deadline: float) -> Iterator[Part]:
        """Nothing where the server listens at its socket alone, or did not say."""
        if self._own.network_address is not None:
            yield from FirstAnswer(self._own.network_address).parts(deadline)


class FirstAnswer:
    """Connects, waits for the first byte of the server, and leaves."""

    def __init__(self, address: Address) -> None:
        """Nothing is connected yet."""
        self._address = address

    def parts(self, deadline: float) -> Iterator[Part]:
        """Nothing where nobody listens."""
        watch = _Stopwatch(deadline)
        watch.starts_at(self._address)
        try:
            with closing(self._connected(deadline)) as client:
                if watch.part == CONNECT:
                    yield watch.ended(then=ANSWER)
                client.sendall(SSL_REQUEST)
                answer = client.recv(1)
                if answer:
                    yield watch.ended(then=ANSWER)
                if answer == WILLING:
                    shaken_hands(client)
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
        self._way = ""
        self._deadline = deadline
        self._since = self.begun_at = time.monotonic()

    def starts_at(self, address: Address) -> None:
        is_local = isinstance(address, str)
        self._way, self.part = ("local", ANSWER) if is_local else ("network", CONNECT)

    def ended(self, *, then: str) -> Part:
        part, now = self.part, time.monotonic()
        told = Part(f"login {self._way}: {part}", now - self._since)
        self.part, self._since = then, now
        return told

    def given_up(self) -> Part:
        return Part(f"login {self._way}: {self.part}", time.monotonic() - self._since, is_over=False)

    def wait(self, descriptor: int, *, for_reading: bool) -> None:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN if for_reading else select.POLLOUT)
        if not poll.poll(max(0.0, self._deadline - time.monotonic()) * 1000):
            raise TimeoutError


def of(target: Target, notices: Notices, *, is_found: bool) -> Sequence[Login]:
    """How to probe a server: in its own way; by a Unix socket, through its network address too.

    Of one that was found here it is known without asking, so that it is tried where our login is refused.
    """
    own = FullLogin(target, notices)
    parameters = target.parameters
    if not str(parameters.get("host", "/")).startswith(("/", "@")):
        return [own]
    if not is_found:
        return [own, ThroughTheNetwork(own)]
    return [own, FirstAnswer((_own_address(), int(parameters["port"])))]


def _listening_at(addresses: str, port: int) -> tuple[str, int] | None:
    """Where to reach a server from here by its listen_addresses; null where it listens at no address of the network.

    >>> _listening_at("localhost, 192.0.2.7", 5432), _listening_at("", 5432)
    (('localhost', 5432), None)
    """
    names = [name.strip() for name in addresses.split(",") if name.strip()]
    if not names:
        return None
    return _own_address() if any(name in EVERYWHERE for name in names) else names[0], port


def _address(connection: pq.abc.PGconn) -> Address:
    """Where libpq connects to now, of several hosts too."""
    host, port = connection.host.decode(), connection.port.decode() or "5432"
    if host.startswith(("/", "@")):
        return f"{host}/.s.PGSQL.{port}".replace("@", "\0", 1)
    return connection.hostaddr.decode() or host, int(port)


def _own_address() -> str:
    """The address of this host at which others reach it; that of the loopback where it has no other."""
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        asked.connect(ANYWHERE)
        return str(asked.getsockname()[0])
    return "127.0.0.1"
