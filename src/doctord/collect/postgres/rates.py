"""Counters become increases per second here; a counter that goes down was reset and gives no rate."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)


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
    """When something costly is due: at once, after `first_s`, and then ever more rarely, down to every `longest_s`.

    A short look thus gets its increases too, and a long recording is not burdened.
    """

    first_s: float
    longest_s: float
    _due_s: float = field(default=0.0, init=False)
    _gap_s: float = field(default=0.0, init=False)

    def due(self, now_s: float) -> bool:
        """Whether it is time; when it is, the next time is set."""
        if now_s < self._due_s - 0.5:  # a tick comes a little early or late
            return False
        self._gap_s = min(self._gap_s * 2 or self.first_s, self.longest_s)
        self._due_s = now_s + self._gap_s
        return True
