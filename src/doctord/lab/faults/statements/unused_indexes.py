"""A table with more indexes than anybody asks for."""

from collections.abc import Iterator
from typing import Final, LiteralString

from psycopg import sql

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.fault import fault
from doctord.lab.figures import statement_ms
from doctord.lab.load.workload import workload
from doctord.lab.server import PrivateServer

_MEASURES: Final = ("m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8", "m9", "m10", "m11", "m12")
_TABLE: Final[LiteralString] = (
    "create table readings (id bigserial primary key, sensor int, m1 float8, m2 float8, m3 float8, m4 float8,"
    " m5 float8, m6 float8, m7 float8, m8 float8, m9 float8, m10 float8, m11 float8, m12 float8)"
)
_INSERT: Final[LiteralString] = (
    "insert into readings (sensor, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12)"
    " select i, random(), random(), random(), random(), random(), random(), random(), random(), random(), random(),"
    " random(), random() from generate_series(1, 200) i"
)
_LOOK_UP: Final = "select count(*) from readings where id = :id;\n\\sleep 20 ms\n"
_SCRIPT: Final = "\\set id random(1, 40000)\n" + _INSERT + ";\n" + _LOOK_UP
_SEARCH: Final = """
select count(*) from readings where m1 = 0.5 or m2 = 0.5 or m3 = 0.5 or m4 = 0.5 or m5 = 0.5 or m6 = 0.5
    or m7 = 0.5 or m8 = 0.5 or m9 = 0.5 or m10 = 0.5 or m11 = 0.5 or m12 = 0.5;
\\sleep 500 ms
"""
_TIME: Final = Figure("an insert of 200 readings", "ms", 5.0, statement_ms(_INSERT))


@fault(cause="indexes_unused", effect=_TIME)
def unused_indexes(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """Sessions insert readings into a table with an index on each of its twelve measures; nobody looks for any.

    They look up single readings by their number meanwhile.
    """
    _table(server)
    with workload(server, seed=dose.seed, clients=dose.of(1, 2, 4), script=_SCRIPT):
        yield


@fault(cause=None)
def used_indexes(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """The look-alike of unused_indexes: the same table and inserts, and each index is looked into now and then.

    What each insert pays for them is the same, and somebody needs them.
    """
    _table(server)
    with (
        workload(server, seed=dose.seed, clients=1, script=_SEARCH),
        workload(server, seed=dose.seed, clients=1, script=_SCRIPT),
    ):
        yield


def _table(server: PrivateServer) -> None:
    server.execute(_TABLE)
    for measure in _MEASURES:
        server.execute(sql.SQL("create index on readings ({})").format(sql.Identifier(measure)))
    for _ in range(200):
        server.execute(_INSERT)
    server.execute("vacuum analyze readings")
