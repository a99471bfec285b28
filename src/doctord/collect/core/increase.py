"""Histograms that only grow become increases here: what each bucket gained since the last reading.

A source is a set of counters that begin at zero together: an instance of a server, one of its tables, a tracing
program. A bucket that was not there at the last reading began at zero since, if its source was there. A bucket that
fell, or went away, tells that its source began anew: of that interval nothing is known, and nothing is given.
"""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

Edges = tuple[float, float | None]
"""Lower edge (not in the bucket) and upper edge, microseconds; the upper one is null above the last edge."""

ALL: Final[Edges] = (0.0, None)
"""The one bucket of a source that knows no more than how many and how long in sum."""


@dataclass(frozen=True, slots=True)
class Total:
    """Occurrences in a bucket, and their time in sum, microseconds (null where the source only counts)."""

    count: int
    waited_us: float | None = None


NONE: Final = Total(0)
Buckets = Mapping[Edges, Total]
Source = TypeVar("Source", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Gained(Generic[Source]):
    """What happened between two readings: buckets by subject by source, and the sources that began anew."""

    interval_s: float
    by_source: Mapping[Source, Mapping[str, Buckets]]
    anew: frozenset[Source]


@dataclass(slots=True)
class Growing(Generic[Source]):
    """Remembers the last reading of histograms that grow."""

    _at_s: float = field(default=0.0, init=False)
    _last: Mapping[Source, Mapping[str, Buckets]] = field(default_factory=dict, init=False)

    def step(self, at_s: float, reading: Mapping[Source, Mapping[str, Buckets]]) -> Gained[Source]:
        """What was gained since the last reading; nothing of a source that was not there then.

        Args:
            at_s: When it was read, on a clock that nobody sets.
            reading: Everything since each source began. A source without any occurrence is there, without subjects.

        >>> growing = Growing[str]()
        >>> growing.step(10.0, {"1": {"log file sync": {(0.0, 1.0): Total(5)}}}).by_source
        {}
        >>> growing.step(13.0, {"1": {"log file sync": {(0.0, 1.0): Total(5), (1.0, 2.0): Total(2)}}}).by_source
        {'1': {'log file sync': {(1.0, 2.0): Total(count=2, waited_us=None)}}}
        """
        before, since_s, self._last, self._at_s = self._last, self._at_s, reading, at_s
        known = [source for source in reading if source in before]
        anew = frozenset(source for source in known if _fell(before[source], reading[source]))
        gained = {source: _gain(before[source], reading[source]) for source in known if source not in anew}
        return Gained(at_s - since_s, gained, anew)


def latency_rows(gained: Mapping[str, Buckets], common: Mapping[str, object]) -> Iterator[dict[str, object]]:
    """Rows of `latency`: the buckets that gained; one of count 0 for a subject that had no occurrence.

    Args:
        gained: Buckets by subject.
        common: What all rows have in common: ts, interval_s, host, db, instance.
    """
    for subject, buckets in gained.items():
        for (gt_us, le_us), total in (buckets or {ALL: NONE}).items():
            row = {"gt_us": gt_us, "le_us": le_us, "count": total.count, "waited_us": total.waited_us}
            yield {**common, "subject": subject, **row}


def wait_rows(
    gained: Mapping[str, Buckets], common: Mapping[str, object], seconds: float
) -> Iterator[dict[str, object]]:
    """Rows of `wait`, without their class, of subjects with the bucket `ALL`: counts and means over so many seconds."""
    for event, buckets in gained.items():
        total = buckets.get(ALL, Total(0, 0.0))
        row: dict[str, object] = {"event": event, "waits_per_s": total.count / seconds}
        if total.waited_us is not None:
            row["average_active_sessions"] = total.waited_us / 1e6 / seconds
            row["avg_wait_ms"] = total.waited_us / total.count / 1e3 if total.count else None
        yield {**common, **row}


def _fell(before: Mapping[str, Buckets], now: Mapping[str, Buckets]) -> bool:
    return any(
        _less(now.get(subject, {}).get(edges, NONE), total)
        for subject, buckets in before.items()
        for edges, total in buckets.items()
    )


def _less(now: Total, before: Total) -> bool:
    both_timed = now.waited_us is not None and before.waited_us is not None
    return now.count < before.count or (both_timed and (now.waited_us or 0.0) < (before.waited_us or 0.0))


def _gain(before: Mapping[str, Buckets], now: Mapping[str, Buckets]) -> dict[str, Buckets]:
    return {subject: _grown(before.get(subject, {}), buckets) for subject, buckets in now.items()}


def _grown(before: Buckets, now: Buckets) -> Buckets:
    return {
        edges: _minus(total, before[edges]) if edges in before else total
        for edges, total in now.items()
        if total.count > before.get(edges, NONE).count
    }


def _minus(now: Total, before: Total) -> Total:
    waited_us = None
    if now.waited_us is not None and before.waited_us is not None:
        waited_us = now.waited_us - before.waited_us
    return Total(now.count - before.count, waited_us)
