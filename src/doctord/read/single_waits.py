"""Single waits, one after another: summed up into histograms of equal intervals, their time known exactly."""

from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from doctord._native import Batch, LatencyGrid
from doctord.dataset.rows import columns
from doctord.read.source import SourceFile

# A silence of more columns than this is a gap: the trace may have been off.
MOST_SILENT_COLUMNS = 600
MOST_HELD = 100_000
CLOCK_FROM_1970 = "no date in it: its clock is taken to begin at 1970-01-01"
LATEST_US = 1 << 60
LONGEST_US = float(1 << 50)

Numbers: TypeAlias = "array[int] | memoryview"  # 64-bit integers
CELL = ("subject", "ts", "gt_us", "le_us", "count", "waited_us")
Cell: TypeAlias = tuple[str, int, float, float | None, int, float]


class Waits:
    """Puts waits into columns that end at multiples of their width. They may come in any order.

    A subject that does not occur in a column after its first one had no wait there.
    """

    def __init__(self, source: SourceFile, column_us: int = 1_000_000, db: str | None = None) -> None:
        """Nothing is held yet. `db` is the server that all waits are of, null being the host."""
        self._source = source
        self._column_us = column_us
        self._db = db
        self._held: dict[str, tuple[array[int], array[int]]] = {}
        self._number = 0
        self._newest_end_us = -LATEST_US
        self._ends_us: dict[str, int] = {}

    def add(self, line: int, end_us: float, latency_us: float, subject: str) -> Sequence[Batch]:
        """A wait: when it ended, and how long it took. Rows of earlier ones, when it begins a new column."""
        if not (-LATEST_US < end_us < LATEST_US and 0 <= latency_us < LONGEST_US):
            self._source.skip(line, "a time that cannot be one")
            return ()
        batches: Sequence[Batch] = ()
        is_late = end_us < self._newest_end_us - MOST_SILENT_COLUMNS * self._column_us
        if end_us > self._newest_end_us or is_late or self._number >= MOST_HELD:
            batches = self.flush()
        if end_us > self._newest_end_us:
            self._newest_end_us = -(-round(end_us) // self._column_us) * self._column_us
        times, latencies = self._held.setdefault(subject, (array("q"), array("q")))
        times.append(round(end_us))
        latencies.append(round(latency_us * 1000))
        self._number += 1
        return [*batches, *self.flush()] if is_late else batches

    def take(self, waits: Mapping[str, tuple[memoryview, memoryview]], until_us: int) -> list[Batch]:
        """Waits of complete columns: by subject, when each ended (microseconds), and its time (nanoseconds)."""
        self._newest_end_us = until_us
        return self._rows(waits)

    def flush(self) -> list[Batch]:
        """Rows of `latency` of the columns that are held, which are let go."""
        held, self._held, self._number = self._held, {}, 0
        return self._rows(held)

    def _rows(self, held: Mapping[str, tuple[Numbers, Numbers]]) -> list[Batch]:
        found = [cell for subject, waits in held.items() for cell in self._counted(subject, *waits)]
        for subject in self._ends_us.keys() - held.keys():
            found += self._silence(subject, self._newest_end_us)
        if not found:
            return []
        of_all = {"interval_s": self._column_us / 1e6, "host": self._source.host, "db": self._db}
        by_column = zip(CELL, map(list, zip(*found, strict=True)), strict=True)
        return [columns("latency", len(found), {**of_all, **dict(by_column)})]

    def _counted(self, subject: str, times: Numbers, latencies: Numbers) -> Iterator[Cell]:
        grid = LatencyGrid(self._column_us)
        grid.add(times, latencies)
        cells = grid.cells()
        yield from self._silence(subject, cells[0][0] - self._column_us)
        self._ends_us[subject] = max(cells[-1][0], self._ends_us.get(subject, -LATEST_US))
        for cell in cells:
            yield (subject, *cell)

    def _silence(self, subject: str, until_us: int) -> Iterator[Cell]:
        """The columns since the subject's last, up to this one: nothing was waited for."""
        last_us = self._ends_us.get(subject, until_us)
        if (until_us - last_us) // self._column_us <= MOST_SILENT_COLUMNS:
            for end_us in range(last_us + self._column_us, until_us + 1, self._column_us):
                yield (subject, end_us, 0.0, None, 0, 0.0)
        self._ends_us[subject] = max(last_us, until_us)
