"""Counts what a log tells by interval of time: rates that are the same however far the log has grown since."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

DAY_US = 86_400_000_000


@dataclass(frozen=True, slots=True)
class Counted:
    """How often something happened in an interval, by its end (microseconds since 1970) and length."""

    end_us: int
    length_s: float
    key: str | None
    count: int


class Tally:
    """Counts by key and interval. Intervals end at multiples of their width since 1970.

    The first one begins with the log's first line. The last one is left out, as the log may go on in it, unless there
    is no other. A key of `always` has a count of none where nothing of it was told, but not in silences of over a day.
    """

    def __init__(self, width_s: int) -> None:
        """Nothing is counted yet."""
        self._width_us = width_s * 1_000_000
        self._counts: Counter[tuple[int, str | None]] = Counter()
        self._ends: set[int] = set()
        self._first_us: int | None = None
        self._last_us, self._last_end = 0, 0
        self.always: set[str | None] = set()

    def saw(self, at_us: int) -> int:
        """The log goes on at this moment; the end of its interval."""
        if at_us == self._last_us:
            return self._last_end
        if self._first_us is None or at_us < self._first_us:
            self._first_us = at_us
        self._last_us = max(self._last_us, at_us)
        end_us = -(-at_us // self._width_us) * self._width_us
        self._ends.add(end_us)
        if at_us == self._last_us:
            self._last_end = end_us
        return end_us

    def add(self, at_us: int, key: str | None, count: int = 1) -> None:
        """Count something that happened so many times at a moment (microseconds since 1970), under a key."""
        self._counts[self.saw(at_us), key] += count

    def counted(self) -> Iterator[Counted]:
        """What was counted, in order of time."""
        found: dict[int, dict[str | None, int]] = {end: dict.fromkeys(self.always, 0) for end in self._covered()}
        for (end, key), count in self._counts.items():
            if end in found:
                found[end][key] = count
        for end, counts in found.items():
            begin_us, end_us = max(end - self._width_us, self._first_us or 0), min(end, self._last_us)
            if end_us > begin_us:
                for key, count in counts.items():
                    yield Counted(end_us, (end_us - begin_us) / 1e6, key, count)

    def _covered(self) -> Iterator[int]:
        """Ends of the intervals that the log covers."""
        before: int | None = None
        for end in [end for end in sorted(self._ends) if end <= self._last_us] or sorted(self._ends)[:1]:
            if before is not None and end - before <= DAY_US:
                yield from range(before + self._width_us, end, self._width_us)
            yield end
            before = end
