"""Which conditions are alerts: not after one look, not again at each, and over only when they stay away.

What is seen by turns and by chance would call somebody for nothing, each time (flapping; R. Ewaschuk, "My Philosophy on
Alerting", 2013: every page should be actionable). So a condition fires when it was there in `SEEN` looks in a row, and
is resolved when it was gone in `GONE`. A look that could not judge is none: what nobody sees any more is not over.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, NamedTuple, TypeAlias

SEEN: Final = 2
GONE: Final = 3


Identity: TypeAlias = tuple[str, str, str, str | None]


class Condition(NamedTuple):
    """What is wrong in one look at a lake.

    A finding that nothing else explains, a threshold that is violated, or that nobody records any more.
    `name` is the cause's or the threshold's; `host` is empty where it is about the lake; `of` what it is about, such as
    a database or a file system, null for the host; `severity` is critical or warning; `what` says it in a sentence,
    which may be another one at each look.
    """

    lake: str
    host: str
    name: str
    of: str | None
    severity: str
    what: str
    kind: Literal["finding", "threshold", "recording"] = "finding"

    @property
    def identity(self) -> Identity:
        """What makes it the same one in the next look."""
        return self.lake, self.host, self.name, self.of


def everywhere(_condition: Condition) -> bool:
    """A look that judged all there is."""
    return True


class Silence(NamedTuple):
    """Nobody is told of a cause or threshold, on one host or on all (null), until then, and why."""

    name: str
    host: str | None
    reason: str
    until: datetime

    def covers(self, condition: Condition, moment: datetime) -> bool:
        """Whether nobody is told of it at that moment."""
        return self.name == condition.name and self.host in {None, condition.host} and moment < self.until


class Alert(NamedTuple):
    """A condition of which somebody is told: that it is there, or that it is over."""

    condition: Condition
    since: datetime
    status: Literal["firing", "resolved"]
    at: datetime


@dataclass
class _Watched:
    condition: Condition
    since: datetime
    seen: int = 0
    missed: int = 0
    is_told: bool = False


class Alerts:
    """The conditions of the last looks."""

    def __init__(self, silences: Sequence[Silence] = ()) -> None:
        """Nothing was seen yet."""
        self._silences = silences
        self._watched: dict[Identity, _Watched] = {}

    def look(
        self,
        moment: datetime,
        conditions: Iterable[Condition],
        judged: Callable[[Condition], bool] = everywhere,
    ) -> list[Alert]:
        """What to tell after a look: what fires now, and what is over; in the order in which it was first seen.

        Args:
            moment: When it was.
            conditions: What is wrong.
            judged: Whether it would have told a condition, had it still been there; else that stays as it was.
        """
        there = {one.identity: one for one in conditions}
        for identity, condition in there.items():
            watched = self._watched.setdefault(identity, _Watched(condition, moment))
            watched.condition, watched.seen, watched.missed = condition, watched.seen + 1, 0
        told = []
        for identity, watched in list(self._watched.items()):
            if identity not in there:
                if not judged(watched.condition):
                    continue
                watched.missed += 1
            told += self._changed(identity, watched, moment)
        return told

    def firing(self, moment: datetime) -> list[Alert]:
        """All that fires, of which somebody was told."""
        return [Alert(one.condition, one.since, "firing", moment) for one in self._watched.values() if one.is_told]

    def _changed(self, identity: Identity, watched: _Watched, moment: datetime) -> list[Alert]:
        condition = watched.condition
        if not watched.is_told and watched.missed:
            del self._watched[identity]
        elif not watched.is_told and watched.seen >= SEEN:
            if not any(silence.covers(condition, moment) for silence in self._silences):
                watched.is_told = True
                return [Alert(condition, watched.since, "firing", moment)]
        elif watched.missed >= GONE:
            del self._watched[identity]
            return [Alert(condition, watched.since, "resolved", moment)]
        return []


def grouped(alerts: Iterable[Alert]) -> list[tuple[str, list[Alert]]]:
    """Alerts of one cause or threshold together, so that fifty databases with one trouble are one message."""
    groups: dict[tuple[str, str], list[Alert]] = {}
    for alert in alerts:
        groups.setdefault((alert.condition.name, alert.status), []).append(alert)
    return [(name, group) for (name, _), group in groups.items()]
