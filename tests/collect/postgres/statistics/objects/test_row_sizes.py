"""What rows of large tables take, of real servers: by pg_stats where the role sees it, else by the types."""

import time
from contextlib import closing

import pytest

from doctord.collect.postgres.statistics.objects.relations import Relations
from doctord.dataset.dataset import Dataset
from postgres_samples import figures, link_to, rows_of
from servers import PostgresServer

pytestmark = pytest.mark.server

MADE = (
    "CREATE TABLE jobs (id int, state varchar(10), payload text) WITH (autovacuum_enabled = off)",
    "INSERT INTO jobs SELECT id, 'done', repeat('x', 400) FROM generate_series(1, 40000) AS id",
    "DELETE FROM jobs WHERE id <= 39750",
    "CREATE TABLE full_of_rows (id int) WITH (fillfactor = 50, autovacuum_enabled = off)",
    "INSERT INTO full_of_rows SELECT id FROM generate_series(1, 300000) AS id",
    "VACUUM ANALYZE full_of_rows",
)


def until_dead(server: PostgresServer, rows: int) -> None:
    deadline = time.monotonic() + 30
    while server.execute("SELECT n_dead_tup FROM pg_stat_user_tables WHERE relname = 'jobs'") != [(rows,)]:
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.mark.parametrize("role", ["postgres", "doctord"])
def test_a_table_that_is_far_larger_than_its_rows(server: PostgresServer, role: str) -> None:
    from doctord.analyse.sql.empty_blocks import far_larger  # noqa: PLC0415 - polars, beside a collector

    server.execute(*MADE)
    until_dead(server, 39750)  # a session tells late what it changed: not after the vacuum that counts anew
    server.execute("VACUUM ANALYZE jobs")
    until_dead(server, 0)
    try:
        with closing(link_to(server.dsn(role))) as link, closing(Relations()) as relations:
            link.open()
            batches = relations.read(link)
            assert not rows_of("event", link.notices.batches())
    finally:
        server.execute("DROP TABLE jobs, full_of_rows")
    jobs = figures(batches, "postgres.public.jobs")
    assert jobs["pg_class.heap_bytes"] > 15e6
    assert jobs["pg_class.row_bytes"] == (pytest.approx(460, abs=30) if role == "postgres" else 2040)
    full = figures(batches, "postgres.public.full_of_rows")
    assert (full["pg_class.fillfactor_pct"], full["pg_class.row_bytes"]) == (50, 44)
    told = [row for row in rows_of("statistic", batches) if row["entity"]]
    assert [one.table for one in far_larger(Dataset.from_rows(statistic=told))] == ["public.jobs"]
