"""What it is that sessions wait for in the end: their lock waits, by what the sessions at the roots of their trees do.

A session that holds a row while it waits for the log, a standby, a disk or a CPU holds it as long as that takes, and
whoever wants the row waits for the same thing. So it is where it waits for a lock of another kind.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from doctord.analyse.locking.locks import LOCKS, LockWait
from doctord.analyse.time import TimeModel

# Of fewer lock waits than this part what the root did is no picture of the rest.
LEAST_KNOWN = 0.25
CPU, RUN_QUEUE = "cpu", "run queue"


class Roots(NamedTuple):
    """The lock waits of a dataset, and its time model."""

    waits: Sequence[LockWait]
    time: TimeModel

    def part(self, locks: Collection[str], kinds: Collection[str], db: str | None = None) -> float | None:
        """Part (0 to 1) of the waits for some kinds of lock that is behind sessions which wait for some kinds of wait.

        Those are the roots, and who waits for a root for a lock of another kind. It is a part of what is behind
        sessions of which it is known what they did; null where that is too little of these
        waits, or there are none. `db` limits the roots to one server's.
        """
        waits = [wait for wait in self.waits if wait.wait_kind in locks]
        known = sum(wait.seconds for wait in waits if wait.root_kind or wait.gate_kind)
        whole = self.time.kind_share(*locks) * self.time.seconds_per_second * self.time.seconds
        if not known or known < LEAST_KNOWN * whole:
            return None
        behind = (wait.seconds * self._weight(wait, kinds) for wait in waits if db in (None, wait.db))
        return sum(behind) / known

    def behind(self, kinds: Collection[str], db: str | None = None) -> float:
        """Share (0 to 1) of all time that is waited for locks behind roots which wait for some kinds of wait."""
        return sum((self.part((lock,), kinds, db) or 0.0) * self.time.kind_share(lock) for lock in LOCKS)

    def events(self, kinds: Collection[str]) -> list[str]:
        """What these roots wait for in the server's own words, the one that most time is waited behind first."""
        seconds = dict[str, float]()
        for wait in self.waits:
            event = wait.gate_event if wait.gate_kind in kinds else wait.root_event
            if event and (weight := self._weight(wait, kinds)):
                seconds[event] = seconds.get(event, 0.0) + wait.seconds * weight
        return sorted(seconds, key=lambda event: (-seconds[event], event))

    def _weight(self, wait: LockWait, kinds: Collection[str]) -> float:
        """Part (0 to 1) of a wait that counts: samples do not tell a CPU from the queue before it, the host does."""
        if wait.root_kind != CPU or wait.gate_kind in kinds:
            return float(wait.root_kind in kinds or wait.gate_kind in kinds)
        queue, run = self.time.kind_share(RUN_QUEUE), self.time.kind_share(CPU)
        queueing = queue / (queue + run) if queue + run else 0.0
        return queueing * (RUN_QUEUE in kinds) + (1 - queueing) * (CPU in kinds)
