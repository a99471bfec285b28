"""A dataset: a time-bounded set of tables, whether they came live, from a lake, or from files.

Importing this module imports Arrow and Polars; `doctord.dataset.tables` does not.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, cached_property
from typing import Any, Protocol, TypeVar, cast

import polars as pl
import pyarrow as pa

from doctord.dataset.arrow import hide_pandas, polars_frame
from doctord.dataset.tables import HOLDING, TABLES, Table

# Else threads add up parts of a group, and then these in whichever order they come: the last digits of a sum, and with
# them a verdict's document, would be others in each run.
os.environ.setdefault("POLARS_NO_PARTITION", "1")
hide_pandas()

Made = TypeVar("Made")

ARROW_TYPES: dict[str, pa.DataType] = {
    "ts": pa.timestamp("us", "UTC"),
    "f64": pa.float64(),
    "i64": pa.int64(),
    "str": pa.string(),
}


class ArrowBatch(Protocol):
    """Rows of one table, as a collector yields them (`doctord._native.Batch`)."""

    @property
    def table(self) -> str:
        """Name of the table."""
        ...

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """The Arrow PyCapsule interface."""
        ...


def arrow_schema(table: Table) -> pa.Schema:
    """The table's Arrow schema: columns in their declared order, all nullable."""
    return pa.schema([(column.name, ARROW_TYPES[column.type]) for column in table.columns])


def arrow_tables(batches: Iterable[ArrowBatch]) -> dict[str, pa.Table]:
    """The rows of batches by table, in the order in which they came."""
    by_table: dict[str, list[pa.RecordBatch]] = {}
    for batch in batches:
        by_table.setdefault(batch.table, []).append(pa.record_batch(batch))
    return {name: pa.Table.from_batches(parts) for name, parts in by_table.items()}


class _NoRows(pl.DataFrame):
    """A table without rows: filtered or ordered it is itself. Hundreds of causes ask, 0.1 ms each time."""

    def _itself(self, *_: object, **__: object) -> "_NoRows":
        return self

    filter = sort = drop_nulls = unique = _itself


@cache
def _no_rows(table: str) -> pl.DataFrame:
    # not by empty_table(), which would load pandas
    return _NoRows(schema=polars_frame(pa.Table.from_batches([], arrow_schema(TABLES[table]))).schema)


