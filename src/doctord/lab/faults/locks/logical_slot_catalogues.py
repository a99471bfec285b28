"""Tables that come and go, and a logical slot that needs every version of the catalogues."""

from collections.abc import Iterator
from pathlib import Path

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.fault import fault
from doctord.lab.figures import answer
from doctord.lab.host.processes import running
from doctord.lab.load.workload import workload
from doctord.lab.server import PrivateServer

_LOGICAL = {"wal_level": "logical"}
_CREATE_SLOT = "select pg_create_logical_replication_slot('warehouse', 'test_decoding')"
_BASKET = """
begin;
create temporary table basket (item int, price int) on commit drop;
insert into basket values (1, 10), (2, 20);
select sum(price) from basket;
commit;
"""

_DEAD = Figure(
    "dead rows of pg_type",
    "rows",
    2000,
    answer("select n_dead_tup from pg_stat_sys_tables where relname = 'pg_type'"),
)


@fault(cause="vacuum_held_back", effect=_DEAD, settings=_LOGICAL, warm_up_s=30.0)
def logical_slot_catalogues(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """Two sessions make a temporary table in each transaction, while nobody reads a logical slot.

    Its catalog_xmin keeps every row of the system catalogues that was dropped since: each look-up of the table's name
    steps over all tables that had the same. Rows of users' tables are removed as usual.

    Seen: after a minute 26,000 dead rows in pg_type, of which 1,900 pages are looked at for each row found; both
    sessions are on a CPU all the time.
    """
    server.execute(_CREATE_SLOT)
    with workload(server, seed=dose.seed, clients=dose.of(1, 2, 4), script=_BASKET):
        yield


@fault(cause=None, settings=_LOGICAL, warm_up_s=10.0)
def logical_slot_read(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """The look-alike of logical_slot_catalogues: the slot's reader keeps up, and confirms what it has.

    The same temporary tables, 30 a second.
    """
    server.execute(_CREATE_SLOT)
    reader: list[str | Path] = [server.binaries / "pg_recvlogical", "--start", "--slot=warehouse", "--file=/dev/null"]
    with (
        running([*reader, "--status-interval=1", "-d", server.dsn], server.folder / "reader.log"),
        workload(server, seed=dose.seed, clients=2, script=_BASKET, rate_per_s=30),
    ):
        yield
