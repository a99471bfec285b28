"""Whether a table has an index that the condition of a statement could use."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import polars as pl

from doctord.analyse.sql.conditions import Condition
from doctord.dataset.dataset import Dataset

COMPONENT: Final = "pg_index"
EXPRESSION: Final = "(expression)"
_DESCRIBED: Final = re.compile(r"^(?P<method>\w+) \((?P<columns>.*)\)(?P<partial> partial)?(?P<invalid> invalid)?$")

Service: TypeAlias = Literal["none", "some", "unknown"]
"""Whether an index could serve: none, some, or it cannot be told."""


@dataclass(frozen=True, slots=True)
class Index:
    """One index: its key columns in order, `(expression)` for what is no column."""

    name: str
    method: str
    columns: tuple[str, ...]
    is_partial: bool
    is_valid: bool


@dataclass(frozen=True, slots=True)
class Served:
    """Whether a condition could use an index: which, and by which column; null where `service` is not `some`."""

    service: Service
    index: Index | None = None
    column: str | None = None


def indexes(dataset: Dataset, db: str | None, table: str) -> tuple[Index, ...] | None:
    """The indexes of a table (`database.schema.table`); null where nobody looked for them."""
    rows = dataset.frame("setting").filter(
        (pl.col("component") == COMPONENT) & (pl.col("db") == db) & pl.col("name").str.starts_with(f"{table} ")
    )
    last = dict(rows.sort("ts", maintain_order=True).select("name", "value").iter_rows())
    if not last and not _looked_at(dataset, db, table):
        return None
    return tuple(_index(name.removeprefix(f"{table} "), text) for name, text in sorted(last.items()) if text)


def _looked_at(dataset: Dataset, db: str | None, table: str) -> bool:
    counts = dataset.frame("statistic").filter(
        (pl.col("name") == "pg_index.valid_indexes") & (pl.col("db") == db) & (pl.col("entity") == table)
    )
    return counts.height > 0


def _index(name: str, text: str) -> Index:
    found = _DESCRIBED.match(text)
    if found is None:
        return Index(name, text, (), is_partial=True, is_valid=True)
    columns = tuple(found["columns"].split(", "))
    return Index(name, found["method"], columns, found["partial"] is not None, found["invalid"] is None)


def served(known: Sequence[Index], condition: Condition | None) -> Served:
    """Whether one of a table's indexes begins with a column that a condition compares; invalid ones serve nobody.

    A b-tree is used from its first column on (PostgreSQL documentation, "Multicolumn Indexes"); whether a partial index
    or one of an expression fits, its columns do not tell.
    """
    valid = [index for index in known if index.is_valid and index.columns]
    if not valid:
        return Served("none")
    if condition is None or not condition.columns:
        return Served("unknown")
    for index in valid:
        column = index.columns[0]
        is_wanted = column in condition.equal or (index.method != "hash" and column in condition.ranges)
        if is_wanted and not index.is_partial:
            return Served("some", index, column)
    doubtful = any(
        index.columns[0] == EXPRESSION or (index.is_partial and index.columns[0] in condition.columns)
        for index in valid
    )
    return Served("unknown" if doubtful else "none")
