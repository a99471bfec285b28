"""Histograms one after another, as tracers print them: which of them belong to one interval, and when it ended."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from doctord._native import Batch
from doctord.dataset.rows import micros, rows
from doctord.read.source import SourceFile

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NO_MOMENTS = "no moments in it: intervals are counted from 1970-01-01 00:00 UTC"

# Lower and upper edge in microseconds, null being without end, and a count.
Buckets = Sequence[tuple[float, float | None, int]]


@dataclass
class Column:
    """The histograms of one interval by subject, and the time that was printed with them, which may be null."""

    stamp: datetime | None = None
    held: dict[str, Buckets] = field(default_factory=dict)


class Columns:
    """Puts histograms into intervals: a stamp begins a new one, and so does a subject that comes again.

    An interval ends at its stamp; without stamps intervals are counted. Its length is the time since the stamp before,
    or what the tool says of its ticks, or null.
    """

    def __init__(self, source: SourceFile) -> None:
        """Nothing is held yet."""
        self._source = source
        self._tick_s: float | None = None
        self._column: Column | None = None
        self._first: Column | None = None  # waits for the second: its length is taken from there
        self._before: datetime | None = None
        self._counted = 0
        self._known: dict[str, None] = {}

    def begin(self, stamp: datetime | None = None, tick_s: float | None = None) -> Iterator[Batch]:
        """A new interval was printed at this moment, or after so many seconds; rows of the one before."""
        yield from self._end()
        self._column = Column(stamp)
        self._tick_s = tick_s or self._tick_s

    def take(self, subject: str, buckets: Buckets) -> Iterator[Batch]:
        """A histogram; rows of the interval before when this is the first of a new one."""
        if self._column and subject in self._column.held:
            yield from self._end()
        self._column = self._column or Column()
        self._column.held[subject] = buckets
        self._known[subject] = None

    def rest(self) -> Iterator[Batch]:
        """Rows of the last intervals, at the end of the text."""
        yield from self._end()
        if self._first and self._first.stamp:
            yield from self._rows(self._first, self._first.stamp, self._tick_s)

    def _end(self) -> Iterator[Batch]:
        column, self._column = self._column, None
        if column is None:
            return
        if column.stamp is None:
            yield from self._rows(column, self._counted_end(), self._tick_s)
            return
        if self._before is None:
            self._first = column
        else:
            length_s = (column.stamp - self._before).total_seconds() or None
            if self._first and self._first.stamp:
                yield from self._rows(self._first, self._first.stamp, length_s)
                self._first = None
            yield from self._rows(column, column.stamp, length_s)
        self._before = column.stamp

    def _counted_end(self) -> datetime:
        if not self._counted:
            self._source.place("time", NO_MOMENTS)
        self._counted += 1
        return EPOCH + timedelta(seconds=self._counted * (self._tick_s or 1.0))

    def _rows(self, column: Column, end: datetime, length_s: float | None) -> Iterator[Batch]:
        """A subject known by then that was not printed had no wait."""
        common = {"ts": micros(end), "interval_s": length_s, "host": self._source.host}
        held = []
        for subject in self._known:
            filled = [bucket for bucket in column.held.get(subject, ()) if bucket[2]] or [(0.0, None, 0)]
            named = common | {"subject": subject}
            held += [named | {"gt_us": low, "le_us": high, "count": count} for low, high, count in filled]
        if held:
            yield rows("latency", held)
