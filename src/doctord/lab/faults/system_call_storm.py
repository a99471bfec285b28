"""A program that asks the kernel for one byte at a time."""

import os
from collections.abc import Iterator
from pathlib import Path

from doctord.lab.fault import fault
from doctord.lab.processes import running
from doctord.lab.server import PrivateServer


@fault(cause="system_call_storm")
def system_call_storm(_server: PrivateServer, _seed: int) -> Iterator[None]:
    """A copy beside the server reads and writes single bytes: two system calls for each.

    The look-alike is the same copy in blocks of a megabyte: as much CPU in the kernel, a few thousand calls.

    Seen: a million calls a second and more, a whole CPU, most of it in the kernel.
    """
    with running(["dd", "if=/dev/zero", "of=/dev/null", "bs=1"], Path(os.devnull)):
        yield
