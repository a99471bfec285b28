"""A network of the lab's own with a way to it that is long, lossy or narrow, and programs that run at its far end.

    python -m doctord.lab.host.network --net N [--delay S] [--lost PART] [--bytes-per-s B]

Two TUN devices, one here and one in a network namespace of its own; between them this process carries each packet, so
that the kernel's TCP at both ends meets what it would meet on such a line. A proxy would not do: it acknowledges what
it holds. The devices, the namespace and the addresses are gone when the process ends, however it ends.
"""

import argparse
import ctypes
import fcntl
import os
import random
import select
import struct
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from doctord.lab.errors import UnavailableError
from doctord.lab.host.processes import running
from doctord.lab.server import PrivateServer

_TUN: Final = Path("/dev/net/tun")
# linux/if_tun.h and linux/sched.h.
_TUNSETIFF, _IFF_TUN, _IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
_CLONE_NEWNET: Final = 0x40000000
_PACKET: Final = 1 << 16
_STARTS_S: Final = 10.0
# As a network card waits before it interrupts: else each packet of a large result wakes several processes.
_TOGETHER_S: Final = 0.001
# A program at the far end takes that much before it has read any of it: the usual start of Linux, without its growth.
_FAR_WINDOW: Final = "4096 131072 262144"
_READY: Final = "ready"

_LOOPBACK: Final = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class FarEnd:
    """The network at the far end: the server's address as it is known there, and how to run a program there."""

    address: str
    entrance: tuple[str, ...]


@contextmanager
def far_end(
    server: PrivateServer, *, delay_s: float = 0.0, lost: float = 0.0, bytes_per_s: int = 0
) -> Iterator[FarEnd]:
    """Such a network, until the context ends; who comes from there may log in.

    Args:
        server: the server, which listens on loopback alone, as ever.
        delay_s: how long each packet is on its way, one way.
        lost: the part (0 to 1) of all packets that is lost.
        bytes_per_s: how much fits through, each way; 0: as much as is sent.

    Raises:
        UnavailableError: this kernel, or who runs us, has no TUN devices or network namespaces.
    """
    if not os.access(_TUN, os.R_OK | os.W_OK):
        raise UnavailableError(f"{_TUN} cannot be opened: a network of the lab's own needs it")
    log, net = server.folder / "network.log", os.getpid() % 256
    log.unlink(missing_ok=True)  # of another one, which was ready too
    options = ["--net", net, "--delay", delay_s, "--lost", lost, "--bytes-per-s", bytes_per_s]
    with running([sys.executable, "-m", "doctord.lab.host.network", *map(str, options)], log) as process:
        _wait_until_ready(process, log)
        _let_in(server, _far(net))
        yield FarEnd(_LOOPBACK, ("nsenter", f"--net=/proc/{process.pid}/ns/net", "--"))


def _let_in(server: PrivateServer, address: str) -> None:
    with (server.data / "pg_hba.conf").open("a") as rules:
        rules.write(f"host all postgres {address}/32 trust\n")
    server.execute("select pg_reload_conf()")


def _wait_until_ready(process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _STARTS_S
    while process.poll() is None and time.monotonic() < deadline:
        if _READY in log.read_text(errors="replace"):
            return
        time.sleep(0.05)
    words = "".join(log.read_text(errors="replace").splitlines()[-1:])
    raise UnavailableError(f"no network of the lab's own could be made: {words}")


def _near(net: int) -> str:
    """Our own address in a network; 198.18.0.0/15 is for tests of networks (RFC 2544) and nobody's."""
    return f"198.18.{net}.1"


def _far(net: int) -> str:
    return f"198.18.{net}.2"


@dataclass(slots=True)
class Line:
    """One direction: packets are read at one end, and written at the other when they have got there."""

    source: int
    target: int
    delay_s: float
    lost: float
    bytes_per_s: int
    random: random.Random
    under_way: deque[tuple[float, bytes]] = field(default_factory=deque)
    free_s: float = 0.0

    def take(self, now_s: float) -> None:
        """Read a packet that is there, and know when it will arrive."""
        packet = os.read(self.source, _PACKET)
        if self.random.random() < self.lost:
            return
        if self.bytes_per_s:
            self.free_s = max(self.free_s, now_s) + len(packet) / self.bytes_per_s
        self.under_way.append((max(self.free_s, now_s) + self.delay_s, packet))

    def deliver(self, now_s: float) -> None:
        """Write those that have arrived."""
        while self.under_way and self.under_way[0][0] <= now_s:
            with suppress(OSError):  # the device is down, or its queue is full: it is lost
                os.write(self.target, self.under_way.popleft()[1])


def _device(name: str, address: str, peer: str) -> int:
    """A TUN device of the present network namespace, there until it is closed, that packets of loopback may pass."""
    device = os.open(_TUN, os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, _TUNSETIFF, struct.pack("16sH22x", name.encode(), _IFF_TUN | _IFF_NO_PI))
    subprocess.run(["ip", "address", "add", address, "peer", peer, "dev", name], check=True)
    subprocess.run(["ip", "link", "set", name, "up"], check=True)
    Path(f"/proc/sys/net/ipv4/conf/{name}/route_localnet").write_text("1")
    return device


def _leave_network() -> None:
    """Go into a network namespace of our own; what is open stays in the one before."""
    library = ctypes.CDLL(None, use_errno=True)
    if library.unshare(_CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "unshare")
    Path("/proc/sys/net/ipv4/tcp_rmem").write_text(_FAR_WINDOW)


def _carry(lines: list[Line]) -> None:
    while True:
        due = min((line.under_way[0][0] for line in lines if line.under_way), default=None)
        wait_s = None if due is None else max(0.0, due - time.monotonic())
        ready, _, _ = select.select([line.source for line in lines], [], [], wait_s)
        now_s = time.monotonic()
        for line in lines:
            with suppress(BlockingIOError):
                while line.source in ready:
                    line.take(now_s)
            line.deliver(now_s)
        time.sleep(_TOGETHER_S)


def main() -> None:
    """Read the options and carry packets until somebody ends it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--net", type=int, required=True)
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--lost", type=float, default=0.0)
    parser.add_argument("--bytes-per-s", type=int, default=0)
    given = parser.parse_args()
    near = _device(f"doctord{given.net}", _near(given.net), _far(given.net))
    _leave_network()
    far = _device("far", _far(given.net), _near(given.net))
    # Its own loopback is down: that address is the server's here too.
    subprocess.run(["ip", "route", "add", _LOOPBACK, "dev", "far"], check=True)
    limits = (given.delay, given.lost, given.bytes_per_s)
    dice = random.Random(given.net)  # noqa: S311 (no secret)
    sys.stdout.write(f"{_READY}\n")
    sys.stdout.flush()
    _carry([Line(near, far, *limits, dice), Line(far, near, *limits, dice)])


if __name__ == "__main__":
    main()
