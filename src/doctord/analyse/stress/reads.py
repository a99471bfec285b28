"""The pitfall of a small working set: reads that the server counts, and that never came from the disk."""

from typing import Final, NamedTuple

FEW_PER_S: Final = 100.0  # reads of a server that are no load on a disk
CACHED_SHARE: Final = 0.5


class Reads(NamedTuple):
    """What was read in a step: blocks that the server asked the system for, and bytes that its device gave.

    `device_bytes` is null where the server is elsewhere, or its device is not known.
    """

    blocks: float
    block_bytes: int
    device_bytes: float | None
    seconds: float

    @property
    def cached_share(self) -> float | None:
        """How much of the server's reads the page cache answered; null where that is not known, or nothing was read."""
        if self.device_bytes is None or not self.blocks:
            return None
        return max(0.0, 1.0 - self.device_bytes / (self.blocks * self.block_bytes))

    @property
    def is_pitfall(self) -> bool:
        """Whether a test of disks would have measured memory: most of many reads came out of the page cache."""
        share = self.cached_share
        return share is not None and share >= CACHED_SHARE and self.blocks / self.seconds >= FEW_PER_S
