"""Documents that lie beside their rows (TOAST): a report that looks into each, and one that looks at the rows alone."""

from collections.abc import Iterator
from typing import Final, LiteralString

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.fault import fault
from doctord.lab.figures import statement_ms
from doctord.lab.load.workload import workload
from doctord.lab.server import PrivateServer

# Documents of 32 kB, not compressed, as pictures and what was compressed before lie there; and as many blocks of rows.
_TABLES: Final[tuple[LiteralString, ...]] = (
    "create unlogged table documents (id int primary key, customer int not null, body text not null)",
    "alter table documents alter body set storage external",
    "insert into documents select id, id % 100, repeat(md5(id::text), 1000) from generate_series(1, 2000) as id",
    "create unlogged table lines (id int primary key, customer int not null, remark text not null)",
    "insert into lines select id, id % 100, repeat('x', 400) from generate_series(1, 60000) as id",
    "vacuum analyze documents",
    "vacuum analyze lines",
)
_LOOKS_INTO = """
\\set first random(1, {last})
select sum(length(body)) from documents where id between :first and :first + {documents};
\\sleep 50 ms
"""
_SCANS = """
select sum(customer) from lines;
\\sleep 50 ms
"""
_REPORT = Figure(
    "a report of all documents", "ms", 10.0, statement_ms("select sum(length(body)) from documents where id > 0")
)


@fault(cause="wide_values_fetched", effect=_REPORT)
def wide_values_fetched_for_each_row(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """Reports add up the lengths of a few hundred documents, each of which lies in sixteen pieces beside its row.

    The rows are found by the primary key; all documents are fetched, and put together, to learn how long they are.
    `lines_scanned` is a scan that looks at as many blocks.

    Seen: toast_blks_hit of the table rises by thousands a second, heap_blks_hit by a few hundred.
    """
    documents = dose.of(150, 400, 1200)
    script = _LOOKS_INTO.format(documents=documents, last=2000 - documents)
    yield from _reporting(server, dose, script)


@fault(cause=None)
def lines_scanned(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """The look-alike of wide_values_fetched_for_each_row: a report that scans a table of rows with nothing beside them.

    It looks at 3,500 blocks a call, as the other one does at some thousands, and needs each of them.
    """
    yield from _reporting(server, dose, _SCANS)


def _reporting(server: PrivateServer, dose: Dose, script: str) -> Iterator[None]:
    for statement in _TABLES:
        server.execute(statement)
    with workload(server, seed=dose.seed, clients=1, script=script):
        yield
