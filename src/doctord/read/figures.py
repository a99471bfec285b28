"""Rows put together one figure at a time: what collectors print is figures of many things at one moment."""

import math
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, Final, TypeAlias

from doctord._native import Batch
from doctord.dataset.rows import micros, rows
from doctord.dataset.tables import TABLES
from doctord.read.plausible import fault
from doctord.read.source import SourceFile

MANY_ROWS: Final = 20_000
LARGEST_WHOLE: Final = 2.0**63 - 1024

# A source's own name of a figure: the column it goes to, and what it is multiplied by.
Places: TypeAlias = Mapping[str, tuple[str, float]]

_WHOLE: Final = {
    name: {column.name for column in table.columns if column.type == "i64"} for name, table in TABLES.items()
}


class Figures:
    """The rows of one moment after another, each filled by and by. A row in which nothing was measured is none."""

    def __init__(self, source: SourceFile) -> None:
        """Nothing is held yet; the rows are of the host that the source has at their moment."""
        self._source = source
        self._common: dict[str, Any] = {}
        self._line: int | None = None
        self._now: dict[tuple[object, ...], dict[str, Any]] = {}
        self._named: list[dict[str, Any]] = []
        self._ready: dict[str, list[dict[str, Any]]] = {}

    def at(self, moment: datetime, interval_s: float | None, line: int | None = None) -> Iterator[Batch]:
        """What follows is of this moment, at the end of an interval; rows of those before, when many wait.

        Where all of it stands on one line of the file, that line is left out whole if one of its figures cannot be.
        """
        self._end()
        self._line = line
        self._common = {"ts": micros(moment), "interval_s": interval_s, "host": self._source.host}
        if sum(map(len, self._ready.values())) >= MANY_ROWS:
            yield from self._flush()

    def row(self, table: str, **entity: object) -> dict[str, Any]:
        """The row of this table and entity at the moment, to be filled."""
        key = (table, *((name, value) for name, value in entity.items() if value is not None))
        if key not in self._now:
            self._now[key] = {}
        return self._now[key]

    def fill(
        self, table: str, places: Places, figures: Iterable[tuple[str, float | None]], **entity: object
    ) -> dict[str, float]:
        """Put figures, by the source's names, where they belong; two in one place add up.

        Returns:
            Those that have no place.
        """
        row, others = self.row(table, **entity), dict[str, float]()
        for name, value in figures:
            if value is None:
                continue
            if place := places.get(name):
                row[place[0]] = row.get(place[0], 0.0) + value * place[1]
            else:
                others[name] = value
        return others

    def statistic(
        self,
        component: str,
        name: str,
        value: float | None,
        unit: str | None,
        *,
        kind: str = "gauge",
        entity: str | None = None,
        db: str | None = None,
    ) -> None:
        """A figure that no column holds; nothing when it was not measured."""
        if value is not None and math.isfinite(value):
            self._named.append(self._common | {
                "component": component, "name": name, "value": value, "unit": unit, "kind": kind,
                "entity": entity, "db": db,
            })  # fmt: skip

    def rest(self) -> Iterator[Batch]:
        """The rows that were held back until the source ends."""
        self._end()
        yield from self._flush()

    def _end(self) -> None:
        if self._line is not None and (why := self._fault()):
            self._source.skip(self._line, why)
            self._now, self._named = {}, []
        for (table, *entity), row in self._now.items():
            fitting = ((name, _fitting(str(table), name, value)) for name, value in row.items())
            if measured := {name: value for name, value in fitting if value is not None}:
                named: dict[str, Any] = dict(entity)  # type: ignore[arg-type]
                self._ready.setdefault(str(table), []).append(self._common | named | measured)
        if self._named:
            self._ready.setdefault("statistic", []).extend(self._named)
        self._now, self._named = {}, []

    def _fault(self) -> str | None:
        faults = (fault(str(table), row) for (table, *_), row in self._now.items())
        return next(filter(None, faults), None)

    def _flush(self) -> Iterator[Batch]:
        ready, self._ready = self._ready, {}
        for table, held in ready.items():
            yield rows(table, held)


def _fitting(table: str, name: str, value: Any) -> Any:  # noqa: ANN401 - whatever the column holds
    """The value as its column holds it; null when that cannot hold it."""
    if not isinstance(value, int | float):
        return value
    if name not in _WHOLE[table]:
        return value if math.isfinite(value) else None
    return round(value) if abs(value) <= LARGEST_WHOLE else None


def number(text: str) -> float | None:
    """A figure as programs print it; null when there is none, or it is no finite number.

    >>> number(" 1.5 "), number("-"), number("nan"), number("12,5")
    (1.5, None, None, None)
    """
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and "_" not in text else None
