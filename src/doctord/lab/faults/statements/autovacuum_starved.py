"""A queue in a table that autovacuum may touch a little now and then, and one that it may work through."""

from collections.abc import Iterator

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.fault import fault
from doctord.lab.figures import statement_ms
from doctord.lab.load.workload import workload
from doctord.lab.server import PrivateServer

_PROMPT = {"autovacuum_naptime": "1s"}
_STARVED = {**_PROMPT, "autovacuum_vacuum_cost_delay": "100ms", "autovacuum_vacuum_cost_limit": "10"}
# What has been through the queue since the server was told to be gentle with its disk.
_DONE = (
    "create table jobs (id bigserial, ready boolean default true, filling text default repeat('x', 200))",
    "insert into jobs (ready) select true from generate_series(1, 200000)",
    "delete from jobs",
)
_WORK = """
insert into jobs default values;
delete from jobs where ctid = (select ctid from jobs where ready limit 1 for update skip locked);
"""

_JOB = Figure("a look for the next job", "ms", 0.5, statement_ms("select ctid from jobs where ready limit 1"))


@fault(cause="autovacuum_behind", effect=_JOB, settings=_STARVED, warm_up_s=10.0)
def autovacuum_starved(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """Workers take their jobs from a table that autovacuum is at work on, five pages a second.

    autovacuum_vacuum_cost_delay and cost_limit make it sleep nearly all the time: what it removes in an hour dies in
    minutes. Nobody holds an old snapshot (`old_snapshot_hot_row`), and it is on (`queue_not_vacuumed`).

    Seen: a worker in `VacuumDelay` all the time, 200,000 dead rows beside a handful; 21 minutes for one pass.
    """
    yield from _queue(server, dose, rate_per_s=dose.of(10, 20, 60))


@fault(cause=None, settings=_PROMPT, warm_up_s=10.0)
def autovacuum_at_work(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """The look-alike of autovacuum_starved: the same queue, and autovacuum at the rate that is its default.

    It has worked through the table within seconds, and comes again when there is something to do.
    """
    yield from _queue(server, dose, rate_per_s=20)


def _queue(server: PrivateServer, dose: Dose, *, rate_per_s: int) -> Iterator[None]:
    for statement in _DONE:
        server.execute(statement)
    with workload(server, seed=dose.seed, clients=2, script=_WORK, rate_per_s=rate_per_s):
        yield
