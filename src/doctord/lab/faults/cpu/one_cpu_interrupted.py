"""Packets that one CPU has to work through, and packets that cost it nothing."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.errors import UnavailableError
from doctord.lab.fault import fault
from doctord.lab.host.processes import running
from doctord.lab.server import PrivateServer

_RATE_PER_S = 10_000
_FEW_LISTENERS = 2
# A network and a view of /sys of its own: what is set there is gone with it.
_ALONE = ("unshare", "--net", "--mount")
# Packets that come by loopback are worked through by the CPU that this mask names, whoever sends them.
_STEER = """
set -e
ip link set lo up
ip route add 239.0.0.0/8 dev lo
mount -t sysfs none /sys
echo "$1" > /sys/class/net/lo/queues/rx-0/rps_cpus
shift
exec "$@"
"""
# A datagram to a group is handed to each of its listeners while it is received: in an interrupt, and not by a process.
_SEND = """
import os, resource, socket, sys, time
listeners, rate_per_s, cpu = (int(word) for word in sys.argv[1:])
resource.setrlimit(resource.RLIMIT_NOFILE, (2 * listeners + 64, 2 * listeners + 64))
group, here = ("239.1.2.3", 9999), socket.inet_aton("127.0.0.1")
every = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(listeners)]
for one in every:
    one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
    one.bind(group)
    one.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton(group[0]) + here)
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, here)
os.sched_setaffinity(0, {cpu})
began, sent = time.monotonic(), 0
while True:
    for _ in range(20):
        sender.sendto(b"x", group)
    sent += 20
    time.sleep(max(0.0, began + sent / rate_per_s - time.monotonic()))
"""


def _softirq_s(_server: PrivateServer) -> float:
    """Seconds that all CPUs have spent in soft interrupts since boot."""
    return int(Path("/proc/stat").read_text().split()[7]) / os.sysconf("SC_CLK_TCK")


@fault(
    cause="interrupts_on_one_cpu",
    effect=Figure("soft interrupts", "s", 5, _softirq_s),
    root_for="a network of its own",
)
def one_cpu_interrupted(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """All packets of the host are worked through by one CPU, as with a network card of one queue.

    10,000 datagrams a second come in by loopback, each of which goes to a thousand listeners; receive packet steering
    gives all of it to one CPU.

    Seen: that CPU spends 90 % of its time in soft interrupts, the other one is nearly idle.
    """
    with _datagrams(server, dose.of(700, 1000, 2000)):
        yield


@fault(cause=None, root_for="a network of its own")
def one_cpu_receives(server: PrivateServer, _dose: Dose) -> Iterator[None]:
    """The look-alike of one_cpu_interrupted: as many packets on one CPU, which has next to nothing to do for each.

    Each of the 10,000 datagrams a second has two listeners in place of a thousand.

    Seen: 1 % of that CPU's time in soft interrupts.
    """
    with _datagrams(server, _FEW_LISTENERS):
        yield


@contextmanager
def _datagrams(server: PrivateServer, listeners: int) -> Iterator[None]:
    """Datagrams to a group of listeners, received by the first CPU and sent by another, until the context ends."""
    cpus = sorted(os.sched_getaffinity(0))[:2]
    if len(cpus) < 2:
        raise UnavailableError("no other CPU could take a part of the interrupts")
    sender = [sys.executable, "-c", _SEND, str(listeners), str(_RATE_PER_S), str(cpus[1])]
    steered = ["sh", "-c", _STEER, "sh", f"{1 << cpus[0]:x}", *sender]
    with running([*_ALONE, *steered], server.folder / "datagrams.log") as process:
        yield
        if process.poll() is not None:
            raise UnavailableError(f"datagrams could not be steered: {_last_line(server.folder / 'datagrams.log')}")


def _last_line(log: Path) -> str:
    lines = log.read_text(errors="replace").splitlines()
    return lines[-1] if lines else "it ended at once"
