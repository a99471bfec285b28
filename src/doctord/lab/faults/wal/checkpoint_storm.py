"""Checkpoints that chase each other."""

from collections.abc import Iterator

from doctord.lab.dose import Dose
from doctord.lab.fault import fault
from doctord.lab.load.workload import workload
from doctord.lab.server import PrivateServer

_SCRIPT = """
\\set first random(1, 80000)
update pgbench_accounts set abalance = abalance + 1
where aid in (select :first + n * 10000 from generate_series(0, 90) n);
"""


@fault(cause="checkpoints_too_frequent")
def checkpoint_storm(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """max_wal_size is 32 MB while scattered rows are updated, so that a checkpoint is requested every second or two.

    After each checkpoint the first change of a page writes the whole page to the WAL, which brings on the next one.

    Seen: three checkpoints and 8,700 full-page images (70 MB of WAL) per second, 1.8 sessions waiting for the WAL; a
    transaction of the light load takes 97 ms instead of 1 ms.
    """
    server.set(max_wal_size="32MB", min_wal_size="32MB")
    with workload(server, seed=dose.seed, clients=4, script=_SCRIPT, rate_per_s=dose.of(30, 100, 300)):
        yield
