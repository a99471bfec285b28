"""A lookup that reads the whole table."""

from collections.abc import Iterator

from doctord.lab.dose import Dose
from doctord.lab.fault import fault
from doctord.lab.load.workload import workload
from doctord.lab.server import PrivateServer

_SCRIPT = """
\\set customer random(1, 20000)
select count(*), sum(amount) from orders where customer = :customer;
\\sleep 20 ms
"""


@fault(cause="missing_index")
def missing_index(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """Two sessions look up orders by customer, and there is no index on that column.

    Each lookup reads a table of 600,000 rows for the 30 that it wants. The table fits into the buffer pool, so that all
    this is CPU time, in one statement.

    Seen: 32 lookups per second at 41 ms each, 1.2 sessions and 1.8 parallel workers on a CPU, no reads; a transaction
    of the light load takes 9 ms instead of 1 ms.
    """
    server.execute(
        "create table orders as select id, 1 + id % 20000 as customer, id * 0.01 as amount, repeat('.', 60) as note"
        " from generate_series(1, 600000) id"
    )
    server.execute("vacuum analyze orders")
    with workload(server, seed=dose.seed, clients=dose.of(1, 2, 6), script=_SCRIPT):
        yield
