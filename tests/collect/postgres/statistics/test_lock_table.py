"""How full the lock table is, in a real server of each version."""

from contextlib import closing

import psycopg
import pytest

from doctord.collect.postgres.statistics.lock_table import LockTable
from postgres_samples import link_to, rows_of
from servers import PostgresServer

pytestmark = pytest.mark.server


def told(server: PostgresServer) -> dict[tuple[str, str | None], float]:
    with closing(link_to(server.dsn("doctord"))) as link:
        link.open()
        rows = rows_of("statistic", LockTable().read(link))
    return {(row["name"], row["entity"]): row["value"] for row in rows}


def test_who_holds_most(server: PostgresServer) -> None:
    before = told(server)
    assert before["pg_locks.objects", None] < 100
    assert not [entity for name, entity in before if name == "pg_locks.held"]
    with psycopg.connect(server.dsn(application_name="loader"), autocommit=True) as session:
        session.execute("SELECT pg_advisory_lock(n) FROM generate_series(1, 500) AS n")
        with psycopg.connect(server.dsn(), autocommit=True) as other:
            other.execute("SELECT pg_advisory_lock_shared(n) FROM generate_series(501, 600) AS n")
            other.execute("SELECT pg_advisory_lock_shared(n) FROM generate_series(501, 600) AS n")
            with psycopg.connect(server.dsn(), autocommit=True) as third:
                third.execute("SELECT pg_advisory_lock_shared(n) FROM generate_series(501, 520) AS n")
                after = told(server)
        pid = session.info.backend_pid
    assert after["pg_locks.entries", "advisory"] == 620
    assert 600 <= after["pg_locks.objects", None] < 700
    assert after["pg_locks.held", f"advisory, session {pid} (postgres loader)"] == 500
    assert len([entity for name, entity in after if name == "pg_locks.held"]) == 2
