"""The clients of a break's services, in a process of their own, so that the check-up does not hold them up."""

import random
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import NamedTuple

import psycopg
from break_cases import Service, Session

RANGE = re.compile(r"\{(\d+)\.\.(\d+)\}")
TOLD_OF_ERROR = 160


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
def serving(services: tuple[Service, ...], place: str) -> Iterator[Clients]:
    """All clients of the services at a server; `place` is its host and port as libpq wants them."""
    ours, theirs = get_context("spawn").Pipe()
    process = get_context("spawn").Process(target=_serve, args=(services, place, theirs), daemon=True)
    process.start()
    try:
        yield Clients(ours)
    finally:
        process.kill()
        process.join()


def _serve(services: tuple[Service, ...], place: str, pipe: Connection) -> None:
    requests: list[list[Request]] = []
    for service in services:
        for number in range(service.clients):
            requests.append([])
            threading.Thread(target=_client, args=(service, place, number, requests[-1]), daemon=True).start()
    while pipe.recv():
        pipe.send([tuple(one) for client in requests for one in list(client)])


def _client(service: Service, place: str, number: int, requests: list[Request]) -> None:
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
            connection.execute(_text(service.sql, chance).encode())
        except (psycopg.Error, OSError) as reason:
            error = f"{type(reason).__name__}: {str(reason).partition(chr(10))[0]}"[:TOLD_OF_ERROR]
            if connection is not None and not connection.closed:
                with suppress(psycopg.Error):
                    connection.rollback()
        requests[-1] = Request(service.name, sent_s, time.monotonic() - began, error)
        if service.each_connects and connection is not None:
            connection.close()


def connected(who: Service | Session, place: str) -> psycopg.Connection[tuple[object, ...]]:
    """A connection as a service or a session has it, each statement its own transaction."""
    program = who.name if isinstance(who, Service) else who.program
    wanted = f"{place} user={who.role} dbname={who.database}"
    connection = psycopg.connect(wanted, application_name=program, autocommit=True)
    if isinstance(who, Service) and who.on_connect:
        connection.execute(who.on_connect.encode())
    return connection


def _text(sql: str, chance: random.Random) -> str:
    return RANGE.sub(lambda found: str(chance.randint(int(found[1]), int(found[2]))), sql)
