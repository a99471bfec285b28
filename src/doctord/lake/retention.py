"""Retention: sealed files go when they are too old, or when the lake is too large; open segments never do.

Nor do settings and events: they are small, and what a recorder told once, when it started, must hold while it runs.
"""

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from doctord.dataset.tables import LASTING
from doctord.lake.place import LakePaths, begun

log = logging.getLogger(__name__)

_LONGEST_SEGMENT = timedelta(hours=1)  # a file may hold rows of this long after the time in its name


@dataclass(frozen=True, slots=True)
class Retention:
    """How long, and how much, to keep; null for without limit. Call it with a lake's place to apply it."""

    keep: timedelta | None = None
    max_bytes: int | None = None

    def __call__(self, place: LakePaths) -> None:
        """Delete what is over the limits, oldest first."""
        delete(place, self.doomed(place))

    def doomed(self, place: LakePaths) -> list[Path]:
        """What is over the limits, oldest first."""
        old = list[Path]()
        if self.keep is not None:
            oldest = datetime.now(UTC) - self.keep - _LONGEST_SEGMENT
            old = [path for path in _deletable(place) if (start := begun(path.stem)) and start < oldest]
        return old + self.surplus(place, leaving_out=len(old))

    def surplus(self, place: LakePaths, leaving_out: int = 0) -> list[Path]:
        """What must go for the rest to stay within the size, oldest first; the oldest so many are gone already."""
        if self.max_bytes is None:
            return []
        young = _deletable(place)[leaving_out:]
        return _surplus(_sizes(young), _total(_sizes(place.segments())), self.max_bytes)


def delete(place: LakePaths, files: Iterable[Path]) -> None:
    """Delete sealed files, and folders of days that hold nothing any more."""
    for path in files:
        path.unlink(missing_ok=True)
        log.info("%s: deleted by retention", path)
    for day in place.sealed.glob("*/*/"):
        if not any(day.iterdir()):
            day.rmdir()


def _deletable(place: LakePaths) -> list[Path]:
    """The sealed files that may go, sorted by when they were begun."""
    return [path for path in place.parquet() if begun(path.stem) and path.parts[-3] not in LASTING]


def _surplus(sealed: list[tuple[Path, int]], open_bytes: int, limit: int) -> list[Path]:
    """The oldest files that must go for the rest, with the open segments, to stay within the limit."""
    surplus = _total(sealed) + open_bytes - limit
    doomed = []
    for path, size in sealed:
        if surplus <= 0:
            break
        doomed.append(path)
        surplus -= size
    return doomed


def _sizes(files: Iterable[Path]) -> list[tuple[Path, int]]:
    return [(path, path.stat().st_size) for path in files if path.exists()]


def _total(sizes: Iterable[tuple[Path, int]]) -> int:
    return sum(size for _, size in sizes)
