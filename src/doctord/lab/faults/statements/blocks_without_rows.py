"""A table of which nearly all rows were deleted, and that is read whole all the time; and one with as few rows."""

from collections.abc import Iterator
from typing import Final, LiteralString

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.fault import fault
from doctord.lab.figures import statement_ms
from doctord.lab.load.workload import workload
from doctord.lab.server import PrivateServer

_MADE: Final[tuple[LiteralString, ...]] = (
    "create unlogged table jobs (id int primary key, state text not null, remark text not null)",
    "insert into jobs select id, 'done', repeat('x', 400) from generate_series(1, 240000) as id",
)
_OPEN: Final = "select count(*) from jobs where state = 'done'"
_SCRIPT: Final = f"""
{_OPEN};
\\sleep 100 ms
"""
_LOOK = Figure("a look at all jobs", "ms", 1.5, statement_ms(_OPEN))


@fault(cause="table_mostly_empty", effect=_LOOK, warm_up_s=5.0)
def blocks_without_rows(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """A queue of 240,000 jobs was worked off but for the last 250, and vacuumed; a dashboard counts what is left.

    The rows that are left lie in the last blocks, so that vacuum can cut off nothing: 117 MB. `few_rows` has as many
    rows in a few blocks.

    Seen: a call of the dashboard's statement takes 10 ms and more in place of one, hardly a row is dead.
    """
    yield from _counted(server, dose, "delete from jobs where id <= 239990", dose.of(1, 3, 6))


@fault(cause=None)
def few_rows(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """The look-alike of blocks_without_rows: the table was emptied at once (TRUNCATE), and has 250 new rows.

    The same scans take a tenth of a millisecond.
    """
    yield from _counted(server, dose, "truncate jobs", 3)


def _counted(server: PrivateServer, dose: Dose, emptied: LiteralString, clients: int) -> Iterator[None]:
    for statement in _MADE:
        server.execute(statement)
    server.execute(emptied)
    server.execute("insert into jobs select id, 'done', 'new' from generate_series(300001, 300250) as id")
    server.execute("vacuum analyze jobs")
    with workload(server, seed=dose.seed, clients=clients, script=_SCRIPT):
        yield
