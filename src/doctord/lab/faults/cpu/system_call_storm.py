"""A program that asks the kernel for one byte at a time, and one that asks for a megabyte."""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, suppress
from pathlib import Path
from subprocess import Popen

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.fault import fault
from doctord.lab.host.processes import running
from doctord.lab.server import PrivateServer


def _cpu_s(_server: PrivateServer) -> float:
    """What copies have used of the CPUs."""
    used = 0.0
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended
            name, _, told = (process / "stat").read_text().rpartition(")")
            if name.endswith("(dd"):
                used += sum(map(int, told.split()[11:13])) / os.sysconf("SC_CLK_TCK")
    return used


_CPU = Figure("CPU time of the copy", "s", 3.0, _cpu_s)


@fault(cause="system_call_storm", effect=_CPU)
def system_call_storm(_server: PrivateServer, dose: Dose) -> Iterator[None]:
    """A copy beside the server reads and writes single bytes: two system calls for each.

    `large_system_calls` is the same copy in large blocks.

    Seen: three million calls a second, a whole CPU, most of it in the kernel.
    """
    with ExitStack() as copies:
        for _ in range(dose.of(1, 1, 2)):
            copies.enter_context(_copying(dose.of("1k", "1", "1")))
        yield


@fault(cause=None)
def large_system_calls(_server: PrivateServer, _dose: Dose) -> Iterator[None]:
    """The look-alike of system_call_storm: the same copy in blocks of a megabyte.

    As much CPU in the kernel, and more; but what costs is the copying, not the calls.

    Seen: ten thousand calls a second; there is nothing to be found, the other CPUs are free.
    """
    with _copying("1M"):
        yield


def _copying(block: str) -> AbstractContextManager[Popen[bytes]]:
    return running(["dd", "if=/dev/zero", "of=/dev/null", f"bs={block}"], Path(os.devnull))