@dataclass(frozen=True, eq=False)
class Dataset:
    """The tables of one host over one interval.

    Every table of the vocabulary is there; one that no source filled is empty. `dataset.frame("cpu")` is a Polars
    frame with the columns that `doctord.dataset.tables` declares. The rows of one entity stand in time order; between
    entities there is none, as a lake keeps them by entity and sorting millions of rows would cost more than any
    analysis. A source hands rows over as it has them, as a table of Arrow or a frame: no copy is made of either.
    """

    tables: Mapping[str, pa.Table | pl.DataFrame] = field(default_factory=dict)

    @classmethod
    def from_batches(cls, batches: Iterable[ArrowBatch]) -> "Dataset":
        """A dataset of what collectors yielded."""
        return cls(arrow_tables(batches))

    @classmethod
    def from_rows(cls, **tables: list[dict[str, Any]]) -> "Dataset":
        """A dataset of rows written out by hand; a key that is missing is null. For tests and small readers.

        >>> Dataset.from_rows(cpu=[{"host": "a", "usr_pct": 12.5}]).frame("cpu")["usr_pct"].to_list()
        [12.5]
        """
        return cls({name: pa.Table.from_pylist(rows, arrow_schema(TABLES[name])) for name, rows in tables.items()})

    @classmethod
    def joined(cls, datasets: Iterable["Dataset"]) -> "Dataset":
        """The rows of several datasets in one."""
        parts: dict[str, list[pa.Table]] = {}
        for dataset in datasets:
            for name in dataset.tables:
                parts.setdefault(name, []).append(dataset.arrow(name).cast(arrow_schema(TABLES[name])))
        return cls({name: pa.concat_tables(tables) for name, tables in parts.items()})

    def frame(self, table: str) -> pl.DataFrame:
        """One table as a Polars frame, each entity's rows in time order; empty when no source filled it."""
        if table not in self._frames:
            rows = self.tables.get(table)
            frame = polars_frame(rows) if isinstance(rows, pa.Table) else rows
            self._frames[table] = _no_rows(table) if frame is None or frame.is_empty() else frame
        return self._frames[table]

    def rows(self, table: str, condition: pl.Expr, *columns: str) -> pl.DataFrame:
        """Some columns of the rows for which a condition holds: the others, of millions of rows, are not copied.

        >>> Dataset.from_rows(cpu=[{"cpu": 0, "usr_pct": 12.5}, {"usr_pct": 3.0}]).rows(
        ...     "cpu", pl.col("cpu").is_null(), "usr_pct").rows()
        [(3.0,)]
        """
        frame = self.frame(table)
        if frame.is_empty():
            return frame[list(columns)]
        # The streaming engine hands rows out in no order.
        return frame.lazy().filter(condition).select(columns).collect(engine="in-memory")

    def values(self, table: str, column: str) -> list[Any]:
        """The values of a column, each once, in the order in which they come; looked for once.

        >>> Dataset.from_rows(cpu=[{"host": "a"}, {"host": "a"}, {}, {"host": "b"}]).values("cpu", "host")
        ['a', 'b']
        """
        if (table, column) not in self._values:
            value = pl.col(column)
            begins = value.ne_missing(value.shift(1))  # rows of one entity stand together: few are left to compare
            found = value.filter(begins).drop_nulls().unique(maintain_order=True)
            frame = self.frame(table)
            self._values[table, column] = [] if frame.is_empty() else frame.select(found).to_series().to_list()
        return self._values[table, column]

    def arrow(self, table: str) -> pa.Table:
        """One table as Arrow has it, of those that a source filled."""
        rows = self.tables[table]
        return rows.to_arrow() if isinstance(rows, pl.DataFrame) else rows

    @cached_property
    def _frames(self) -> dict[str, pl.DataFrame]:
        return {}

    @cached_property
    def _values(self) -> dict[tuple[str, str], list[Any]]:
        return {}

    @cached_property
    def _derived(self) -> dict[str, dict[Callable[[pl.DataFrame], object], object]]:
        return {}

    def replaced(self, tables: Mapping[str, pl.DataFrame]) -> "Dataset":
        """A dataset with other rows in some tables; the rest is the same in both, and takes no further memory."""
        dataset = Dataset({**self.tables, **tables})
        same = [name for name in self.tables if name not in tables]
        dataset._frames.update({name: self.frame(name) for name in same})
        dataset._derived.update({name: self._derived.setdefault(name, {}) for name in same})
        return dataset

    def derived(self, table: str, make: Callable[[pl.DataFrame], Made]) -> Made:
        """What a function makes of a table; it is made once."""
        known = self._derived.setdefault(table, {})
        if make not in known:
            known[make] = make(self.frame(table))
        return cast(Made, known[make])

    def between(self, since: datetime, until: datetime) -> "Dataset":
        """The rows whose interval ends after `since` and no later than `until`; lasting tables are kept whole."""
        inside = (pl.col("ts") > since) & (pl.col("ts") <= until)
        return Dataset(
            {name: self.frame(name) if name in HOLDING else self.frame(name).filter(inside) for name in self.tables}
        )

    @cached_property
    def hosts(self) -> frozenset[str]:
        """The hosts that rows name; empty where they name none."""
        return frozenset(host for name in self.tables for host in self.values(name, "host"))

    @cached_property
    def since(self) -> datetime | None:
        """Start of the interval that the rows cover; null for a dataset without rows."""
        starts = [
            frame.select((pl.col("ts") - pl.duration(microseconds=pl.col("interval_s").fill_null(0) * 1_000_000)).min())
            for frame in self._filled()
        ]
        return min((value for frame in starts if (value := frame.item()) is not None), default=None)

    @cached_property
    def until(self) -> datetime | None:
        """End of the interval that the rows cover; null for a dataset without rows."""
        return max((value for frame in self._filled() if (value := frame["ts"].max()) is not None), default=None)  # type: ignore[return-value]

    def _filled(self) -> list[pl.DataFrame]:
        """Tables with rows, but for those that may hold what was told long before the interval."""
        frames = (self.frame(name) for name in self.tables if name not in HOLDING)
        return [frame for frame in frames if not frame.is_empty()]
