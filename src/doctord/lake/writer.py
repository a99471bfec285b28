"""The one writer of a lake: takes batches, syncs them every few seconds, and has full segments sealed behind its back.

Taking rows never touches a disk: collectors go on while a sync waits for a slow one. Each segment keeps its path to
itself, and whoever takes the segments out of the writer, to have them sealed, takes them all at once, under the guard:
no row can come to a segment after that.

The recorder imports this: no Arrow, Polars or DuckDB here.
"""

import logging
import os
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Final

from doctord._native import Batch, SegmentWriter
from doctord.dataset.rows import now_us, rows
from doctord.lake.claim import Claim
from doctord.lake.place import LakeError, LakePaths, begun, new_name
from doctord.lake.sealer import Sealer

log = logging.getLogger(__name__)

_WAITING_ROWS = 100_000  # beyond this a sync comes early, so that memory stays bounded
_MOST_WAITING_ROWS = 200_000  # beyond this the disk takes nothing any more, and what comes is dropped
_OPEN_DAYS = 8  # segments of more days than this are sealed at once: rows of old times must not eat up descriptors
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_US: Final = (datetime(9999, 12, 31, tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1)


@dataclass(eq=False)
class _Segment:
    path: Path
    writer: SegmentWriter
    begun_s: float = field(default_factory=time.monotonic)
    size_bytes: int = 0
    waiting_rows: int = 0


class LakeWriter:
    """Writes a lake. `append` is a sink for `collect.core.schedule.run`; syncing goes on in a thread of its own."""

    def __init__(
        self,
        path: Path,
        *,
        sync_s: float = 5.0,
        rotate_s: float = 3600.0,
        rotate_bytes: int = 64 << 20,
        maintenance: Callable[[LakePaths], None] | None = None,
    ) -> None:
        """Make the lake if need be, take its lock, and have what a crash left behind sealed.

        Args:
            path: The lake.
            sync_s: Seconds between two syncs: what a crash may lose, with the sample that is being taken.
            rotate_s: A segment ends when the clock (UTC) crosses a multiple of this; at most an hour.
            rotate_bytes: A segment also ends at this size.
            maintenance: Called in the background at the start and after each sealing: retention, say.

        Raises:
            LakeError: The lake cannot be made, or another writer has it.
        """
        self._place = LakePaths(path)
        self._sync_s, self._rotate_s, self._rotate_bytes = sync_s, rotate_s, rotate_bytes
        self._claim = Claim(self._place)
        self._sealer = Sealer(self._place, maintenance, lost=self._lost)
        self._guard = threading.Lock()  # of the two below: batches come from the collectors' threads
        self._segments: dict[date, _Segment] = {}  # by the day of their rows: of one, but for midnight and set clocks
        self._dropping_s: float | None = None  # since when more rows wait than memory is to hold
        self._turn = threading.Lock()  # one sync at a time; of all below
        self._period = self._now_period()
        self._good_s = time.monotonic()  # what was appended before is on disk
        self._failed_s: float | None = None  # what was appended since the last good sync and before this is lost
        self._stop = threading.Event()
        self._wake = threading.Event()
        for orphan in self._place.segments():
            self._sealer.seal(orphan)
        self._thread = threading.Thread(target=self._keep_syncing, name="lake", daemon=True)
        self._thread.start()

    @property
    def is_failing(self) -> bool:
        """Whether the last sync failed, so that nothing is recorded."""
        return self._failed_s is not None

    def append(self, batch: Batch) -> None:
        """Take rows; they are safe after the next sync. Those that cannot be written are dropped, and the gap told."""
        with self._guard:
            for first_us, part in batch.by_day():
                segment = self._segment(first_us)
                if segment.waiting_rows > _MOST_WAITING_ROWS:
                    self._dropping_s = self._dropping_s or time.monotonic()
                    continue
                segment.waiting_rows = segment.writer.append(part)
                if segment.waiting_rows > _WAITING_ROWS:
                    self._wake.set()

    def sync(self) -> None:
        """Put the waiting rows on disk now, and begin new segments when it is time to."""
        with self._turn:
            started_s = time.monotonic()
            if not self._is_ours() or not self._write(self._open_segments()):
                return
            self._good_s = started_s
            self._tell_dropped()
            if self._failed_s is not None:
                log.warning("%s: recording again", self._place.root)
                self._failed_s = None
            if self._is_due():
                self._rotate()

    def sync_if_many(self) -> None:
        """Sync at once where many rows wait: for who has them all in hand, and could drown the writer in them."""
        if any(segment.waiting_rows > _WAITING_ROWS for segment in self._open_segments()):
            self.sync()

    def close(self) -> None:
        """Sync, seal what is open, and let the lake go."""
        self._stop.set()
        self._wake.set()
        self._thread.join()
        self.sync()
        if self.is_failing:
            self.sync()  # begins anew where the lake was removed, and tells of it
        with self._turn:
            self._rotate()
        self._sealer.close()
        self.sync()  # what the sealer found to tell; it is sealed by the next writer
        self._claim.close()

    def __enter__(self) -> "LakeWriter":
        """The writer itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close, also after an error."""
        self.close()

    def _keep_syncing(self) -> None:
        due_s = time.monotonic() + self._sync_s
        while not self._stop.is_set():
            self._wake.wait(max(0.0, due_s - time.monotonic()))
            self._wake.clear()
            due_s = time.monotonic() + self._sync_s
            if not self._stop.is_set():
                self.sync()

    def _segment(self, first_us: int) -> _Segment:
        """The segment of the day of a moment; to be called under the guard."""
        moment = _EPOCH + timedelta(microseconds=min(max(first_us, 0), _LAST_US))
        segment = self._segments.get(moment.date())
        if segment is None:
            path = self._place.open / f"{new_name(moment)}.segment"
            segment = self._segments[moment.date()] = _Segment(path, SegmentWriter(path))
        return segment

    def _open_segments(self) -> list[_Segment]:
        with self._guard:
            return list(self._segments.values())

    def _is_ours(self) -> bool:
        """Whether the lake can be recorded into; after a failure the gap is then the first thing to be told."""
        try:
            if self._claim.renew():
                log.error("%s: the lake was removed or moved away; it begins anew", self._place.root)
        except LakeError as error:
            self._fail(f"{error}\nhint: {error.hint}")
            with self._guard:
                self._segments.clear()  # nothing waits for ever
            return False
        self._claim.look()
        if self._failed_s is not None:
            self.append(
                _gap(self._failed_s - self._good_s, time.monotonic() - self._failed_s, "the lake could not be written")
            )
        return True

    def _write(self, segments: list[_Segment]) -> bool:
        """Sync these segments; whether all could be."""
        is_well = True
        for segment in segments:
            segment.waiting_rows = 0  # those are about to be taken; what comes from now on waits for the next sync
            try:
                segment.size_bytes = segment.writer.sync()
                segment.waiting_rows = 0  # the next row tells how many came meanwhile
            except FileNotFoundError:
                self._forget(segment)
                is_well = False
            except (OSError, ValueError) as error:
                reason = getattr(error, "strerror", None) or error
                self._fail(
                    f"{self._place.root}: {reason}. Nothing more is recorded; what is there is kept.\n"
                    "hint: make room, or let old data go with --keep or --max-size; a recorder goes on by itself then"
                )
                is_well = False
        return is_well

    def _tell_dropped(self) -> None:
        with self._guard:
            since_s, self._dropping_s = self._dropping_s, None
        if since_s is not None:
            log.error("%s: the disk was too slow; rows were dropped", self._place.root)
            self.append(_gap(time.monotonic() - since_s, 0.0, "the disk was too slow"))

    def _forget(self, segment: _Segment) -> None:
        """Begin anew: the file of a segment is gone, and with it all that was written to it."""
        self._good_s = min(self._good_s, segment.begun_s)
        gone_s = time.monotonic() - segment.begun_s
        self._fail(f"{segment.path}: removed or moved while it was written; what the last {gone_s:.0f} s held is gone")
        segment.size_bytes = 0
        with self._guard:
            self._segments = {day: kept for day, kept in self._segments.items() if kept is not segment}

    def _is_due(self) -> bool:
        segments = self._open_segments()
        is_large = any(segment.size_bytes >= self._rotate_bytes for segment in segments)
        return is_large or len(segments) > _OPEN_DAYS or self._now_period() != self._period

    def _now_period(self) -> float:
        return time.time() // self._rotate_s

    def _rotate(self) -> None:
        self._period = self._now_period()
        with self._guard:
            segments, self._segments = list(self._segments.values()), {}
        self._write(segments)  # what came in since the last sync
        for segment in segments:
            if segment.size_bytes:
                self._sealer.seal(segment.path)

    def _fail(self, text: str) -> None:
        # Full, read-only, over quota, broken: what is there stays readable, and the next sync tries again.
        if self._failed_s is None:
            log.error("%s", text)
        self._failed_s = time.monotonic()

    def _lost(self, segment: Path) -> None:
        """Tell that a segment was gone before it could be sealed."""
        began = begun(segment.stem)
        if began is not None:
            seconds = min(max(0.0, time.time() - began.timestamp()), self._rotate_s)
            self.append(_gap(seconds, 0.0, f"{segment.name} was removed before it was sealed"))


def _gap(seconds: float, ago_s: float, why: str) -> Batch:
    event = {
        "ts": now_us() - round(ago_s * 1_000_000),
        "interval_s": seconds,
        "host": os.uname().nodename,
        "kind": "gap",
        "subject": "lake",
        "text": f"nothing was recorded for {seconds:.0f} s: {why}",
    }
    return rows("event", [event])


def write(path: Path, batches: Iterable[Batch]) -> None:
    """Put what was measured into a lake.

    Raises:
        LakeError: the lake cannot be made, or another writer has it.
    """
    with LakeWriter(path) as writer:
        for batch in batches:
            writer.append(batch)
            writer.sync_if_many()
