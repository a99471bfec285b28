"""What samples of sessions come to: how many were in each wait event on average."""

import os
from collections.abc import Iterable, Mapping
from typing import Any, Final

from doctord._native import Batch
from doctord.dataset.rows import now_us, rows
from doctord.dataset.tables import WORKING

_EVERY_S: Final = 1.0
CPU: Final = ("CPU", "CPU", "cpu")


class SessionWaits:
    """Adds up how long sessions and their workers spent in each event; `CPU` is told also when nobody was on one."""

    def __init__(self, period_s: float) -> None:
        """`period_s` is the time between two samples."""
        self._after_s = _EVERY_S - period_s / 2
        self.forget()

    def forget(self) -> None:
        """Begin anew: the server went away, or the sums were told."""
        self._interval_s = 0.0
        self._seconds: dict[tuple[str, str, str | None], float] = {CPU: 0.0}

    def add(self, db: str, sample: Iterable[Mapping[str, Any]], interval_s: float) -> list[Batch]:
        """Add rows of `session` of one moment; the batch of `wait` once a second."""
        self._interval_s += interval_s
        for row in sample:
            if row["kind"] in WORKING and row["state"] == "active":
                wait = (row["wait_class"], row["event"], row["wait_kind"])
                self._seconds[wait] = self._seconds.get(wait, 0.0) + interval_s
        if self._interval_s < self._after_s:
            return []
        told = [self._batch(db)]
        self.forget()
        return told

    def _batch(self, db: str) -> Batch:
        common = {"ts": now_us(), "interval_s": self._interval_s, "host": os.uname().nodename, "db": db}
        return rows(
            "wait",
            [
                {**common, "wait_class": wait_class, "event": event, "wait_kind": kind,
                 "average_active_sessions": seconds / self._interval_s}
                for (wait_class, event, kind), seconds in self._seconds.items()
            ],
        )  # fmt: skip
