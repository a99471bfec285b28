"""The one writer of a lake: takes batches, syncs them every few seconds, and has full segments sealed behind its back.

The recorder imports this: no Arrow, Polars or DuckDB here.
"""

import fcntl
import logging
import os
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType

from doctord._native import Batch, SegmentWriter
from doctord.chart.rows import now_us, rows
from doctord.lake.place import LakeError, Place, new_name
from doctord.lake.sealer import Sealer

log = logging.getLogger(__name__)

_WAITING_ROWS = 100_000  # beyond this a sync comes early, so that memory stays bounded
_FOLDER_MODE = 0o750


class LakeWriter:
    """Writes a lake. `append` is a sink for `doctord.collect.schedule.run`, and `tick` its `on_tick`."""

    def __init__(
        self,
        path: Path,
        *,
        sync_s: float = 5.0,
        rotate_s: float = 3600.0,
        rotate_bytes: int = 64 << 20,
        upkeep: Callable[[Place], None] | None = None,
    ) -> None:
        """Make the lake if need be, take its lock, and have what a crash left behind sealed.

        Args:
            path: The lake.
            sync_s: Seconds between two syncs: what a crash may lose.
            rotate_s: A segment ends when the clock (UTC) crosses a multiple of this; at most an hour.
            rotate_bytes: A segment also ends at this size.
            upkeep: Called in the background at the start and after each sealing: retention, say.

        Raises:
            LakeError: The lake cannot be made, or another writer has it.
        """
        self._place = Place(path)
        self._sync_s, self._rotate_s, self._rotate_bytes = sync_s, rotate_s, rotate_bytes
        self._flock = _take(self._place)
        self._sealer = Sealer(self._place, upkeep)
        self._guard = threading.Lock()  # of the three below: batches come from the collectors' threads
        self._segment: SegmentWriter | None = None
        self._path = self._place.open
        self._period = 0.0
        self._early = False
        self._good = time.monotonic()
        self._failed: float | None = None
        for orphan in self._place.segments():
            self._sealer.seal(orphan)

    def append(self, batch: Batch) -> None:
        """Take rows; they are safe after the next sync. Those that cannot be written are dropped, and the gap told."""
        with self._guard:
            if self._segment is None and self._failed is None:
                self._open()
            if self._segment is not None:
                self._early = self._segment.append(batch) > _WAITING_ROWS

    def tick(self, _elapsed_s: float = 0.0) -> None:
        """Sync and rotate when it is time to; to be called about every second."""
        last = self._good if self._failed is None else self._failed
        if self._early or time.monotonic() - last >= self._sync_s:
            self.sync()

    def sync(self) -> None:
        """Put the waiting rows on disk now."""
        self._early = False
        with self._guard:
            if self._failed is not None:
                self._resume(self._failed)
            segment = self._segment
        if segment is None:
            return
        size = self._write(segment)
        if size >= self._rotate_bytes or time.time() // self._rotate_s != self._period:
            self._rotate()

    def close(self) -> None:
        """Sync, seal what is open, and let the lake go."""
        self.sync()
        self._rotate()
        self._sealer.close()
        os.close(self._flock)

    def __enter__(self) -> "LakeWriter":
        """The writer itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close, also after an error."""
        self.close()

    def _open(self) -> None:
        now = datetime.now(UTC)
        path = self._place.open / f"{new_name(now)}.segment"
        try:
            self._segment = SegmentWriter(path)
        except OSError as error:
            self._fail(error)
            return
        self._path, self._period = path, now.timestamp() // self._rotate_s

    def _write(self, segment: SegmentWriter) -> int:
        try:
            size = segment.sync()
        except OSError as error:
            self._fail(error)
            return 0
        self._good = time.monotonic()
        if self._failed is not None:
            log.warning("%s: recording again", self._place.root)
            self._failed = None
        return size

    def _rotate(self) -> None:
        with self._guard:
            segment, self._segment = self._segment, None
        if segment is not None:
            self._write(segment)  # what came in since the last sync
            self._sealer.seal(self._path)

    def _fail(self, error: OSError) -> None:
        # Full, read-only, over quota, broken: what is there stays readable, and the next sync tries again.
        if self._failed is None:
            log.error(
                "%s: %s. Recording stops; what is there is kept.\n"
                "hint: make room, or let old data go with --keep or --max-size; recording resumes by itself",
                self._place.root,
                error.strerror,
            )
        self._failed = time.monotonic()

    def _resume(self, failed: float) -> None:
        """Try a segment again, with the gap as the first thing that it tells."""
        if self._segment is None:
            self._open()
        if self._segment is not None:
            self._segment.append(_gap(failed - self._good, time.monotonic() - failed))


def _gap(seconds: float, ago_s: float) -> Batch:
    event = {
        "ts": now_us() - round(ago_s * 1_000_000),
        "interval_s": seconds,
        "host": os.uname().nodename,
        "kind": "gap",
        "subject": "lake",
        "text": f"nothing was recorded for {seconds:.0f} s: the lake could not be written",
    }
    return rows("event", [event])


def _take(place: Place) -> int:
    """Make the lake and lock it for this process; the lock goes with the process, however that ends."""
    try:
        for folder in (place.root, place.open, place.sealed):
            folder.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
        lock = os.open(place.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o640)
    except OSError as error:
        raise LakeError(
            f"{place.root}: no lake to write to: {error.strerror}",
            "name a folder that you may write to with --lake or DOCTORD_LAKE",
        ) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        holder = os.read(lock, 32).decode("ascii", "replace").strip() or "unknown"
        os.close(lock)
        raise LakeError(
            f"{place.root}: another doctord (process {holder}) is recording into this lake",
            "stop it, or record into another folder with --lake",
        ) from error
    try:
        os.ftruncate(lock, 0)
        os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
    except OSError as error:
        log.debug("%s: %s; the lock holds all the same", place.lock, error.strerror)
    return lock
