"""Rows that are changed all the time, and a snapshot that needs every version of them."""

from collections.abc import Iterator

from psycopg import IsolationLevel

from doctord.lab.dose import Dose
from doctord.lab.fault import fault
from doctord.lab.server import PrivateServer
from doctord.lab.workload import workload

_SCRIPT = """
\\set name random(1, 10)
update counters set value = value + 1 where name = :name;
"""


@fault(cause="vacuum_held_back", warm_up_s=30.0)
def old_snapshot_hot_row(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """Four sessions count in ten rows, while a report holds a snapshot and does nothing.

    No version of the rows since that snapshot may be removed: whoever looks for a row walks through all of them.

    Seen: both CPUs full of four sessions whose updates become slower and slower; the light load takes 3 ms, not 1.

    """
    server.execute("create table counters (name int primary key, value bigint not null)")
    server.execute("insert into counters select name, 0 from generate_series(1, 10) as name")
    with server.connect("month-end report") as report:
        report.isolation_level = IsolationLevel.REPEATABLE_READ
        with report.transaction():
            report.execute("select count(*) from counters")
            with workload(server, seed=dose.seed, clients=dose.of(1, 4, 8), script=_SCRIPT):
                yield
