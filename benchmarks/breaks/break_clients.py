"""The clients of a break's services, in a process of their own, so that the check-up does not hold them up."""

import random
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any, NamedTuple, Self

import psycopg
import pymysql
from break_cases import Service, Session
from pymysql.constants import CLIENT

RANGE = re.compile(r"\{(\d+)\.\.(\d+)\}")
TOLD_OF_ERROR = 160


ERRORS = (psycopg.Error, pymysql.Error, OSError)


class Place(NamedTuple):
    """Where a server is: host and port as libpq wants them, or MySQL's socket, with the password of app."""

    engine: str
    where: str
    secret: str = ""


class MySQLConnection:
    """A connection of PyMySQL with the names of psycopg's: each statement its own transaction, several in one text."""

    def __init__(self, connection: "pymysql.connections.Connection[Any]") -> None:
        """Of one that is open."""
        self._connection = connection

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """It is closed."""
        self.close()

    @property
    def closed(self) -> bool:
        """Whether it, or the server, has ended."""
        return not self._connection.open

    def execute(self, text: str) -> None:
        """Send a text, and take all that comes."""
        cursor = self._connection.cursor()
        cursor.execute(text)
        while cursor.nextset():
            pass

    def rollback(self) -> None:
        """End the transaction without its work."""
        self._connection.rollback()

    def close(self) -> None:
        """End it."""
        if not self.closed:
            self._connection.close()


class PostgresConnection:
    """A connection of psycopg: each message its own transaction."""

    def __init__(self, connection: psycopg.Connection[tuple[object, ...]]) -> None:
        """Of one that is open."""
        self._connection = connection
        self.rollback, self.close = connection.rollback, connection.close

    @property
    def closed(self) -> bool:
        """Whether it, or the server, has ended."""
        return self._connection.closed

    def execute(self, text: str) -> None:
        """Send a text as one message."""
        self._connection.execute(text.encode())


Connected = PostgresConnection | MySQLConnection


class Request(NamedTuple):
    """One that was sent: when (seconds since the epoch), how long it took (null: not ended), why it failed."""

    service: str
    sent_s: float
    took_s: float | None
    error: str | None


class Clients(NamedTuple):
    """The running process; `requests` asks it for what was sent until now."""

    pipe: Connection

    def requests(self) -> list[Request]:
        """All requests since the start, those under way too."""
        self.pipe.send("so far")
        return [Request(*one) for one in self.pipe.recv()]


@contextmanager
def serving(services: tuple[Service, ...], place: Place) -> Iterator[Clients]:
    """All clients of the services at a server."""
    ours, theirs = get_context("spawn").Pipe()
    process = get_context("spawn").Process(target=_serve, args=(services, place, theirs), daemon=True)
    process.start()
    try:
        yield Clients(ours)
    finally:
        process.kill()
        process.join()


def _serve(services: tuple[Service, ...], place: Place, pipe: Connection) -> None:
    requests: list[list[Request]] = []
    for service in services:
        for number in range(service.clients):
            requests.append([])
            threading.Thread(target=_client, args=(service, place, number, requests[-1]), daemon=True).start()
    while pipe.recv():
        pipe.send([tuple(one) for client in requests for one in list(client)])


def _client(service: Service, place: Place, number: int, requests: list[Request]) -> None:
    pause_s = service.clients / service.rate_per_s
    due = time.monotonic() + pause_s * number / service.clients
    chance, connection = random.Random(number), None  # noqa: S311 - of rows, not of secrets
    while True:
        time.sleep(max(0.0, due - time.monotonic()))
        due = max(due + pause_s, time.monotonic() - 1)
        sent_s, began, error = time.time(), time.monotonic(), None
        requests.append(Request(service.name, sent_s, None, None))
        try:
            if connection is None or connection.closed:
                connection = connected(service, place)
            connection.execute(_text(service.sql, chance))
        except ERRORS as reason:
            error = f"{type(reason).__name__}: {str(reason).partition(chr(10))[0]}"[:TOLD_OF_ERROR]
            if connection is not None and not connection.closed:
                with suppress(*ERRORS):
                    connection.rollback()
        requests[-1] = Request(service.name, sent_s, time.monotonic() - began, error)
        if service.each_connects and connection is not None:
            connection.close()


def connected(who: Service | Session, place: Place) -> Connected:
    """A connection as a service or a session has it, each statement its own transaction."""
    program = who.name if isinstance(who, Service) else who.program
    connection: Connected
    if place.engine == "postgresql":
        wanted = f"{place.where} user={who.role} dbname={who.database}"
        connection = PostgresConnection(psycopg.connect(wanted, application_name=program, autocommit=True))
    else:
        connection = connected_to_mysql(place, who.role, who.database, program)
    if isinstance(who, Service) and who.on_connect:
        connection.execute(who.on_connect)
    return connection


def connected_to_mysql(place: Place, role: str, database: str, program: str) -> MySQLConnection:
    """A connection through MySQL's socket; roles other than app have no password."""
    secret = place.secret if role == "app" else ""
    return MySQLConnection(
        pymysql.connect(
            unix_socket=place.where,
            user=role,
            password=secret,
            database=database,
            program_name=program,
            autocommit=True,
            client_flag=CLIENT.MULTI_STATEMENTS,
        )
    )


def _text(sql: str, chance: random.Random) -> str:
    return RANGE.sub(lambda found: str(chance.randint(int(found[1]), int(found[2]))), sql)
