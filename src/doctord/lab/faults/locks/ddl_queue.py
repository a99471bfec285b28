"""A statement that changes a table, and all who wait behind it."""

from collections.abc import Iterator
from contextlib import closing

from doctord.lab.dose import Dose
from doctord.lab.fault import fault
from doctord.lab.load.sessions import sessions_asking
from doctord.lab.server import PrivateServer

# Gives up after a quarter of a second, and tries again after one, as careful migrations do.
_CAREFUL = """
do $$ begin loop begin
  set local lock_timeout = '250ms';
  alter table pgbench_branches add column note text;
  exit;
exception when lock_not_available then perform pg_sleep(1);
end; end loop; end $$"""
_ALTER = "alter table pgbench_branches add column note text"


@fault(cause="table_locks")
def ddl_queue(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """A column is added while a long report reads the table: it waits for the report, and everybody waits for it.

    The report alone would disturb nobody. Mild: the change gives up soon, and is tried again. Severe: thirty more
    sessions stand behind it.

    Seen: all sessions of the light load in `Lock: relation`.
    """
    with closing(server.connect("report")) as report, closing(server.connect("migration")) as migration:
        report.pgconn.send_query(b"select count(*), pg_sleep(3600) from pgbench_branches")
        change = dose.of(_CAREFUL, _ALTER, _ALTER)
        migration.pgconn.send_query(f"select pg_sleep(0.5); {change}".encode())
        readers = "select pg_sleep(1); select from pgbench_branches"
        with sessions_asking(server, readers, count=dose.of(0, 0, 30), program="web"):
            yield
        for session in (report, migration):
            session.cancel_safe(timeout=5)
