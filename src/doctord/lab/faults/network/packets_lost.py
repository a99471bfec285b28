"""Large results over a way that loses packets, and over one that is narrow."""

from collections.abc import Iterator

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.fault import fault
from doctord.lab.figures import far_latency_ms
from doctord.lab.host.network import far_end
from doctord.lab.load.workload import workload
from doctord.lab.server import PrivateServer

# Two results a second of 2 MB each: a tenth of a second on a way on which nothing is lost and 50 MB/s fit.
_CLIENTS, _RATE_PER_S = 6, 2
_RESULT = """
\\set first random(1, 980000)
select * from pgbench_accounts where aid between :first and :first + 20000;
"""
_DELAY_S = 0.005
_LATE = Figure("latency at the far end", "ms", 300, far_latency_ms)


@fault(cause="network_retransmits", effect=_LATE, root_for="a network of its own", warm_up_s=5.0)
def packets_lost(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """Clients elsewhere ask for results of 2 MB, and of a hundred packets five are lost on the way.

    TCP sends them again, and each time sends less at once. `narrow_way` looks the same to the server.

    Seen: sessions wait for their clients (`ClientWrite`); nstat counts TcpRetransSegs.
    """
    with (
        far_end(server, delay_s=_DELAY_S, lost=dose.of(0.03, 0.05, 0.1)) as far,
        workload(server, seed=dose.seed, clients=_CLIENTS, script=_RESULT, rate_per_s=_RATE_PER_S, far=far),
    ):
        yield


@fault(cause="network_narrow", effect=_LATE, root_for="a network of its own", warm_up_s=5.0)
def narrow_way(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """Clients elsewhere ask for results of 2 MB, and the way to them carries one megabyte a second.

    Nothing is lost: what does not fit through stands in a queue before it.

    Seen: sessions wait for their clients (`ClientWrite`); ss -ti tells a round trip of hundreds of milliseconds and a
    least one (minrtt) of ten, and that data is under way.
    """
    with (
        far_end(server, delay_s=_DELAY_S, bytes_per_s=dose.of(2_000_000, 1_000_000, 500_000)) as far,
        workload(server, seed=dose.seed, clients=_CLIENTS, script=_RESULT, rate_per_s=_RATE_PER_S, far=far),
    ):
        yield


@fault(cause=None, root_for="a network of its own", warm_up_s=5.0)
def good_way(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """Clients elsewhere ask for results of 2 MB, nothing is lost, and everything fits through.

    The look-alike of packets_lost and narrow_way: as many results, each there in a moment.
    """
    with (
        far_end(server, delay_s=0.0005) as far,
        workload(server, seed=dose.seed, clients=_CLIENTS, script=_RESULT, rate_per_s=_RATE_PER_S, far=far),
    ):
        yield
