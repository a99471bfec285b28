"""Upkeep of a lake that is recorded into: rows are summed up for later before retention takes them.

Summing up takes DuckDB and Polars, with more memory than a recorder may have. A short-lived process of its own does it:
at the start, once a day, and before something goes that is in no sum yet. A file that could not be summed up stays, but
for what the lake's largest size leaves no room for: a lake never fills a disk because something else is broken. Either
is an event in the lake, which a diagnosis tells.
"""

import logging
import os
import queue
import subprocess
import threading
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from pathlib import Path

from doctord._native import Batch
from doctord.dataset.rows import now_us, rows
from doctord.lake.place import LakePaths, begun
from doctord.lake.retention import Retention, delete

log = logging.getLogger(__name__)

LONGEST_S = 900.0  # a starved process must not keep the recorder from sealing; the next try goes on where it was


class Maintenance:
    """Sums up and deletes; to be called with a lake's place, by one thread at a time."""

    def __init__(self, retention: Retention, roll_up: Sequence[str]) -> None:
        """Take the limits, and the command that sums up all that is sealed; its exit status is 0 when that is done."""
        self._retention = retention
        self._command = list(roll_up)
        self._summed = frozenset[str]()
        self._day: date | None = None
        self._trouble: str | None = None
        self._told = queue.SimpleQueue[Batch]()
        self._guard = threading.Lock()
        self._child: subprocess.Popen[str] | None = None
        self._stopped = False

    def __call__(self, place: LakePaths) -> None:
        """Sum up where it is time to, and delete what is over the limits and in the sums."""
        doomed = self._retention.doomed(place)
        is_due = self._day != datetime.now(UTC).date()
        if is_due or any(_name(path) not in self._summed for path in doomed):
            self._roll_up(place)
        if self._stopped:
            return  # what was not summed up for that reason alone is, at the next start
        delete(place, [path for path in doomed if _name(path) in self._summed])
        if lost := [path for path in self._retention.surplus(place) if _name(path) not in self._summed]:
            delete(place, lost)
            self._tell_lost(place, lost)

    def told(self) -> Iterator[Batch]:
        """Events since the last call, for the lake."""
        while not self._told.empty():
            yield self._told.get()

    def stop(self) -> None:
        """Sum up no more, also not what is just being summed up: the next start does it again."""
        with self._guard:
            self._stopped = True
            if self._child is not None:
                self._child.terminate()

    def _roll_up(self, place: LakePaths) -> None:
        names, today = frozenset(map(_name, place.parquet())), datetime.now(UTC).date()
        if not names:
            return
        with self._guard:
            if self._stopped:
                return
            # A session of its own: a Ctrl-C on the terminal is for the recorder.
            self._child = subprocess.Popen(
                self._command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True, text=True
            )
        trouble = _trouble(self._child)
        with self._guard:
            self._child = None
        if trouble is None:
            self._summed, self._day, self._trouble = names, today, None
        elif not self._stopped:
            self._tell_trouble(place, trouble)

    def _tell_trouble(self, place: LakePaths, trouble: str) -> None:
        text, hint = f"rows are not summed up ({trouble}): nothing is deleted", "run doctord profile, which says why"
        log.warning("%s: %s\nhint: %s", place.root, text, hint)
        if trouble != self._trouble:
            self._trouble = trouble
            self._tell("not measured", "sums of rows", text, hint)

    def _tell_lost(self, place: LakePaths, lost: Sequence[Path]) -> None:
        moments = [moment for path in lost if (moment := begun(path.stem))]
        first, last = (f"{moment:%Y-%m-%dT%H:%MZ}" for moment in (min(moments), max(moments)))
        what = f"{len(lost)} files of rows, begun from {first} to {last}"
        text = f"{what}, went that are in no sum: the lake is over its size"
        hint = "give the lake more room with --max-size; doctord profile says why rows are not summed up"
        log.warning("%s: %s\nhint: %s", place.root, text, hint)
        self._tell("gap", "sums of rows", text, hint)

    def _tell(self, kind: str, subject: str, text: str, hint: str) -> None:
        about = {"ts": now_us(), "host": os.uname().nodename, "kind": kind, "subject": subject}
        self._told.put(rows("event", [about | {"text": text, "hint": hint}]))


def _trouble(child: "subprocess.Popen[str]") -> str | None:
    """Waits for a child, and passes on what it says: in short why it did not do its work; null when it did."""
    try:
        _, said = child.communicate(timeout=LONGEST_S)
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()
        return f"not done after {LONGEST_S:.0f} s"
    if said:
        log.warning("%s", said.rstrip())
    if child.returncode == 0:
        return None
    lines = [line for line in said.splitlines() if line and not line.startswith("hint:")]
    return lines[-1] if lines else f"exit status {child.returncode}"


def _name(path: Path) -> str:
    return f"{path.parts[-3]}/{path.stem}"
