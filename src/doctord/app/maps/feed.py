"""Latency maps that grow with what live sources, or a pipe, bring."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa

from doctord._native import Batch
from doctord.analyse.latency.histogram import Histogram
from doctord.analyse.latency.map import LatencyMap, joined, latency_map, maps_of_rows, markers, subjects
from doctord.dataset.dataset import Dataset
from doctord.errors import UserError

MOST_COLUMNS = 3600
TABLES = ("latency", "wait", "disk", "event")

# The maps there are, each with what its rows are chosen by.
Maps = Sequence[tuple[LatencyMap, Histogram]]


@dataclass
class Feed:
    """Maps that grow with batches, which come from other threads; of one subject, or of all (null)."""

    subject: str | None = None
    _waiting: list[Batch] = field(default_factory=list)
    _maps: dict[tuple[str, str | None], tuple[LatencyMap, Histogram]] = field(default_factory=dict)

    def append(self, batch: Batch) -> None:
        """Take rows; they are in the maps after the next `grown`."""
        if batch.table in TABLES:
            self._waiting.append(batch)

    def take(self, batches: Iterable[Batch]) -> None:
        """Hold these rows until `grown` puts them into the maps."""
        for batch in batches:
            self.append(batch)

    def grown(self) -> bool:
        """Put what came into the maps; whether anything did."""
        batches = [self._waiting.pop(0) for _ in range(len(self._waiting))]
        if not batches:
            return False
        timed = [batch for batch in batches if batch.table == "latency"]
        dataset = Dataset.from_batches(batch for batch in batches if batch.table != "latency")
        means = (latency_map(dataset, known.name, db=known.db) for known in subjects(dataset))
        later = maps_of_rows(row for batch in timed for row in pa.record_batch(batch).to_pylist())
        for drawn in (*later, *means):
            if self.subject in {None, drawn.subject}:
                key = (drawn.subject, drawn.db)
                before = self._maps.get(key)
                self._maps[key] = _longer(before, drawn) if before else (drawn, drawn.whole)
        if "event" in dataset.tables:
            self._mark(dataset)
        return True

    def _mark(self, dataset: Dataset) -> None:
        """Markers also of subjects that have no new rows: what happened may be why."""
        for key, (drawn, whole) in self._maps.items():
            new = tuple(marker for marker in markers(dataset, drawn.db) if marker not in drawn.markers)
            if new:
                self._maps[key] = replace(drawn, markers=drawn.markers + new), whole

    def maps(self) -> Maps:
        """The maps so far, in the order in which their subjects came."""
        return list(self._maps.values())

    def map_of(self) -> LatencyMap:
        """The map of most waits.

        Raises:
            UserError: nothing was seen.
        """
        self.grown()
        if not self._maps:
            what = f" of {self.subject!r}" if self.subject else ""
            raise UserError(f"nothing{what} was seen", "look for longer, or while there is work")
        return max(
            (drawn for drawn, _ in self._maps.values()),
            key=lambda drawn: sum(column.count or 0 for column in drawn.columns),
        )


def _longer(before: tuple[LatencyMap, Histogram], later: LatencyMap) -> tuple[LatencyMap, Histogram]:
    drawn, whole = before
    return joined(drawn, later, MOST_COLUMNS), whole.merge(later.whole)
