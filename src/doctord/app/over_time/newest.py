"""Up to when there is data in a lake, also while it is being written: looked at again only where something came."""

import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from doctord._native import read_checks, read_segment
from doctord.dataset.tables import LASTING
from doctord.lake.place import LakePaths

_TELLING: Final = ("cpu", "session", "wait")  # tables that a recorder fills each second
LOOKS_S: Final = 0.2  # seconds between two looks: many may ask
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Newest:
    """The newest moment that rows of a lake tell of; cheap to ask again and again, by several threads too."""

    def __init__(self, lake: Path) -> None:
        """Nothing was looked at yet."""
        self._place = LakePaths(lake)
        self._sealed: datetime | None = None
        self._sizes = dict[Path, int]()
        self._known: datetime | None = None
        self._turn, self._looked_s = threading.Lock(), float("-inf")

    def moment(self) -> datetime | None:
        """End of the newest row, UTC; null where nothing was recorded."""
        with self._turn:
            if time.monotonic() - self._looked_s > LOOKS_S:
                self._look()
                self._looked_s = time.monotonic()
            return self._known

    def first(self) -> datetime | None:
        """When its first day's first row is, UTC; null where nothing is sealed, or it does not tell."""
        files = [path for path in self._place.parquet() if path.parts[-3] not in LASTING]
        day = min((path.parent.name for path in files), default=None)
        firsts = (_span_of(path) for path in files if path.parent.name == day)
        return min((span[0] for span in firsts if span), default=None)

    def _look(self) -> None:
        sizes = {path: path.stat().st_size for path in self._place.segments() if path.exists()}
        if self._known is None or sizes != self._sizes:
            if self._known is None or sizes.keys() != self._sizes.keys():
                self._sealed = self._newest_sealed()
            ends = [self._sealed, *map(_newest_in, sizes)]
            self._known, self._sizes = max((end for end in ends if end), default=None), sizes

    def _newest_sealed(self) -> datetime | None:
        """Of the files of the last day: all rows of a file are of its day."""
        files = [path for path in self._place.parquet() if path.parts[-3] not in LASTING]
        last = max((path.parent.name for path in files), default=None)
        spans = (_span_of(path) for path in files if path.parent.name == last)
        return max((span[1] for span in spans if span), default=None)


def _newest_in(segment: Path) -> datetime | None:
    """Of the tables that are filled each second; of all, where it has none of them."""
    try:
        batches, _ = read_segment(segment, list(_TELLING))
    except (OSError, ValueError):  # sealed since the listing, or damaged: others tell
        return None
    ends = [pc.max(pa.record_batch(batch)["ts"]).as_py() for batch in batches]
    return max((end for end in ends if end), default=None)


def _span_of(path: Path) -> tuple[datetime, datetime] | None:
    """When the first and the last row of a sealed file are; null where it does not tell."""
    try:
        checks = read_checks(path)
    except (OSError, ValueError):
        return None
    if checks is None or checks[0] is None:
        return None
    first, last = (_EPOCH + timedelta(microseconds=moment) for moment in checks[0])
    return first, last
