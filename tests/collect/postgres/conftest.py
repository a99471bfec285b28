"""Servers that the tests of the PostgreSQL collector share, one for each version."""

import os
from collections.abc import Iterator

import pytest

from servers import PostgresServer, running_postgres

VERSIONS = [int(version) for version in os.environ.get("DOCTORD_POSTGRESQL", "13 15 18").split()]
"""The oldest, the packaged and the newest; DOCTORD_POSTGRESQL="14 16 17" tests the others."""


@pytest.fixture(scope="package", params=VERSIONS, ids=lambda version: f"postgresql-{version}")
def server(request: pytest.FixtureRequest) -> Iterator[PostgresServer]:
    """With pg_stat_statements, timings, and a login role `doctord` that is a member of pg_monitor."""
    settings = {
        "shared_preload_libraries": "pg_stat_statements",
        "track_io_timing": "on",
        "max_prepared_transactions": 5,
        "wal_level": "logical",
        "autovacuum": "off",
        **({"track_wal_io_timing": "on"} if request.param >= 14 else {}),
    }
    with running_postgres(request.param, settings) as started:
        started.execute(
            "CREATE EXTENSION pg_stat_statements",
            "CREATE ROLE doctord LOGIN",
            "GRANT pg_monitor TO doctord",
            "CREATE ROLE stranger LOGIN",
            "CREATE TABLE account (id int PRIMARY KEY, balance int)",
            "INSERT INTO account SELECT id, 0 FROM generate_series(1, 10000) AS id",
        )
        yield started
