"""Scans in spite of an index for which the statement's own text, with the catalogue, tells the reason."""

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

import polars as pl

from doctord.analyse.sql.hindrances import Hindrance, Kind, casts_column, hindrances, is_same_family
from doctord.analyse.sql.indexes import EXPRESSION, Index
from doctord.diagnose.case import Case
from doctord.diagnose.common.scans import Scan
from doctord.diagnose.finding import Evidence
from doctord.diagnose.phrase import Phrase, Words, phrase

TYPES: Final = "pg_attribute"
VOLATILE: Final = "pg_proc.provolatile"
# Of the server's own functions those that an application compares a column with.
VOLATILE_OF_ITS_OWN: Final = frozenset(
    {"random", "rand", "clock_timestamp", "timeofday", "nextval", "currval", "gen_random_uuid"}
)
# Behind a column's type: an index of it serves LIKE (collation C, or text_pattern_ops).
PATTERNS: Final = ", patterns"


class Hindered(NamedTuple):
    """Why an index of a column is not used: in a few words, as evidence, and what to do.

    `is_certain`: text and catalogue tell it; else it is a question.
    """

    found: Index
    words: Phrase
    evidence: Evidence
    step: Words
    is_certain: bool


def types(case: Case, scan: Scan) -> dict[str, str]:
    """The types of the columns that the table's indexes begin with, as far as they are told."""
    begin = f"{scan.entity} "
    rows = case.dataset.frame("setting").filter(
        (pl.col("component") == TYPES) & (pl.col("db") == scan.figure.db) & pl.col("name").str.starts_with(begin)
    )
    return {name.removeprefix(begin): value for name, value in rows.select("name", "value").drop_nulls().iter_rows()}


def hindered(case: Case, scan: Scan) -> list[Hindered]:
    """The reasons, those that are certain first; none where the table's indexes are not known."""
    table = scan.table.rpartition(".")[2]
    found = [
        one
        for hindrance in hindrances(scan.statement.text or "", table)
        for index in [_index_of(scan, hindrance.column)]
        if index is not None
        for one in _reason(scan, hindrance, index, types(case, scan), _volatile_functions(case, scan))
    ]
    return sorted(found, key=lambda one: not one.is_certain)


def _index_of(scan: Scan, column: str) -> Index | None:
    """A valid B-tree of the table that begins with the column."""
    known = (one for one in scan.known or () if one.is_valid and not one.is_partial and one.method == "btree")
    return next((one for one in known if one.columns[:1] == (column,)), None)


class _At(NamedTuple):
    """A hindrance of a scan: the index of its column, and the column's type, null where it is not told.

    `serves_patterns` is whether an index of the column serves LIKE, `volatile` are functions of the database that are.
    """

    scan: Scan
    it: Hindrance
    serving: Index
    of: str | None
    serves_patterns: bool
    volatile: frozenset[str]

    def told(self, words: Phrase, why: str, step: Words, *, is_certain: bool = True) -> Hindered:
        """The reason in words; the column's type stands behind them."""
        figure = phrase("{}{}", words, f"; it is of type {self.of}" if self.of else "")
        where = f"statement_id = '{self.scan.statement.statement_id}'"
        return Hindered(self.serving, words, Evidence("statement", where, figure, "", why), step, is_certain)


def _cast(at: _At) -> Iterator[Hindered]:
    column, by = at.it.column, at.it.by
    if at.of is None or not is_same_family(at.of, by):
        yield at.told(
            phrase("{}::{} casts the column", column, by),
            "the index is in the order of the column's own type",
            phrase("Compare {} itself, and cast the value: {} = $1::{}; or an index of the expression: CREATE INDEX "
                   "CONCURRENTLY ON {} (({}::{})).", column, column, at.of or "its type", at.scan.table, column, by),
            is_certain=at.of is not None,
        )  # fmt: skip


def _value(at: _At) -> Iterator[Hindered]:
    casts = casts_column(at.of, at.it.by) if at.of else None
    if casts or at.of is None:
        yield at.told(
            phrase("{} is compared with a value of type {}", at.it.column, at.it.by),
            "a value of another family of types has the column cast, and the index is in the order of its own type",
            phrase("Give the value the column's type: $1::{}, in the statement or where the driver binds it.",
                   at.of or "the column's"),
            is_certain=casts is True,
        )  # fmt: skip


