"""A condition by which no partition is left out."""

from collections.abc import Iterator
from typing import Final, LiteralString

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.fault import fault
from doctord.lab.figures import statement_ms
from doctord.lab.load.workload import workload
from doctord.lab.server import PrivateServer

_TABLES: Final[tuple[LiteralString, ...]] = (
    "create table readings (at timestamp not null, device int not null, value float8) partition by range (at)",
    "create index on readings (device, at)",
    "do $$ begin for day in 0..799 loop execute format("
    "'create table readings_%s partition of readings for values from (%L) to (%L)',"
    " day, date '2024-01-01' + day, date '2024-01-01' + day + 1); end loop; end $$",
    "insert into readings select timestamp '2024-01-01' + id % 800 * interval '1 day' + id % 1440 * interval '1 min',"
    " id % 97, id from generate_series(1, 160000) as id",
    "analyze readings",
)
_BY_EXPRESSION = """
\\set day random(0, 799)
\\set device random(0, 96)
select avg(value) from readings where at::date = date '2024-01-01' + :day::int and device = :device;
\\sleep {} ms
"""
_BY_RANGE = """
\\set day random(0, 799)
\\set device random(0, 96)
select avg(value) from readings where at >= date '2024-01-01' + :day::int
and at < date '2024-01-01' + :day::int + 1 and device = :device;
\\sleep 150 ms
"""
_ONE_DAY = "select avg(value) from readings where at::date = date '2024-06-01' and device = 1"
_LOOK_UP = Figure("a look-up of one day", "ms", 5.0, statement_ms(_ONE_DAY))


@fault(cause="partitions_not_pruned", effect=_LOOK_UP)
def partitions_not_pruned(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """A table is divided by day into 800 partitions, and a look-up of one day casts the column.

    Each call plans and looks into all of them.

    Seen: 5 calls a second, each 20 ms and more on a CPU, of which the execution is a part; it takes 1 ms where the
    condition is a range of the column.
    """
    yield from _looking_up(server, dose, _BY_EXPRESSION.format(dose.of(500, 150, 20)))


@fault(cause=None)
def partitions_pruned(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """The same with a range of the column: one partition is left.

    It looks like `partitions_not_pruned`: the same table and as many partitions.
    """
    yield from _looking_up(server, dose, _BY_RANGE)


def _looking_up(server: PrivateServer, dose: Dose, script: str) -> Iterator[None]:
    for statement in _TABLES:
        server.execute(statement)
    with workload(server, seed=dose.seed, clients=1, script=script):
        yield
