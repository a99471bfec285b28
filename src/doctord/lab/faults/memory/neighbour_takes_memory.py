"""A neighbour in the server's control group: one that takes its memory, and one that only reads."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import LiteralString

from doctord.lab.dose import Dose
from doctord.lab.errors import LabError
from doctord.lab.fault import fault
from doctord.lab.host.processes import running
from doctord.lab.load.workload import workload
from doctord.lab.server import PrivateServer, its_group

# All that neighbour and server may have together; the data files take 164 MiB, the server's processes some 50.
_LIMIT_MIB = 512
# It fits beside the server. One that does not has pages that are in use dropped too: 22 % of the time in reads, of 768.
_FILE_MIB = 192
# Should the group run out of memory after all, the neighbour has to go, and not the server.
_FIRST_TO_GO = "from pathlib import Path; Path('/proc/self/oom_score_adj').write_text('1000')\n"
_TAKE = """
import sys, time
held = [b"x" * (1 << 20) for _ in range(int(sys.argv[1]))]
time.sleep(86400)
"""
_READ = """
import sys, time
while True:
    with open(sys.argv[1], "rb", buffering=0) as file:
        while file.read(1 << 20):
            time.sleep(0.02)
    print("all read", flush=True)
"""
_FIRST_READ_S = 120.0
# With a pause, so that the CPUs are not full while all is cached.
_SCRIPT = """
\\set first random(1, 998000)
select sum(abalance) from pgbench_accounts where aid between :first and :first + 2000;
\\sleep 5 ms
"""
# The table, and with it its index.
_READ_ALL: tuple[LiteralString, ...] = (
    "select count(abalance) from pgbench_accounts",
    "set enable_seqscan to off; select count(abalance) from pgbench_accounts where aid > 0",
)
_SMALL = {"shared_buffers": "16MB"}


@fault(cause="cgroup_memory_limit", controller="memory", settings=_SMALL, warm_up_s=4.0)
def neighbour_takes_memory(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """A program in the server's own control group takes most of the group's 512 MiB.

    As in a pod or a slice that a batch job shares with the database. The buffer pool is small, and the data files were
    in the page cache: the kernel drops them for the neighbour. Page cache counts against the group (kernel
    documentation, "Control Group v2", Memory), and reclaim begins when a charge meets the limit of the group, however
    much the host has: so the limit is the cause, and the neighbour is why it is met. `neighbour_reads_files` is one
    beside which there is room.

    Seen, on a machine that others had filled: 35,000 failures of the limit a second, a third of the time in reads from
    the disk, 25 % of the data files cached; nobody was killed.
    """
    with _cached(server, dose):
        taken = str(dose.of(360, 400, 430))
        with _neighbour(server, _TAKE, taken):
            yield


@fault(cause=None, controller="memory", settings=_SMALL, warm_up_s=10.0)
def neighbour_reads_files(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """The look-alike of neighbour_takes_memory: a program in the server's group reads a file, over and over.

    It fills most of what the server leaves of the group, as page cache, and there is room for both. There is nothing to
    be found, once it has read all from the disk, which may be slow, and the server what was dropped meanwhile.
    """
    path = server.folder / "archive"
    with path.open("wb", buffering=0) as file:
        for _ in range(_FILE_MIB):
            file.write(b"x" * (1 << 20))
    server.forget(server.folder)
    with _cached(server, dose), _neighbour(server, _READ, str(path)):
        _wait_for_all_read(server)
        yield


def _wait_for_all_read(server: PrivateServer) -> None:
    deadline = time.monotonic() + _FIRST_READ_S
    while "all read" not in _log(server).read_text():
        if time.monotonic() > deadline:
            raise LabError(f"the neighbour has not read {_FILE_MIB} MiB in {_FIRST_READ_S:g} s", "a slow disk?")
        time.sleep(0.1)


@contextmanager
def _cached(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """A group with a limit, the data files in its page cache, and sessions that add up a few of their rows."""
    server.evict()
    its_group(server).limit_memory(_LIMIT_MIB << 20)
    for statement in _READ_ALL:  # in the group: pages count against the group of who touches them first
        server.execute(statement)
    with workload(server, seed=dose.seed, clients=4, script=_SCRIPT):
        yield


@contextmanager
def _neighbour(server: PrivateServer, program: str, argument: str) -> Iterator[None]:
    """A program in the server's group."""
    command = [*its_group(server).entrance, sys.executable, "-c", _FIRST_TO_GO + program, argument]
    with running(command, _log(server)):
        yield


def _log(server: PrivateServer) -> Path:
    return server.folder / "neighbour.log"
