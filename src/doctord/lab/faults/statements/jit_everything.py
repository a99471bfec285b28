"""Statements that take longer to compile than to run."""

from collections.abc import Iterator

from doctord.lab.dose import Dose
from doctord.lab.errors import UnavailableError
from doctord.lab.fault import fault
from doctord.lab.load.workload import workload
from doctord.lab.server import PrivateServer

_SCRIPT = """
\\set first random(1, 900000)
select bid, count(*), sum(abalance), avg(abalance), max(length(filler)) from pgbench_accounts
where aid between :first and :first + 200 group by bid order by bid;
\\sleep 20 ms
"""


@fault(cause="jit_compiles_much")
def jit_everything(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """jit_above_cost is 0: two sessions run short reports, and each is compiled, inlined and optimised first.

    Seen: three quarters of the time on a CPU go into compiling; the light load takes 3.5 ms instead of 1 ms.
    """
    with server.connect() as connection:
        offered = connection.execute("select pg_jit_available()").fetchone()
    if offered != (True,):
        raise UnavailableError("this PostgreSQL was built without JIT")
    server.set(jit="on", jit_above_cost="0", jit_inline_above_cost="0", jit_optimize_above_cost="0")
    with workload(server, seed=dose.seed, clients=dose.of(1, 2, 6), script=_SCRIPT):
        yield
