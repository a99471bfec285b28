"""A load of many rows at once."""

from collections.abc import Iterator

from doctord.lab.dose import Dose
from doctord.lab.fault import fault
from doctord.lab.load.workload import workload
from doctord.lab.server import PrivateServer

_SCRIPT = """
insert into loaded select id, repeat(md5(id::text), 3) from generate_series(1, 20000) as id;
\\sleep 250 ms
"""


@fault(cause=None)
def bulk_load(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """One session loads 20,000 rows at a time into a table without indexes, four times a second.

    It is what a database is for: there is nothing to be found.
    """
    server.execute("create table loaded (id int, content text)")
    with workload(server, seed=dose.seed, clients=1, script=_SCRIPT):
        yield
