"""Huge pages for a server that takes none."""

from collections.abc import Iterator
from pathlib import Path

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.errors import UnavailableError
from doctord.lab.fault import fault
from doctord.lab.server import PrivateServer

_POOL = Path("/proc/sys/vm/nr_hugepages")
# As many pages of 2 MiB as a server with 256 MB of shared_buffers asks for, and a share of a large memory.
_LEAST = 160


def _meminfo(name: str) -> int:
    lines = Path("/proc/meminfo").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


_LOCKED_AWAY = Figure(
    "free huge pages, which nothing else may use", "pages", _LEAST, lambda _: _meminfo("HugePages_Free")
)


@fault(cause="huge_pages_not_used", effect=_LOCKED_AWAY, root_for="vm.nr_hugepages", settings={"huge_pages": "try"})
def huge_pages_reserved(_server: PrivateServer, dose: Dose) -> Iterator[None]:
    """Huge pages are reserved for the server while it runs: it would take them at its next start.

    The reservation is the machine's own, and is given back at the end.

    Seen: all pages of the pool are free; 280 MiB of shared memory in pages of 4 KiB.
    """
    before = int(_POOL.read_text())
    page_bytes, memory_bytes = _meminfo("Hugepagesize") * 1024, _meminfo("MemTotal") * 1024
    wanted = max(_LEAST, int(dose.of(0.015, 0.02, 0.1) * memory_bytes / page_bytes))
    try:
        _POOL.write_text(str(before + wanted))
        if int(_POOL.read_text()) < before + wanted:
            raise UnavailableError("the kernel found no memory in large pieces for huge pages")
        yield
    finally:
        _POOL.write_text(str(before))
