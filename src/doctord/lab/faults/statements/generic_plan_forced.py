"""A server that plans prepared statements for no value, over a column whose values differ much."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, LiteralString

import psycopg
from psycopg import sql

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.fault import fault
from doctord.lab.load.workload import workload
from doctord.lab.server import PrivateServer

_LOOK_UP: Final[LiteralString] = "select id, weight from parcels where depot = %s order by at limit 20"
_SCRIPT: Final = (
    "\\set depot 0\nselect id, weight from parcels where depot = :depot order by at limit 20;\n\\sleep 20 ms\n"
)
_SMALL: Final = 0


def _look_up_ms(server: PrivateServer) -> float | None:
    """How long the parcels of the small depot take when they are looked up by a prepared statement, at best."""
    try:
        with server.connect() as session:
            return min(_prepared_ms(session) for _ in range(3))
    except psycopg.errors.UndefinedTable:
        return None


def _prepared_ms(session: psycopg.Connection[tuple[object, ...]]) -> float:
    began = time.monotonic()
    session.execute(_LOOK_UP, [_SMALL], prepare=True).fetchall()
    return (time.monotonic() - began) * 1e3


@fault(cause="generic_plan_forced", effect=Figure("a look-up of a small depot", "ms", 4.0, _look_up_ms), warm_up_s=4.0)
def generic_plan_forced(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """Sessions look for the first parcels of a small depot, 40 among 60,000, planned as for one of average size.

    plan_cache_mode is force_generic_plan for the whole server. Of a depot with a sixteenth of all parcels the first
    twenty are soon met in the order of their time; of the small one most of the table is, row by row. There is an index
    of depots as well, and EXPLAIN with the number written out takes it.
    """
    with _looking_up(server, "case when id % 1500 = 0 then 0 else 1 + id % 15 end", dose, dose.of(1, 2, 4)):
        yield


@fault(cause=None, warm_up_s=4.0)
def generic_plans_right(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """The look-alike of generic_plan_forced: the same setting and look-ups, and each depot has as many parcels.

    The one plan is right for all of them.
    """
    with _looking_up(server, "id % 1500", dose, 2):
        yield


@contextmanager
def _looking_up(server: PrivateServer, depot: LiteralString, dose: Dose, clients: int) -> Iterator[None]:
    table = (
        "create table parcels as select id, {} as depot, id * 7919 % 60000 as at, id % 90 as weight,"
        " repeat('.', 200) as note from generate_series(1, 60000) id"
    )
    server.execute(sql.SQL(table).format(sql.SQL(depot)))
    server.execute("create index parcels_depot on parcels (depot)")
    server.execute("create index parcels_at on parcels (at)")
    server.execute("vacuum analyze parcels")
    server.set(plan_cache_mode="force_generic_plan")
    with workload(server, seed=dose.seed, clients=clients, script=_SCRIPT):
        yield
