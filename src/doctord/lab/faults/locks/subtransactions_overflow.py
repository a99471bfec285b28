"""A transaction of many savepoints that stays open, and what all others pay for it; and one of few."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, LiteralString

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.fault import fault
from doctord.lab.figures import statement_ms
from doctord.lab.load.workload import workload
from doctord.lab.server import PrivateServer

# What a backend tells others of its subtransactions (PGPROC_MAX_CACHED_SUBXIDS).
_TOLD: Final = 64
_TABLES: Final[tuple[LiteralString, ...]] = (
    "create table stock as select id, 0 as amount from generate_series(1, 100000) as id",
    "create table imported (line int)",
)
# Each row by a transaction of its own, as orders do it in a day.
_CHANGED: Final[LiteralString] = (
    "do $$ begin for n in 1..100000 loop"
    " update stock set amount = amount + 1 where ctid = format('(%s,%s)', n / 226, 1 + n % 226)::tid; commit;"
    " end loop; end $$"
)
_SUM: Final = "select sum(amount) from stock"
_REPORT = f"""
{_SUM};
\\sleep 200 ms
"""


@fault(
    cause="transaction_status_read",
    effect=Figure("a sum of 100,000 rows", "ms", 20.0, statement_ms(_SUM)),
    warm_up_s=3.0,
)
def subtransactions_overflow(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """An import sets a savepoint for each line, and stays open; all that read rows changed since pay for it.

    A snapshot holds no more than 64 subtransactions of a session: beyond, each reader looks up in pg_subtrans whom a
    row's transaction belongs to. `subtransactions_few` is the same import with few savepoints.

    Seen: look-ups of SLRU Subtrans by the hundred thousand a second, and a sum of 100,000 rows that takes several times
    as long.
    """
    with _importing(server, dose, savepoints=2 * _TOLD, clients=dose.of(1, 2, 4)):
        yield


@fault(cause=None, warm_up_s=3.0)
def subtransactions_few(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """The look-alike of subtransactions_overflow: the same import, as long open, with a savepoint for every tenth line.

    The snapshots hold all its subtransactions.
    """
    with _importing(server, dose, savepoints=_TOLD // 5, clients=1):
        yield


@contextmanager
def _importing(server: PrivateServer, dose: Dose, *, savepoints: int, clients: int) -> Iterator[None]:
    for statement in _TABLES:
        server.execute(statement)
    with server.connect("import") as session, session.transaction():
        for number in range(savepoints):
            session.execute("savepoint line")
            session.execute("insert into imported values (%s)", [number])
        with server.connect("orders") as orders:
            orders.execute("set synchronous_commit = off")
            orders.execute(_CHANGED)
        with workload(server, seed=dose.seed, clients=clients, script=_REPORT):
            yield
