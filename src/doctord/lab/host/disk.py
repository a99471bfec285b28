"""Whether the machine's own disk stood still: small synced writes beside the server, by the lab itself.

A virtual disk may keep everybody waiting for a second because of a neighbour that nobody sees here. A diagnosis that
names the disk then is right, and says nothing about the fault that was injected.
"""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

STANDS_STILL_MS: Final = 100.0
"""A synced write of 4 KiB that takes so long: a disk that turns needs 10 to 20."""
_EVERY_S: Final = 0.1
_BLOCK: Final = bytes(4096)


@dataclass(frozen=True, slots=True)
class DiskPace:
    """The slowest of the lab's own synced writes before the fault and during it; null where none was made."""

    before_ms: float | None
    during_ms: float | None

    def stood_still(self, *, during: bool) -> bool:
        """Whether one took `STANDS_STILL_MS` or longer before the fault, or, where asked for, during it."""
        told = (self.before_ms, self.during_ms if during else None)
        return any(slowest_ms is not None and slowest_ms >= STANDS_STILL_MS for slowest_ms in told)


@dataclass(slots=True)
class SyncedWrites:
    """When each write began, and how long it took; one that has not ended has taken as long as it is at it."""

    _took_s: dict[float, float | None] = field(default_factory=dict)

    def one(self, file: int) -> None:
        """Overwrite the first block of an open file, and wait until it is on the disk."""
        began = time.time()
        self._took_s[began] = None
        try:
            os.pwrite(file, _BLOCK, 0)
            os.fdatasync(file)
        except OSError:
            del self._took_s[began]
            raise
        self._took_s[began] = time.time() - began

    def slowest_ms(self, since: float, until: float) -> float | None:
        """How long the slowest one took that was at it at some time between two moments (seconds since 1970)."""
        spans = [(began, until if took is None else began + took) for began, took in list(self._took_s.items())]
        inside = [ended - began for began, ended in spans if began < until and ended >= since]
        return max(inside) * 1e3 if inside else None


@contextmanager
def synced_writes(folder: Path) -> Iterator[SyncedWrites]:
    """Ten writes a second to a file in a folder, until the context ends; none where the file system takes none."""
    writes, over = SyncedWrites(), threading.Event()

    def write() -> None:
        with suppress(OSError):  # a fault that fills the file system is no reason to end
            file = os.open(folder / "synced-writes", os.O_CREAT | os.O_WRONLY, 0o600)
            try:
                while not over.wait(_EVERY_S):
                    writes.one(file)
            finally:
                os.close(file)

    thread = threading.Thread(target=write, name="synced writes", daemon=True)
    thread.start()
    try:
        yield writes
    finally:
        over.set()
        thread.join()
