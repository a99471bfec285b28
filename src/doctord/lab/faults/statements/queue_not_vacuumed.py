"""A queue in a table that autovacuum may not touch, and one that it keeps small."""

from collections.abc import Iterator

from psycopg import sql

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.fault import fault
from doctord.lab.figures import statement_ms
from doctord.lab.load.workload import workload
from doctord.lab.server import PrivateServer

_TABLE = "create table jobs (id bigserial, ready boolean default true, filling text default repeat('x', 200))"
# What has been through the queue since somebody wanted no vacuum in its busy hours.
_DONE = sql.SQL("insert into jobs (ready) select true from generate_series(1, {})")
_WORK = """
insert into jobs default values;
delete from jobs where ctid = (select ctid from jobs where ready limit 1 for update skip locked);
"""
_JOB = Figure("a look for the next job", "ms", 0.5, statement_ms("select ctid from jobs where ready limit 1"))


@fault(cause="autovacuum_behind", effect=_JOB)
def queue_not_vacuumed(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """Workers take their jobs from a table for which autovacuum is switched off: each steps over all that were.

    Seen: 200,000 dead rows beside a handful; a job takes 15 ms where the same queue, vacuumed, takes 1.
    """
    server.execute(f"{_TABLE} with (autovacuum_enabled = off)")
    server.execute(_DONE.format(dose.of(120_000, 200_000, 200_000)))
    server.execute("delete from jobs")
    # No larger: of a table of more than a quarter of the buffers a scan begins where the last one was, beside the jobs.
    with workload(server, seed=dose.seed, clients=dose.of(2, 2, 6), script=_WORK, rate_per_s=dose.of(20, 20, 80)):
        yield


@fault(cause=None)
def queue_vacuumed(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """The look-alike of queue_not_vacuumed: the same jobs, and autovacuum has been there.

    Expected: healthy; a job takes 1 ms.
    """
    server.execute(_TABLE)
    for statement in (_DONE.format(200_000), "delete from jobs", "vacuum analyze jobs"):
        server.execute(statement)
    with workload(server, seed=dose.seed, clients=2, script=_WORK, rate_per_s=20):
        yield
