"""Rows that are changed all the time, and a query on a standby that needs every version of them."""

from collections.abc import Iterator

from psycopg import IsolationLevel

from doctord.lab.dose import Dose
from doctord.lab.fault import fault
from doctord.lab.load.hot_rows import counting, create_counters
from doctord.lab.load.workload import workload
from doctord.lab.server import PrivateServer
from doctord.lab.standby import standby_of

_SHORT_REPORT = """
select sum(bbalance) from pgbench_branches;
\\sleep 50 ms
"""


@fault(cause="vacuum_held_back", warm_up_s=30.0)
def standby_query_hot_row(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """Four sessions count in ten rows, while a report on a standby holds a snapshot and does nothing.

    The standby asks the primary to keep what its queries need (hot_standby_feedback). On the primary no session,
    slot or prepared transaction is old.

    Seen: backend_xmin of the standby's sender 95,000 transactions old; 83,000 dead rows beside ten.
    """
    create_counters(server)
    with standby_of(server) as standby, standby.connect("month-end report") as report:
        report.isolation_level = IsolationLevel.REPEATABLE_READ
        with report.transaction():
            report.execute("select count(*) from pgbench_branches")
            with counting(server, dose, clients=dose.of(1, 4, 8)):
                yield


@fault(cause=None, warm_up_s=10.0)
def standby_of_short_queries(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """The look-alike of standby_query_hot_row: the same standby with the same feedback, and short reports on it.

    Each has its own snapshot for a millisecond: what the standby asks for is as young as the primary's own.
    """
    create_counters(server)
    with (
        standby_of(server) as standby,
        workload(standby, seed=dose.seed, clients=1, script=_SHORT_REPORT),
        counting(server, dose, rate_per_s=100),
    ):
        yield
