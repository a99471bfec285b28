"""A plan made of figures that were true once."""

from collections.abc import Iterator

from doctord.lab.dose import Dose
from doctord.lab.fault import fault
from doctord.lab.load.workload import workload
from doctord.lab.server import PrivateServer

_LOOKUP = """
\\set customer random(1, 3)
select count(*), sum(amount) from orders where customer = :customer;
\\sleep 20 ms
"""
# When it was analysed there were three customers, each with a third of the rows; since then there are 20,000.
_TABLE = (
    "create table orders (id bigint, customer int, amount numeric, note text) with (autovacuum_enabled = off)",
    "create index orders_customer on orders (customer)",
    "insert into orders select id, 1 + id % 3, id * 0.01, repeat('.', 60) from generate_series(1, 100000) as id",
    "analyze orders",
    "delete from orders",
    "insert into orders select id, 1 + id % 20000, id * 0.01, repeat('.', 60) from generate_series(1, 600000) as id",
    "vacuum orders",
)


@fault(cause="index_not_used")
def stale_statistics(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """Two sessions look up orders by customer, and the planner believes that each has a third of all.

    There is an index on that column. Since the table was analysed, with three customers, its rows were replaced by
    those of 20,000, and autovacuum is off for it: the planner reads the whole table for 30 rows. `missing_index`
    is the same without the index.

    Seen: 80 % of the time in one statement, 64 scans of the table a second; the light load takes 8 ms instead of 1 ms.

    """
    for statement in _TABLE:
        server.execute(statement)
    with workload(server, seed=dose.seed, clients=dose.of(1, 2, 6), script=_LOOKUP):
        yield
