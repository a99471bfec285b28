"""Transactions of several statements: over a long way, and from a client that thinks between them."""

from collections.abc import Iterator

from doctord.lab.dose import Dose
from doctord.lab.fault import fault
from doctord.lab.host.network import far_end
from doctord.lab.load.workload import workload
from doctord.lab.server import PrivateServer

_CLIENTS = 8
# pgbench's own transaction, and what an application does before each next statement.
_THINKING = """
\\set aid random(1, 1000000)
\\set bid random(1, 10)
\\set tid random(1, 100)
\\set delta random(-5000, 5000)
begin;
\\sleep {pause_ms} ms
update pgbench_accounts set abalance = abalance + :delta where aid = :aid;
\\sleep {pause_ms} ms
select abalance from pgbench_accounts where aid = :aid;
\\sleep {pause_ms} ms
update pgbench_tellers set tbalance = tbalance + :delta where tid = :tid;
\\sleep {pause_ms} ms
update pgbench_branches set bbalance = bbalance + :delta where bid = :bid;
\\sleep {pause_ms} ms
insert into pgbench_history (tid, bid, aid, delta, mtime) values (:tid, :bid, :aid, :delta, current_timestamp);
\\sleep {pause_ms} ms
end;
"""


@fault(cause="network_latency", root_for="a network of its own")
def far_clients(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """Eight clients run transactions of seven statements from a place forty milliseconds away.

    The rows that they have changed stay locked for the two or three round trips until they commit, and who is near
    waits for them. `thinking_clients` look the same to the server.

    Seen: sessions idle in their transactions for 40 ms at a time, and no CPU is busy; ss -ti tells the round trip.
    """
    with (
        far_end(server, delay_s=dose.of(0.005, 0.02, 0.1)) as far,
        workload(server, seed=dose.seed, clients=_CLIENTS, far=far),
    ):
        yield


@fault(cause="row_locks")
def thinking_clients(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """Eight clients on this host work for forty milliseconds between the statements of their transactions.

    The look-alike of far_clients: the same sessions, idle in their transactions as long, and no network.
    """
    script = _THINKING.format(pause_ms=dose.of(10, 40, 200))
    with workload(server, seed=dose.seed, clients=_CLIENTS, script=script):
        yield
