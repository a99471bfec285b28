"""A table with a row for each moment and a column for each metric: what its columns are, and the rows they become."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Any, NamedTuple

import pyarrow as pa

from doctord._native import Batch
from doctord.dataset.rows import columns
from doctord.dataset.tables import TABLES
from doctord.errors import UserError
from doctord.read.source import SourceFile
from doctord.read.tabular.table_names import NamedColumn, places_of, world_of
from doctord.read.tabular.table_times import is_text, moments

# Names of a column of times, the surest first; the last ones may count seconds from the start.
TIMES = ("ts", "timestamp", "@timestamp", "datetime", "date", "time", "second", "seconds", "elapsed", "epoch")
LARGEST = 2.0**63
HOSTS = ("host", "hostname", "node", "server", "machine")


class Columns(NamedTuple):
    """The columns of a table by what they are."""

    time: str
    host: str | None
    labels: list[str]
    figures: list[str]


def columns_of(schema: pa.Schema, name: str) -> Columns:
    """Which columns are times, labels (texts) and figures (numbers, true and false).

    Raises:
        UserError: no column holds times, or none figures.
    """
    typed = [field.name for field in schema if pa.types.is_timestamp(field.type) or pa.types.is_date(field.type)]
    by_name = {field.name.lower(): field.name for field in schema}
    time = next(iter(typed), None) or next((by_name[known] for known in TIMES if known in by_name), None)
    host = next((by_name[known] for known in HOSTS if known in by_name), None)
    rest = [field for field in schema if field.name not in {time, host}]
    labels = [field.name for field in rest if is_text(field.type)]
    figures = [field.name for field in rest if _is_figure(field.type)]
    if time is None or not figures:
        what = "a column of times" if time is None else "a column of figures"
        raise UserError(f"{name}: the table has not {what}", f"name a column of times one of {', '.join(TIMES)}")
    return Columns(time, host, labels, figures)


def _is_figure(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind))


def labels_of(table: pa.Table, labels: list[str]) -> list[str | None]:
    """The labels of each row, joined; null where the table has none."""
    if not labels:
        return [None] * table.num_rows
    columns = [table[label].cast(pa.string()).to_pylist() for label in labels]
    return [", ".join(part for part in parts if part is not None) or None for parts in zip(*columns, strict=True)]


@dataclass
class WideTable:
    """A wide table, its rows placed in time.

    Attributes:
        table: What was read.
        of: Its columns by what they are.
        at_us: Moment of each row; null where it names none.
        step_s: The usual time from one row to the next.
        labels: Labels of each row.
        hosts: Host of each row; null: no column says it.
    """

    table: pa.Table
    of: Columns
    at_us: list[int | None]
    step_s: float | None
    labels: list[str | None]
    hosts: list[str | None] | None

    @classmethod
    def placed(cls, table: pa.Table, source: SourceFile) -> "WideTable":
        """Tell its columns apart, and place its rows.

        Raises:
            UserError: it has no times, or no figures.
        """
        of = columns_of(table.schema, source.name)
        labels = labels_of(table, of.labels)
        at_us, step_s = moments(table, of.time, labels, source)
        if unplaced := at_us.count(None):
            source.note(f"{unplaced} rows name no moment: they are left out")
        hosts = table[of.host].cast(pa.string()).to_pylist() if of.host else None
        return cls(table, of, at_us, step_s, labels, hosts)

    def batches(self) -> Iterator[Batch]:
        """Rows of `statistic` by column, and of the dataset's tables for names that are known."""
        for name in self.of.figures:
            if not places_of(name):
                yield self._statistic(name)
        yield from self._host_rows()

    def _statistic(self, name: str) -> Batch:
        values = figures_of(self.table, name)
        kept = [row for row, value in enumerate(values) if value is not None and self.at_us[row] is not None]
        by_row: dict[str, list[Any]] = {"ts": self.at_us, "value": values, "entity": self.labels}
        by_row["host"] = self.hosts or [None] * len(values)
        about = {"component": world_of(name), "name": name, "kind": "gauge", "interval_s": self.step_s}
        kept_rows = {key: [of_rows[row] for row in kept] for key, of_rows in by_row.items()}
        return columns("statistic", len(kept), {**about, **kept_rows})

    def _host_rows(self) -> Iterator[Batch]:
        rows: dict[tuple[str, tuple[tuple[str, object], ...]], dict[str, list[float | None]]] = {}
        for name in self.of.figures:
            for place in places_of(name):
                own = rows.setdefault((place.table, place.of), {})
                own[place.column] = _added(own.get(place.column), figures_of(self.table, name), place)
        kept = [row for row, at in enumerate(self.at_us) if at is not None]
        hosts = self.hosts or self.labels
        for (table, about), held in rows.items():
            whole = {column.name for column in TABLES[table].columns if column.type == "i64"}
            figures = {key: [_typed(of_rows[row], key in whole) for row in kept] for key, of_rows in held.items()}
            at = {"ts": [self.at_us[row] for row in kept], "host": [hosts[row] for row in kept]}
            yield columns(table, len(kept), {"interval_s": self.step_s, **at, **dict(about), **figures})


def figures_of(table: pa.Table, column: str) -> list[float | None]:
    """The figures of a column; what is no number is null."""
    values = table[column]
    if pa.types.is_boolean(values.type):
        values = values.cast(pa.int8())
    plain: list[Any] = values.cast(pa.float64(), safe=False).to_pylist()
    return [value if value is not None and isfinite(value) else None for value in plain]


def _added(before: list[float | None] | None, values: list[float | None], place: NamedColumn) -> list[float | None]:
    scaled = [None if value is None else value * place.factor for value in values]
    if before is None:
        return scaled
    return [None if a is None or b is None else a + b for a, b in zip(before, scaled, strict=True)]


def _typed(value: float | None, is_whole: bool) -> float | int | None:  # noqa: FBT001 - as the column has it
    if value is None or not is_whole:
        return value
    return round(value) if abs(value) < LARGEST else None