def _function(at: _At) -> Iterator[Hindered]:
    if not _has_expression(at.scan, at.it):
        yield at.told(
            phrase("{} stands in {}()", at.it.column, at.it.by),
            "an index of the column is no index of the function's result",
            phrase("CREATE INDEX CONCURRENTLY ON {} (...) of the whole expression with {}(), if that is immutable; or "
                   "a condition on {} itself.", at.scan.table, at.it.by, at.it.column),
        )  # fmt: skip


def _like(at: _At) -> Iterator[Hindered]:
    column = at.it.column
    if at.of is not None and not at.serves_patterns:
        yield at.told(
            phrase("{} LIKE, by an index in the order of a language", column),
            "only in collation C, or with text_pattern_ops, do texts that begin alike stand together",
            phrase("CREATE INDEX CONCURRENTLY ON {} ({} text_pattern_ops) where the pattern's beginning is fixed; a "
                   "trigram index (pg_trgm) where it begins with a wildcard.", at.scan.table, column),
        )  # fmt: skip
    else:
        yield at.told(
            phrase("{} LIKE", column),
            "a pattern that begins with a wildcard has no place in the index",
            phrase("If the pattern begins with a wildcard: a trigram index (pg_trgm)."),
            is_certain=False,
        )


def _ilike(at: _At) -> Iterator[Hindered]:
    column = at.it.column
    yield at.told(
        phrase("{} ILIKE", column),
        "no B-tree serves ILIKE",
        phrase("A trigram index (pg_trgm: USING gin ({} gin_trgm_ops)), or lower({}) with an index of it.", column,
               column),
    )  # fmt: skip


def _volatile(at: _At) -> Iterator[Hindered]:
    column, called = at.it.column, at.it.by
    if called in VOLATILE_OF_ITS_OWN or called in at.volatile:
        yield at.told(
            phrase("{} is compared with what {}() gives, which is volatile", column, called),
            "a volatile function may give another value for each row, and is called for each",
            phrase("Declare {}() STABLE where it gives the same for a whole statement (ALTER FUNCTION ... STABLE), or "
                   "have it called once: {} = (SELECT {}(...)).", called, column, called),
        )  # fmt: skip


def _either_table(at: _At) -> Iterator[Hindered]:
    yield at.told(
        phrase("{} stands in an OR with {} of another table", at.it.column, at.it.by),
        "a row may be wanted for the other table's sake: none can be left out before they are joined",
        phrase("Two statements, one for each side of the OR, joined by UNION: each then has an index to go by."),
    )


def _either(at: _At) -> Iterator[Hindered]:
    without = ", ".join(one for one in at.it.by.split(", ") if _index_of(at.scan, one) is None)
    if without:
        yield at.told(
            phrase("{} stands in an OR with {}, which no index begins with", at.it.column, without),
            "rows that match by the other column alone are found by reading all",
            phrase("An index of each column of the OR ({}), or two statements joined by UNION.", without),
        )


_BY_KIND: Final[dict[Kind, Callable[[_At], Iterator[Hindered]]]] = {
    "cast of the column": _cast,
    "type of the value": _value,
    "function": _function,
    "pattern": _like,
    "pattern in any case": _ilike,
    "function of the value": _volatile,
    "or": _either,
    "or of tables": _either_table,
}


def _reason(
    scan: Scan, it: Hindrance, serving: Index, told: dict[str, str], volatile: frozenset[str]
) -> Iterator[Hindered]:
    known = told.get(it.column, "")
    at = _At(scan, it, serving, known.removesuffix(PATTERNS) or None, known.endswith(PATTERNS), volatile)
    yield from _BY_KIND[it.kind](at)


def _volatile_functions(case: Case, scan: Scan) -> frozenset[str]:
    """Names, without schema, of the database's functions that are volatile and not put into a statement."""
    rows = case.dataset.frame("setting").filter(
        (pl.col("component") == VOLATILE) & (pl.col("db") == scan.figure.db)
        & pl.col("name").str.starts_with(f"{scan.read.database}.")
    ).sort("ts", maintain_order=True)  # fmt: skip
    last = dict(rows.select("name", "value").iter_rows())
    return frozenset(name.rpartition(".")[2].lower() for name, value in last.items() if value)


def _has_expression(scan: Scan, it: Hindrance) -> bool:
    """Whether an index of an expression may be of that function and column."""
    return any(
        column.startswith(EXPRESSION) and it.by in column and it.column in column
        for one in scan.known or ()
        for column in one.columns[:1]
    )
