"""Counters become increases per second here; a counter that goes down was reset and gives no rate."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)

EARLY: Final = (5.0, 10.0, 20.0, 30.0)
"""Moments at which a check-up may end."""
_EARLY_TICK_S: Final = 0.5  # a tick may come a little before its time


@dataclass(frozen=True, slots=True)
class Increase(Generic[Key]):
    """What happened between two readings: increases per second by key, and the keys whose counters went down."""

    interval_s: float
    per_s: Mapping[Key, float]
    reset: frozenset[Key] = frozenset()


@dataclass(slots=True)
class Counters(Generic[Key]):
    """Remembers the last reading of a set of counters.

    With `from_zero`, a counter that was not there at the last reading is taken to have begun at zero since.
    """

    from_zero: bool = False
    _at_s: float | None = field(default=None, init=False)
    _last: Mapping[Key, float] = field(default_factory=dict, init=False)

    @property
    def last(self) -> Mapping[Key, float]:
        """The last reading itself; empty before the first."""
        return self._last

    def step(self, at_s: float, reading: Mapping[Key, float]) -> Increase[Key] | None:
        """The increase since the last reading; null the first time.

        >>> counters = Counters[str]()
        >>> counters.step(10.0, {"commits": 100})
        >>> counters.step(12.0, {"commits": 130}).per_s
        {'commits': 15.0}
        """
        before, since, (self._last, self._at_s) = self._last, self._at_s, (reading, at_s)
        if since is None or at_s <= since:
            return None
        seconds = at_s - since
        known = {key: value - before.get(key, 0.0) for key, value in reading.items() if self.from_zero or key in before}
        return Increase(
            seconds,
            {key: grown / seconds for key, grown in known.items() if grown >= 0},
            frozenset(key for key, grown in known.items() if grown < 0),
        )


@dataclass(slots=True)
class Cadence:
    """When something is due: at once, at the moments `early_s` after that, and every `every_s`.

    With EARLY a short look gets its increases too, and a long recording is not burdened.
    """

    every_s: float
    early_s: tuple[float, ...] = ()
    _start_s: float | None = field(default=None, init=False)
    _next_s: float = field(default=0.0, init=False)

    def due(self, now_s: float) -> bool:
        """Whether it is time; when it is, the next time is set."""
        self._start_s = now_s if self._start_s is None else self._start_s
        elapsed_s = now_s - self._start_s + _EARLY_TICK_S
        if elapsed_s < self._next_s:
            return False
        early = (moment for moment in self.early_s if moment > elapsed_s)
        self._next_s = next(early, (elapsed_s // self.every_s + 1) * self.every_s)
        return True
