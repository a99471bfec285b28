"""A queue in a table that autovacuum may not touch, and one that it keeps small."""

from collections.abc import Iterator

from doctord.lab.fault import fault
from doctord.lab.server import PrivateServer
from doctord.lab.workload import workload

_TABLE = "create table jobs (id bigserial, ready boolean default true, filling text default repeat('x', 200))"
# What has been through the queue since somebody wanted no vacuum in its busy hours.
_DONE = ("insert into jobs (ready) select true from generate_series(1, 200000)", "delete from jobs")
_WORK = """
insert into jobs default values;
delete from jobs where ctid = (select ctid from jobs where ready limit 1 for update skip locked);
"""


@fault(cause="autovacuum_behind")
def queue_not_vacuumed(server: PrivateServer, seed: int) -> Iterator[None]:
    """Workers take their jobs from a table for which autovacuum is switched off: each steps over all that were.

    Seen: 200,000 dead rows beside a handful; a job takes 15 ms where the same queue, vacuumed, takes 1.
    """
    server.execute(f"{_TABLE} with (autovacuum_enabled = off)")
    for statement in _DONE:
        server.execute(statement)
    with workload(server, seed=seed, clients=2, script=_WORK, rate_per_s=20):
        yield


@fault(cause=None)
def queue_vacuumed(server: PrivateServer, seed: int) -> Iterator[None]:
    """The look-alike of queue_not_vacuumed: the same jobs, and autovacuum has been there.

    Expected: healthy; a job takes 1 ms.
    """
    server.execute(_TABLE)
    for statement in (*_DONE, "vacuum analyze jobs"):
        server.execute(statement)
    with workload(server, seed=seed, clients=2, script=_WORK, rate_per_s=20):
        yield
