"""Upkeep of a lake that is recorded into: rows are summed up for later before retention takes them.

Summing up takes DuckDB and Polars, with more memory than a recorder may have. A short-lived process of its own does it:
at the start, once a day, and before something goes that is in no sum yet. A file that could not be summed up stays, but
for what the lake's largest size leaves no room for: a lake never fills a disk because something else is broken.
"""

import logging
import subprocess
import threading
from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path

from doctord.lake.place import Place
from doctord.lake.retention import Retention, delete

log = logging.getLogger(__name__)

LONGEST_S = 900.0  # a starved process must not keep the recorder from sealing; the next try goes on where it was


class Upkeep:
    """Sums up and deletes; to be called with a lake's place, by one thread at a time."""

    def __init__(self, retention: Retention, sum_up: Sequence[str]) -> None:
        """Take the limits, and the command that sums up all that is sealed; its exit status is 0 when that is done."""
        self._retention = retention
        self._command = list(sum_up)
        self._summed = frozenset[str]()
        self._day: date | None = None
        self._guard = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._stopped = False

    def __call__(self, place: Place) -> None:
        """Sum up where it is time to, and delete what is over the limits and in the sums."""
        doomed = self._retention.doomed(place)
        is_due = self._day != datetime.now(UTC).date()
        if is_due or any(_name(path) not in self._summed for path in doomed):
            self._sum_up(place)
        delete(place, [path for path in doomed if _name(path) in self._summed])
        if lost := [path for path in self._retention.surplus(place) if _name(path) not in self._summed]:
            log.warning("%s: %d files go that are in no sum: the lake is over its size", place.root, len(lost))
            delete(place, lost)

    def stop(self) -> None:
        """Sum up no more, also not what is just being summed up: the next start does it again."""
        with self._guard:
            self._stopped = True
            if self._child is not None:
                self._child.terminate()

    def _sum_up(self, place: Place) -> None:
        names, today = frozenset(map(_name, place.parquet())), datetime.now(UTC).date()
        if not names:
            return
        with self._guard:
            if self._stopped:
                return
            # A session of its own: a Ctrl-C on the terminal is for the recorder.
            self._child = subprocess.Popen(self._command, stdin=subprocess.DEVNULL, start_new_session=True)
        try:
            status: int | None = self._child.wait(LONGEST_S)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
            status = None
        with self._guard:
            self._child = None
        if status == 0:
            self._summed, self._day = names, today
        elif not self._stopped:
            log.warning(
                "%s: not summed up (%s): nothing is deleted\nhint: run doctord profile to see why",
                place.root,
                f"not done after {LONGEST_S:.0f} s" if status is None else f"exit status {status}",
            )


def _name(path: Path) -> str:
    return f"{path.parts[-3]}/{path.stem}"
