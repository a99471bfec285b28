"""Unlogged tables in a real server of each version: as they are, truncated, and after a crash."""

import os
import signal
import time
from contextlib import closing, suppress

import psycopg
import pytest

from doctord.collect.postgres.statistics.figures import Figures
from doctord.collect.postgres.statistics.objects.unlogged import Unlogged
from doctord.diagnose.causes.databases.unlogged import PAGES, SIZE
from postgres_samples import link_to, rows_of
from servers import PostgresServer

pytestmark = pytest.mark.server

PRICES = "postgres.public.prices"


def told(server: PostgresServer, tables: Unlogged) -> dict[str, tuple[float, float]]:
    """Bytes now and pages before, by table, as a role of pg_monitor sees them."""
    with closing(link_to(server.dsn("doctord"))) as link:
        link.open()
        figures = Figures(link.db)
        tables.read(link, figures)
        values = {(row["name"], row["entity"]): row["value"] for row in rows_of("statistic", figures.batches())}
    return {entity: (values[SIZE, entity], values[PAGES, entity]) for name, entity in values if name == SIZE}


def crash(server: PostgresServer) -> None:
    with suppress(psycopg.OperationalError), server.connect() as session:
        os.kill(session.info.backend_pid, signal.SIGKILL)
        session.execute("SELECT 1")
    until = time.monotonic() + 60
    while time.monotonic() < until:
        with suppress(psycopg.OperationalError):
            server.execute("SELECT 1")
            return
        time.sleep(0.1)
    raise AssertionError("it did not come back")


def test_what_is_left_of_them(server: PostgresServer) -> None:
    tables = Unlogged()
    server.execute(
        "CREATE UNLOGGED TABLE prices AS SELECT n FROM generate_series(1, 9000) AS n",
        "VACUUM prices",
        "CHECKPOINT",  # what VACUUM wrote of the table is in the WAL's buffers until then
    )
    pages = told(server, tables)[PRICES][1]
    assert pages > 9
    assert told(server, tables) == {PRICES: (pages * 8192, pages)}
    crash(server)
    assert told(server, tables) == {PRICES: (0, pages)}
    server.execute("TRUNCATE prices")
    assert told(server, tables) == {PRICES: (0, 0)}
    server.execute("DROP TABLE prices")
    assert told(server, tables) == {PRICES: (0, 0)}
    assert told(server, tables) == {}
