"""Rows that are changed all the time, and a snapshot that needs every version of them."""

from collections.abc import Iterator

from psycopg import IsolationLevel

from doctord.lab.dose import Dose
from doctord.lab.fault import fault
from doctord.lab.load.hot_rows import counting, create_counters
from doctord.lab.server import PrivateServer


@fault(cause="vacuum_held_back", warm_up_s=30.0)
def old_snapshot_hot_row(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """Four sessions count in ten rows, while a report holds a snapshot and does nothing.

    No version of the rows since that snapshot may be removed: whoever looks for a row walks through all of them.

    Seen: both CPUs full of four sessions whose updates become slower and slower; the light load takes 3 ms, not 1.

    """
    create_counters(server)
    with server.connect("month-end report") as report:
        report.isolation_level = IsolationLevel.REPEATABLE_READ
        with report.transaction():
            report.execute("select count(*) from counters")
            with counting(server, dose, clients=dose.of(1, 4, 8)):
                yield
