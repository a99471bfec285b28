"""What is said once: things that could not be seen, and things that happened to a server."""

import logging
import math
import os
import threading
import time
from typing import Final

from doctord._native import Batch
from doctord.dataset.rows import now_us, rows

log = logging.getLogger(__name__)

_SAME_MOMENT_S: Final = 10.0


class Notices:
    """Rows for `event`, gathered until the next batch; collectors that share one say nothing twice."""

    def __init__(self) -> None:
        """Nothing is said yet."""
        self._lock = threading.Lock()
        self._said: dict[tuple[str | None, ...], float] = {}
        self._pending: list[dict[str, object]] = []

    def not_measured(self, db: str | None, subject: str, why: str, hint: str | None = None) -> None:
        """Something could not be read; once for each subject and reason."""
        if self._new("not measured", db, subject, why, within_s=math.inf):
            # No warning: it stands in the verdict, and with the rows.
            log.info("not measured: %s: %s%s", _about(db, subject), why, f"\nhint: {hint}" if hint else "")
            self._add("not measured", db, subject, why, hint=hint or None)

    def happened(self, kind: str, db: str, subject: str, text: str) -> None:
        """Something happened; what another collector says of the same moment is left out."""
        if self._new(kind, db, subject, text, within_s=_SAME_MOMENT_S):
            log.info("%s: %s", _about(db, subject), text)
            self._add(kind, db, subject, text)

    def unserved(self, kind: str, db: str, seconds: float, text: str) -> None:
        """A server gave no answer (`no answer`) or let nobody in (`refused`) for so long; the times are added up."""
        log.info("%s: %s: %s", db, kind, text)
        self._add(kind, db, db, text, interval_s=seconds)

    def batches(self) -> list[Batch]:
        """What was said since the last call: one batch, or none."""
        with self._lock:
            pending, self._pending = self._pending, []
        return [rows("event", pending)] if pending else []

    def _new(self, *what: str | None, within_s: float) -> bool:
        now = time.monotonic()
        with self._lock:
            last = self._said.get(what)
            self._said[what] = now
        return last is None or now - last > within_s

    def _add(self, kind: str, db: str | None, subject: str, text: str, **more: object) -> None:
        row = {"kind": kind, "db": db, "subject": subject, "text": text, **more}
        with self._lock:
            self._pending.append({"ts": now_us(), "host": os.uname().nodename, **row})


def _about(db: str | None, subject: str) -> str:
    return subject if db is None or subject.startswith(db) else f"{db}: {subject}"
