"""Free memory in pieces, and sessions that ask for huge pages: they wait for them, or are refused at once."""

import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.errors import LabError, UnavailableError
from doctord.lab.fault import fault
from doctord.lab.host.fragments import SAID_WHEN_DONE
from doctord.lab.host.processes import running
from doctord.lab.load.workload import workload
from doctord.lab.server import PrivateServer

_HUGE_PAGES: Final = Path("/sys/kernel/mm/transparent_hugepage")
_IN_PIECES_S: Final = 300.0
# 100 MB at once, which the C library gives back to the kernel at the end of each statement.
_DOCUMENT: Final = """
select octet_length(repeat('document! ', 10000000 + (random() * 1000)::int));
\\sleep {} ms
"""
_ROOT_FOR: Final = "the settings of transparent huge pages"


def _lost_ms(_: PrivateServer) -> float:
    """What tasks have lost to memory since the machine was started, by the kernel's own account."""
    some = Path("/proc/pressure/memory").read_text().splitlines()[0]
    return float(some.rpartition("=")[2]) / 1000


_LOST: Final = Figure("time that tasks waited for memory", "ms", 500, _lost_ms)


@fault(cause="compaction_stalls", effect=_LOST, root_for=_ROOT_FOR, warm_up_s=4.0)
def huge_page_stalls(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """Sessions make large documents in a memory that is free in pieces, and stop at each huge page that they ask for.

    transparent_hugepage/enabled and defrag are both `always`, as on many a host: who touches memory first gets a huge
    page for it, and moves others' pages out of the way where there is none (kernel documentation, "Transparent Hugepage
    Support", defrag). Here it is in vain: a page that cannot be moved lies in each block. What is broken up is all of
    the machine's free memory, for some 40 s of work before the fault bites; it comes back at the end.

    Seen: 95 % of memory available, 870 compactions a second, nearly all in vain, a quarter of the time lost to memory;
    a document takes 195 ms, and 122 where nobody waits for a huge page.
    """
    with _in_pieces(server, {"enabled": "always", "defrag": "always"}, dose, pause_ms=dose.of(200, 100, 20)):
        yield


@fault(cause=None, root_for=_ROOT_FOR, warm_up_s=4.0)
def huge_pages_refused(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """The look-alike of huge_page_stalls: the same memory, the same documents, and defrag is `never`.

    Huge pages are asked for and refused at once: nobody waits, and there is nothing to be found but a note
    (`memory_fragmented`).
    """
    with _in_pieces(server, {"enabled": "always", "defrag": "never"}, dose, pause_ms=200):
        yield


@contextmanager
def _in_pieces(server: PrivateServer, huge_pages: Mapping[str, str], dose: Dose, *, pause_ms: int) -> Iterator[None]:
    """Memory in pieces, the kernel's settings of huge pages, and two sessions that make documents."""
    log = server.folder / "fragments.log"
    with ExitStack() as stack:
        # Until it is done only who asks for huge pages gets them, or other programs would take the last ones meanwhile.
        stack.enter_context(_set({"enabled": "madvise", "defrag": "madvise"}))
        fragments = stack.enter_context(running([sys.executable, "-m", "doctord.lab.host.fragments"], log))
        until = time.monotonic() + _IN_PIECES_S
        while SAID_WHEN_DONE not in log.read_text():
            if fragments.poll() is not None or time.monotonic() > until:
                last = log.read_text(errors="replace").splitlines()[-1:]
                raise LabError("memory could not be broken up", *last)
            time.sleep(0.1)
        stack.enter_context(_set(huge_pages))
        stack.enter_context(workload(server, seed=dose.seed, clients=2, script=_DOCUMENT.format(pause_ms)))
        yield


@contextmanager
def _set(huge_pages: Mapping[str, str]) -> Iterator[None]:
    files = {_HUGE_PAGES / name: value for name, value in huge_pages.items()}
    if not all(os.access(file, os.W_OK) for file in files):
        raise UnavailableError(f"{_HUGE_PAGES} is not there, or may not be written")
    before = {file: file.read_text().partition("[")[2].partition("]")[0] for file in files}
    try:
        for file, value in files.items():
            file.write_text(value)
        yield
    finally:
        for file, value in before.items():
            file.write_text(value)
