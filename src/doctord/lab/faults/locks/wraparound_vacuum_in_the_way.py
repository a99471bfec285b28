"""A migration that waits for an autovacuum which gives way to nobody, and one that an ordinary autovacuum lets pass."""

import time
from collections.abc import Iterator
from contextlib import closing

from doctord.lab.dose import Dose
from doctord.lab.errors import LabError
from doctord.lab.fault import ONE, fault
from doctord.lab.server import PrivateServer

# As slow as on a table of hundreds of gigabytes: it takes minutes for pgbench_accounts.
_SLOW = {"autovacuum_naptime": "1s", "autovacuum_vacuum_cost_delay": "100ms"}
_FORCED = {**_SLOW, "autovacuum_freeze_max_age": "100000"}
_TRANSACTIONS = "do $$ begin for id in 1..120000 loop perform txid_current(); commit; end loop; end $$"
_AT_WORK = "select from pg_stat_activity where query like 'autovacuum: VACUUM public.pgbench_accounts%'"
_COMES_S = 60.0


@fault(cause="table_locks", intensities=ONE, settings=_FORCED)  # it gives way, or it does not
def wraparound_vacuum_in_the_way(server: PrivateServer, _dose: Dose) -> Iterator[None]:
    """The largest table is vacuumed to prevent wraparound, and a migration wants to add a column to it.

    Such a vacuum is not cancelled for others: the migration waits until it is done, and everybody who reads the table
    waits behind the migration.

    Seen: the migration and all sessions of the light load in `Lock: relation`, before an autovacuum in `VacuumDelay`.
    """
    with server.connect() as connection:
        connection.execute("set synchronous_commit = off")
        connection.execute(_TRANSACTIONS)
    yield from _migrated(server)


@fault(cause=None, settings=_SLOW)
def autovacuum_gives_way(server: PrivateServer, _dose: Dose) -> Iterator[None]:
    """The look-alike of wraparound_vacuum_in_the_way: an autovacuum because of dead rows, as slow as that.

    It is cancelled a second after the migration has asked for its lock (deadlock_timeout).
    """
    server.execute(
        "alter table pgbench_accounts set (autovacuum_vacuum_threshold = 100, autovacuum_vacuum_scale_factor = 0)"
    )
    server.execute("update pgbench_accounts set abalance = abalance where aid % 100 = 0")
    yield from _migrated(server)


def _migrated(server: PrivateServer) -> Iterator[None]:
    _wait_until_at_work(server)
    with closing(server.connect("migration")) as migration:
        migration.pgconn.send_query(b"alter table pgbench_accounts add column note text")
        yield
        migration.cancel_safe(timeout=5)


def _wait_until_at_work(server: PrivateServer) -> None:
    deadline = time.monotonic() + _COMES_S
    with server.connect() as connection:
        while time.monotonic() < deadline:
            if connection.execute(_AT_WORK).fetchone() is not None:
                return
            time.sleep(0.1)
    raise LabError("autovacuum did not come to pgbench_accounts", f"look at {server.folder}/postgresql.log (--keep)")
