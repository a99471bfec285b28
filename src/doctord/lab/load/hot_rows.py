"""Ten rows that are counted in all the time: who suffers first when no row version may be removed."""

from contextlib import AbstractContextManager

from doctord.lab.dose import Dose
from doctord.lab.load.workload import Workload, workload
from doctord.lab.server import PrivateServer

_SCRIPT = """
\\set name random(1, 10)
update counters set value = value + 1 where name = :name;
"""


def create_counters(server: PrivateServer) -> None:
    """The table of the rows, before anybody holds a snapshot."""
    server.execute("create table counters (name int primary key, value bigint not null)")
    server.execute("insert into counters select name, 0 from generate_series(1, 10) as name")


def counting(
    server: PrivateServer, dose: Dose, *, clients: int = 4, rate_per_s: int | None = None
) -> AbstractContextManager[Workload]:
    """Sessions count in them, as often as they can, or so often a second."""
    return workload(server, seed=dose.seed, clients=clients, script=_SCRIPT, rate_per_s=rate_per_s)
