"""Figures of a private server by which a fault may show what it takes: each gives a function that reads it."""

import time
from collections.abc import Callable
from typing import Final, LiteralString

import psycopg

from doctord.lab.server import PrivateServer
from doctord.regex import regex

Reading = Callable[[PrivateServer], float | None]
_TIMES = 3
_LATENCY = regex(r"^progress: .* tps, lat ([\d.]+) ms")


def answer(statement: LiteralString) -> Reading:
    """The number that a statement answers with; null where it answers with none."""

    def read(server: PrivateServer) -> float | None:
        with server.connect() as connection:
            row = connection.execute(statement).fetchone()
        return None if row is None or row[0] is None else float(row[0])

    return read


def log_lines(text: str) -> Reading:
    """How many lines of the server's log hold a text."""

    def read(server: PrivateServer) -> float:
        with (server.folder / "postgresql.log").open(errors="replace") as log:
            return sum(text in line for line in log)

    return read


def statement_ms(statement: LiteralString) -> Reading:
    """How long a statement takes, the quickest of three times, each rolled back; null where its table is not there."""

    def read(server: PrivateServer) -> float | None:
        try:
            with server.connect() as connection:
                return min(_rolled_back_ms(connection, statement) for _ in range(_TIMES))
        except psycopg.errors.UndefinedTable:
            return None

    return read


def far_latency_ms(server: PrivateServer) -> float | None:
    """How long a transaction of the clients at the far end takes, by the last second in which pgbench had one end.

    While none has, it is as long as they have been at it; null where nobody is there.
    """
    told = [line for report in server.folder.glob("far-*/report.txt") for line in report.read_text().splitlines()]
    latencies = [float(found[1]) for line in told if (found := _LATENCY.search(line))]
    if not latencies:
        return None
    return next((latency_ms for latency_ms in reversed(latencies) if latency_ms), len(latencies) * 1e3)


READ_MS: Final = answer("select sum(blk_read_time) from pg_stat_database")
"""How long clients and others have waited for reads of blocks since the server's start, in milliseconds."""


def login_s(server: PrivateServer) -> float:
    """How long a login takes."""
    began = time.monotonic()
    server.connect().close()
    return time.monotonic() - began


def _rolled_back_ms(connection: psycopg.Connection[tuple[object, ...]], statement: LiteralString) -> float:
    with connection.transaction(force_rollback=True):
        began = time.monotonic()
        connection.execute(statement)
        return (time.monotonic() - began) * 1e3
