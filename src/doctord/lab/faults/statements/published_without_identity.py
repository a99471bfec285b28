"""A publication of all tables: one of them has no replica identity, and can be updated no more. Or all have one."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.fault import fault
from doctord.lab.figures import log_lines
from doctord.lab.host.processes import running
from doctord.lab.server import PrivateServer

# An application that goes on when a statement of its own fails.
_STOCK: Final = """
import sys, time
from contextlib import suppress
import psycopg
with psycopg.connect(sys.argv[1], application_name="stock", autocommit=True) as session:
    while True:
        with suppress(psycopg.errors.ObjectNotInPrerequisiteState):
            session.execute("update stock set amount = amount - 1 where item = (random() * 999)::int + 1")
        time.sleep(1 / float(sys.argv[2]))
"""
_REFUSED = Figure("updates refused", "updates", 20, log_lines("does not have a replica identity"))
_SETTINGS: Final = {"wal_level": "logical"}


@fault(cause="replica_identity_missing", effect=_REFUSED, settings=_SETTINGS)
def published_without_identity(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """Somebody publishes all tables, and one that is updated has a unique index, but no primary key.

    From that moment on each update of it is refused. All other statements work, and nobody waits.

    Seen: "cannot update table ... because it does not have a replica identity" ten times a second.
    """
    with _published(server, "create unique index on stock (item)", dose.of(3, 10, 30)):
        yield


@fault(cause=None, settings=_SETTINGS)
def published_with_identity(server: PrivateServer, _dose: Dose) -> Iterator[None]:
    """The look-alike of published_without_identity: the same publication and updates, and the table has a primary key.

    pgbench's history has none: rows are only added to it, and that is allowed.
    """
    with _published(server, "alter table stock add primary key (item)", 10):
        yield


@contextmanager
def _published(server: PrivateServer, key: str, per_s: float) -> Iterator[None]:
    with server.connect() as session:
        session.execute("create table stock (item int not null, amount int not null)")
        session.execute("insert into stock select item, 1000000 from generate_series(1, 1000) as item")
        session.execute(key.encode())
        session.execute("create publication everything for all tables")
    with running([sys.executable, "-c", _STOCK, server.dsn, str(per_s)], server.folder / "stock.log"):
        yield
