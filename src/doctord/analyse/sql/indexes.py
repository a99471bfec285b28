"""Whether a table has an index that the condition of a statement could use."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import polars as pl

from doctord.analyse.sql.conditions import Condition
from doctord.dataset.dataset import Dataset
from doctord.regex import regex

COMPONENT: Final = "pg_index"
EXPRESSION: Final = "(expression"
_EXPRESSION: Final = regex(r"^\(expression (?P<functions>[^:]*): (?P<columns>[^:]*)\)$")
_DESCRIBED: Final = regex(
    r"^(?P<method>\w+) \((?P<columns>.*)\)(?: including (?P<included>.*?))?(?: pending (?P<pending>\d+) kB)?"
    r"(?P<partial> partial)?(?P<invalid> invalid)?$"
)
# Kinds of index that serve operators other than comparisons.
OTHER_METHODS: Final = ("gin", "gist", "spgist")

Service: TypeAlias = Literal["none", "some", "unknown"]
"""Whether an index could serve: none, some, or it cannot be told."""


@dataclass(frozen=True, slots=True)
class Index:
    """One index: its key columns in order, `(expression lower: title)` for what is no column.

    `included` are columns that it holds besides (INCLUDE). `pending_kb` is how long the list of entries may grow that a
    GIN index has not taken in yet; null where it has none.
    """

    name: str
    method: str
    columns: tuple[str, ...]
    is_partial: bool
    is_valid: bool
    pending_kb: int | None = None
    included: tuple[str, ...] = ()


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
    pending_kb = int(found["pending"]) if found["pending"] else None
    included = tuple(found["included"].split(", ")) if found["included"] else ()
    return Index(
        name, found["method"], columns, found["partial"] is not None, found["invalid"] is None, pending_kb, included
    )


def served(known: Sequence[Index], condition: Condition | None) -> Served:
    """Whether one of a table's indexes could serve what a condition compares; invalid ones serve nobody.

    A b-tree is used from its first column on (PostgreSQL documentation, "Multicolumn Indexes"), an index of an
    expression where the condition has the same one ("Indexes on Expressions"), GIN, GiST and SP-GiST for operators of
    their own ("Index Types"): whether it is one of these, and whether a partial index fits, is not told.
    """
    valid = [index for index in known if index.is_valid and index.columns]
    if not valid:
        return Served("none")
    if condition is None or not (condition.columns or condition.others or condition.calls):
        return Served("unknown")
    for index in valid:
        column = None if index.is_partial else _wanted(index, condition)
        if column is not None:
            return Served("some", index, column)
    return Served("unknown" if any(_is_doubtful(index, condition) for index in valid) else "none")


def _wanted(index: Index, condition: Condition) -> str | None:
    """The column, or the expression, of a condition by which an index could serve it; null where it cannot be told."""
    column = index.columns[0]
    if column in condition.equal or (index.method != "hash" and column in condition.ranges):
        return column
    if index.method in OTHER_METHODS:
        return next((one for one in index.columns if one in condition.others), None)
    functions, columns = _expression(column)
    known = sorted(condition.calls - condition.further)
    same = [f"{name}({of})" for name, of in known if functions == {name} and columns == {of}]
    return same[0] if same else None


def _is_doubtful(index: Index, condition: Condition) -> bool:
    """Whether an index may serve all the same: one of an unlike expression of the same column, or a partial one."""
    column = index.columns[0]
    if index.is_partial and (column in condition.columns or column in condition.others):
        return True
    if not column.startswith(EXPRESSION):
        return column in condition.others  # a text's beginning, by a B-tree
    _, columns = _expression(column)
    return not columns or any(of in columns for _, of in condition.calls)


def _expression(column: str) -> tuple[set[str], set[str]]:
    """Functions and columns of an indexed expression; none of a plain column, or where they are not told."""
    found = _EXPRESSION.match(column)
    return (set(found["functions"].split()), set(found["columns"].split())) if found else (set(), set())
