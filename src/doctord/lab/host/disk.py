"""Whether the machine's own disk stood still: small synced writes beside the server, by the lab itself.

A virtual disk may keep everybody waiting for a second because of a neighbour that nobody sees here, or of its limit. A
diagnosis that names the disk then is right, and says nothing about the fault that was injected.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from doctord.lab.host.processes import running

STANDS_STILL_MS: Final = 100.0
"""A synced write of 4 KiB that takes so long: a disk that turns needs 10 to 20."""
# A process of its own, as a thread waits for ours. Each line has the moment at which a write began, then how long it
# took; the last one is not there while it is under way. One that fails is the last.
_WRITE: Final = """
import os, sys, time
file = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY, 0o600)
while True:
    os.write(1, b"\\n%f" % time.time())
    began = time.monotonic()
    try:
        os.pwrite(file, bytes(4096), 0)
        os.fdatasync(file)
    except OSError:
        os.write(1, b" failed")
        break
    os.write(1, b" %f" % (time.monotonic() - began))
    time.sleep(0.1)
"""


@dataclass(frozen=True, slots=True)
class DiskPace:
    """The slowest of the lab's own synced writes before the fault and during it; null where none was made."""

    before_ms: float | None
    during_ms: float | None

    @property
    def stood_still(self) -> bool:
        """Whether one took `STANDS_STILL_MS` or longer before the fault: what is slow during one may be so by it."""
        return self.before_ms is not None and self.before_ms >= STANDS_STILL_MS


@dataclass(frozen=True, slots=True)
class SyncedWrites:
    """The file in which the writes are told."""

    report: Path

    def slowest_ms(self, since: float, until: float) -> float | None:
        """How long the slowest one took that was at it at some time between two moments (seconds since 1970).

        One that has not ended has taken as long as it is at it.
        """
        lines = [line.split() for line in self.report.read_text().splitlines() if _is_told(line)]
        writes = [(float(began), float(took[0]) if took else until - float(began)) for began, *took in lines]
        inside = [took_s for began, took_s in writes if began < until and began + took_s >= since]
        return max(inside) * 1e3 if inside else None


def _is_told(line: str) -> bool:
    """Whether a line is of a write, and not of one that failed, or the last words of the process."""
    return all(word.replace(".", "", 1).isdigit() for word in line.split()) and bool(line.strip())


@contextmanager
def synced_writes(folder: Path) -> Iterator[SyncedWrites]:
    """Ten writes a second to a file in a folder, until the context ends; none where the file system takes none."""
    report = folder / "synced-writes.txt"
    with running([sys.executable, "-I", "-S", "-c", _WRITE, folder / "synced-writes"], report):
        yield SyncedWrites(report)
