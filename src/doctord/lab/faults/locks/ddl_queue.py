"""A statement that changes a table, and all who wait behind it."""

from collections.abc import Iterator
from contextlib import closing

from doctord.lab.fault import fault
from doctord.lab.server import PrivateServer


@fault(cause="table_locks")
def ddl_queue(server: PrivateServer, _seed: int) -> Iterator[None]:
    """A column is added while a long report reads the table: it waits for the report, and everybody waits for it.

    The report alone would disturb nobody.

    Seen: all sessions of the light load in `Lock: relation`.
    """
    with closing(server.connect("report")) as report, closing(server.connect("migration")) as migration:
        report.pgconn.send_query(b"select count(*), pg_sleep(3600) from pgbench_branches")
        migration.pgconn.send_query(b"select pg_sleep(0.5); alter table pgbench_branches add column note text")
        yield
        for session in (report, migration):
            session.cancel_safe(timeout=5)
