"""The pitfall of the page cache: a test of storage that measures memory, since requests never reach the device."""

from typing import Final, NamedTuple

from doctord.analyse.stress.reads import CACHED_SHARE, FEW_PER_S

FAST_US: Final = 100.0  # no disk answers so soon, and few devices of flash do
DISK_PER_S: Final = 250.0  # random requests that a disk which turns can do: 15,000 turns a minute, and a short seek
SOME_SHARE: Final = 0.1  # that the device had no part in, where all of it may stay in memory: it grows with time
MEMORY_SHARE: Final = 0.9  # of the memory, that files may fill


class Moved(NamedTuple):
    """What a step moved, and what its device did meanwhile.

    Attributes:
        is_direct: Whether it was asked to pass by the page cache.
        size_bytes: What it moved to and fro in.
        memory_bytes: Of the host; null where that is not known.
        per_s: Requests done in a second.
        moved_bytes: What they moved in all, before and after what counts too; 0 where that was not told.
        device_bytes: What the device moved in that time; null where it is not to be seen.
        median_us: Half of them took no longer; null where none was done.
        is_rotational: Whether the device is a disk that turns; null where that is not told.
    """

    is_direct: bool
    size_bytes: int
    memory_bytes: int | None
    per_s: float
    moved_bytes: float
    device_bytes: float | None
    median_us: float | None
    is_rotational: bool | None

    @property
    def cached_share(self) -> float | None:
        """How much of what was moved the device had no part in; null where that is not known, or nothing was moved."""
        if self.device_bytes is None or not self.moved_bytes:
            return None
        return max(0.0, 1.0 - self.device_bytes / self.moved_bytes)

    @property
    def fits(self) -> bool:
        """Whether all of it may stay in the page cache."""
        return (
            not self.is_direct and self.memory_bytes is not None and self.size_bytes < MEMORY_SHARE * self.memory_bytes
        )

    @property
    def is_too_much(self) -> bool:
        """Whether a disk that turns could not do so many."""
        return bool(self.is_rotational) and not self.is_direct and self.per_s > DISK_PER_S

    @property
    def is_too_fast(self) -> bool:
        """Whether half of the requests were answered sooner than by a device, through the page cache."""
        return not self.is_direct and self.median_us is not None and self.median_us < FAST_US

    @property
    def is_pitfall(self) -> bool:
        """Whether it was no test of the device, or not of it alone: by what the device did, else by the other signs."""
        share = self.cached_share
        if share is None:
            return self.fits or self.is_too_much or self.is_too_fast
        return share >= (SOME_SHARE if self.fits else CACHED_SHARE) and self.per_s >= FEW_PER_S
