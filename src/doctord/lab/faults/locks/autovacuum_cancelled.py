"""A job whose lock cancels autovacuum again and again, and one whose lock lets it go on."""

from collections.abc import Iterator

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.fault import fault
from doctord.lab.figures import statement_ms
from doctord.lab.load.workload import workload
from doctord.lab.server import PrivateServer

# A pass over the table takes some ten seconds, as over a larger one at the defaults.
_PROMPT = {
    "autovacuum_naptime": "1s",
    "autovacuum_vacuum_cost_delay": "100ms",
    "autovacuum_vacuum_cost_limit": "50",
}
# What has been through the queue since the job takes its lock.
_DONE = (
    "create table jobs (id bigserial, ready boolean default true, filling text default repeat('x', 200))",
    "insert into jobs (ready) select true from generate_series(1, 200000)",
    "delete from jobs",
)
_WORK = """
insert into jobs default values;
delete from jobs where ctid = (select ctid from jobs where ready limit 1 for update skip locked);
"""
_COUNT = """
begin;
lock table jobs in {} mode;
select count(*) from jobs;
commit;
\\sleep {} s
"""
_JOB = Figure("a look for the next job", "ms", 0.5, statement_ms("select ctid from jobs where ready limit 1"))


@fault(cause="autovacuum_behind", effect=_JOB, settings=_PROMPT, warm_up_s=15.0)
def autovacuum_cancelled(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """A job counts the queue every few seconds, and locks it against changes meanwhile (LOCK TABLE ... IN SHARE MODE).

    Autovacuum gives way to it after a second (deadlock_timeout) and begins from the start: it never gets through.

    Seen: "canceling autovacuum task" in the log every few seconds, 200,000 dead rows beside a handful.
    """
    yield from _queue(server, dose, _COUNT.format("share", dose.of(4, 2, 1)))


@fault(cause=None, settings=_PROMPT, warm_up_s=40.0)
def autovacuum_let_through(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """The look-alike of autovacuum_cancelled: the same job takes a lock that autovacuum does not mind (ROW EXCLUSIVE).

    It has worked through the table, and comes again when there is something to do.
    """
    yield from _queue(server, dose, _COUNT.format("row exclusive", 2))


def _queue(server: PrivateServer, dose: Dose, count: str) -> Iterator[None]:
    for statement in _DONE:
        server.execute(statement)
    with (
        workload(server, seed=dose.seed, clients=2, script=_WORK, rate_per_s=20),
        workload(server, seed=dose.seed, clients=1, script=count),
    ):
        yield
