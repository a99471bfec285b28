"""A program that asks the kernel for one byte at a time, and one that asks for a megabyte."""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from subprocess import Popen

from doctord.lab.fault import fault
from doctord.lab.processes import running
from doctord.lab.server import PrivateServer


@fault(cause="system_call_storm")
def system_call_storm(_server: PrivateServer, _seed: int) -> Iterator[None]:
    """A copy beside the server reads and writes single bytes: two system calls for each.

    `large_system_calls` is the same copy in large blocks.

    Seen: three million calls a second, a whole CPU, most of it in the kernel.
    """
    with _copying("1"):
        yield


@fault(cause=None)
def large_system_calls(_server: PrivateServer, _seed: int) -> Iterator[None]:
    """The look-alike of system_call_storm: the same copy in blocks of a megabyte.

    As much CPU in the kernel, and more; but what costs is the copying, not the calls.

    Seen: ten thousand calls a second; there is nothing to be found, the other CPUs are free.
    """
    with _copying("1M"):
        yield


def _copying(block: str) -> AbstractContextManager[Popen[bytes]]:
    return running(["dd", "if=/dev/zero", "of=/dev/null", f"bs={block}"], Path(os.devnull))
