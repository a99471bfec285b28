"""More sessions at work than CPUs for them."""

from collections.abc import Iterator

from doctord.lab.dose import Dose
from doctord.lab.fault import fault
from doctord.lab.load.workload import workload
from doctord.lab.server import PrivateServer

_SCRIPT = """
\\set account random(1, 1000000)
select abalance from pgbench_accounts where aid = :account;
"""


@fault(cause="cpu_saturated", settings={"max_connections": "500"}, warm_up_s=4.0)
def many_clients(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """Two hundred clients look up single rows without a pause, all at once, and there is no pool before the server.

    Nobody waits for a lock or a disk. Seen from the database most sessions are idle: their requests have arrived, and
    they have not been given a CPU to read them.

    Seen: 29 sessions in the run queue of two CPUs by the kernel's count; the light load takes 4 ms instead of 1 ms.

    """
    with workload(server, seed=dose.seed, clients=dose.of(40, 200, 400), script=_SCRIPT):
        yield
