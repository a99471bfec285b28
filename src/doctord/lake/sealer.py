"""Seals segments into Parquet in the background, one after the other."""

import logging
import queue
import threading
from collections.abc import Callable
from pathlib import Path

from doctord._native import seal_segment
from doctord.dataset.tables import ENTITIES
from doctord.lake.place import LakePaths, begun, sync_folder

log = logging.getLogger(__name__)


class Sealer:
    """A queue of segments and the thread that works it off.

    A segment that cannot be sealed (a full disk, say) stays where it is, readable, and is tried again with the next.
    """

    def __init__(
        self,
        place: LakePaths,
        maintenance: Callable[[LakePaths], None] | None = None,
        *,
        lost: Callable[[Path], None] = lambda _: None,
    ) -> None:
        """Start the thread; `maintenance` is called at once and after each segment, `lost` with one that is gone."""
        self._place = place
        self._maintenance = maintenance
        self._lost = lost
        self._queue: queue.SimpleQueue[Path | None] = queue.SimpleQueue()
        self._failed: list[Path] = []
        self._thread = threading.Thread(target=self._work, name="sealer", daemon=True)
        self._thread.start()

    def seal(self, segment: Path) -> None:
        """Have a segment sealed that nobody writes any more."""
        self._queue.put(segment)

    def close(self) -> None:
        """Work off the queue and end the thread."""
        self._queue.put(None)
        self._thread.join()

    def _work(self) -> None:
        self._keep_up()
        while segment := self._queue.get():
            again, self._failed = [*self._failed, segment], []
            for path in again:
                self._seal(path)
            self._keep_up()

    def _keep_up(self) -> None:
        try:
            if self._maintenance:
                self._maintenance(self._place)
        except OSError as error:
            log.warning("%s: maintenance failed: %s", self._place.root, error)

    def _seal(self, segment: Path) -> None:
        began = begun(segment.stem)
        if began is None:
            log.warning("%s: not a segment of doctord by its name; left alone\nhint: move it out of the lake", segment)
            return
        try:
            _, problems = seal_segment(segment, self._place.sealed, began.date().isoformat(), ENTITIES)
            self._put_away(segment, is_damaged=any(reason == "damaged" for _, reason, _ in problems))
        except (OSError, ValueError) as error:
            self._complain(segment, error)
            return
        for offset, reason, length in problems:
            log.warning("%s: %s bytes at offset %s were %s and are lost", segment, length, offset, reason)

    def _put_away(self, segment: Path, *, is_damaged: bool) -> None:
        if is_damaged:
            log.warning("%s: damaged; kept as %s", segment, self._place.set_aside(segment))
        else:
            segment.unlink(missing_ok=True)
        sync_folder(self._place.open)

    def _complain(self, segment: Path, error: OSError | ValueError) -> None:
        if not segment.exists():
            log.error("%s: removed before it was sealed; what it held is gone", segment)
            self._lost(segment)
            return
        log.warning("%s: cannot be sealed, stays as it is: %s", segment, error)
        if isinstance(error, OSError):
            self._failed.append(segment)
