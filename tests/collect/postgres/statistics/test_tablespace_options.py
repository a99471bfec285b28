"""Options of tablespaces, of real servers."""

from contextlib import closing

import pytest

from doctord.collect.postgres.statistics.tablespace_options import TablespaceOptions
from postgres_samples import link_to, rows_of
from servers import PostgresServer


@pytest.mark.server
def test_what_is_set_for_a_tablespace(server: PostgresServer) -> None:
    with closing(link_to(server.dsn("stranger"))) as link:
        link.open()
        part = TablespaceOptions()
        assert part.read(link) == []
        server.execute("ALTER TABLESPACE pg_default SET (random_page_cost = 11, effective_io_concurrency = 8)")
        try:
            told = rows_of("setting", part.read(link))
            assert part.read(link) == []
        finally:
            server.execute("ALTER TABLESPACE pg_default RESET (random_page_cost, effective_io_concurrency)")
        gone = rows_of("setting", part.read(link))
    assert [(row["component"], row["name"], row["value"]) for row in told] == [
        ("pg_tablespace", "pg_default", "random_page_cost=11, effective_io_concurrency=8")
    ]
    assert [(row["name"], row["value"]) for row in gone] == [("pg_default", None)]
