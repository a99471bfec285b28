"""Which columns of a table a statement's conditions compare: those that an index would have to begin with."""

import logging
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from doctord.regex import regex

if TYPE_CHECKING:
    from sqlglot import exp

# What pg_stat_statements leaves of `date '2026-11-23'`, and no grammar has: a type with a parameter behind it.
TYPED: Final = regex(r"\b(?:date|time|timestamp|timestamptz|interval)\s+(\$\d+)", re.IGNORECASE)
PLACE: Final = regex(r"(\$\d+)")
MOST_PARSED: Final = 20_000  # characters; a longer text is generated, and takes seconds


class Condition(NamedTuple):
    """Columns that are compared for equality, and for a range, with what is known before a row is looked at.

    `is_all`: the statement is a plain one on this table, and has no other condition than these. `others` are columns
    that stand beside another operator (LIKE, @@, @>, &&), which indexes of other kinds than B-trees may serve; `calls`
    functions of which the result is compared, with a column that they are given: an index of that expression serves,
    unless they are given something else besides (`further`), of which nobody knows whether the index has the same.
    """

    equal: frozenset[str]
    ranges: frozenset[str]
    is_all: bool = False
    others: frozenset[str] = frozenset()
    calls: frozenset[tuple[str, str]] = frozenset()
    further: frozenset[tuple[str, str]] = frozenset()

    @property
    def columns(self) -> frozenset[str]:
        """All of them."""
        return self.equal | self.ranges


@lru_cache(maxsize=256)
def condition(text: str, table: str) -> Condition | None:
    """The conditions of a statement of PostgreSQL on one table; null where its text cannot be parsed.

    What stands under OR and NOT, and a column within a cast, is left out: no index serves it.

    >>> found = condition("SELECT * FROM orders AS o WHERE o.customer = $1 AND o.created > $2", "orders")
    >>> sorted(found.equal), sorted(found.ranges)
    (['customer'], ['created'])
    >>> found = condition("SELECT 1 FROM notes WHERE lower(title) = $1 AND words @@ $2", "notes")
    >>> sorted(found.calls), sorted(found.others)
    ([('lower', 'title')], ['words'])
    """
    tree = parsed(text)
    if tree is None:
        return None
    from sqlglot import exp  # noqa: PLC0415 - it takes a tenth of a second, and few cases ask

    tables = list(tree.find_all(exp.Table))
    names = {one.alias_or_name.lower() for one in tables if one.name.lower() == table.lower()}
    if len(tables) == 1:
        names.add("")
    equal, ranges, others = set[str](), set[str](), set[str]()
    calls, further = set[tuple[str, str]](), set[tuple[str, str]]()
    compares = (exp.EQ, exp.In, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between)
    for node in tree.find_all(*compares, *_operators()):
        if node.find_ancestor(exp.Where, exp.Join) is None or node.find_ancestor(exp.Or, exp.Not, exp.Case):
            continue
        into = equal if isinstance(node, exp.EQ | exp.In) else ranges if isinstance(node, compares) else others
        into.update(_compared(node, names))
        for called, is_alone in _called(node, names):
            calls.add(called)
            if not is_alone:
                further.add(called)
    is_all = len(tables) == 1 and _is_plain(tree, len(equal | ranges))
    return Condition(
        frozenset(equal), frozenset(ranges), is_all, frozenset(others), frozenset(calls), frozenset(further)
    )


def _operators() -> tuple[type["exp.Expr"], ...]:
    """Operators that no B-tree serves, or only at the beginning of a text."""
    from sqlglot import exp  # noqa: PLC0415 - as above

    arrays = (exp.ArrayContainsAll, exp.ArrayContainedBy, exp.ArrayOverlaps)
    documents = (exp.JSONBPathExists, exp.JSONBContainsTopKey)
    return (exp.Like, exp.ILike, exp.RegexpLike, exp.RegexpILike, exp.MatchAgainst, *arrays, *documents)


def _is_plain(tree: "exp.Expr", compared: int) -> bool:
    """Whether a statement has as many conditions as columns were found compared, and gives back all that they leave."""
    from sqlglot import exp  # noqa: PLC0415 - as above

    where = tree.args.get("where")
    if where is None or any(tree.args.get(part) for part in ("limit", "offset", "group", "distinct", "having")):
        return False
    conditions = list(where.this.flatten()) if isinstance(where.this, exp.And) else [where.this]
    return len(conditions) == compared


@lru_cache(maxsize=256)
def tables_of(text: str) -> tuple[str, ...]:
    """The tables that a statement names, without schema, in small letters; none where it cannot be parsed."""
    tree = parsed(text)
    if tree is None:
        return ()
    from sqlglot import exp  # noqa: PLC0415 - as above

    defined = {one.alias_or_name.lower() for one in tree.find_all(exp.CTE)}
    return tuple(name for one in tree.find_all(exp.Table) if (name := one.name.lower()) and name not in defined)


@lru_cache(maxsize=256)
def columns_of(text: str) -> frozenset[str] | None:
    """All columns that a SELECT on one table needs, in small letters; null for any other statement, and for `*`.

    >>> sorted(columns_of("SELECT sum(s.total), count(*) FROM sales AS s WHERE s.day = $1") or ())
    ['day', 'total']
    >>> columns_of("SELECT * FROM sales WHERE day = $1") is None
    True
    """
    tree = parsed(text)
    if tree is None or len(tables_of(text)) != 1:
        return None
    from sqlglot import exp  # noqa: PLC0415 - as above

    if not isinstance(tree, exp.Select) or tree.args.get("locks"):
        return None
    if any(not isinstance(star.parent, exp.Count) for star in tree.find_all(exp.Star)):
        return None
    return frozenset(one.name.lower() for one in tree.find_all(exp.Column) if one.name)


@lru_cache(maxsize=256)
def is_unjoined(text: str) -> bool:
    """Whether a query block has several tables and less conditions between them than it takes to join them all.

    >>> is_unjoined("SELECT count(*) FROM a, b WHERE a.x > $1"), is_unjoined("SELECT * FROM a JOIN b ON a.x = b.x")
    (True, False)
    """
    tree = parsed(text)
    if tree is None:
        return False
    from sqlglot import exp  # noqa: PLC0415 - as above

    return any(_is_unjoined(block) for block in tree.find_all(exp.Select))


def _is_unjoined(block: "exp.Expr") -> bool:
    from sqlglot import exp  # noqa: PLC0415 - as above

    joins = block.args.get("joins") or []
    if not joins or any(not isinstance(join.this.this, exp.Identifier) for join in joins):
        return False  # what is not a plain table (a list of values, a function, a subquery) may well be one row
    if any(join.args.get("using") or join.method == "NATURAL" for join in joins):
        return False
    between = 0
    for node in block.find_all(exp.EQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between, exp.Is, exp.Like):
        columns = list(node.find_all(exp.Column))
        qualifiers = {one.table.lower() for one in columns}
        between += len(qualifiers) > 1 or (len(columns) > 1 and "" in qualifiers)
    return between < len(joins)


def _compared(node: "exp.Expr", names: set[str]) -> set[str]:
    """Columns of the table that a comparison has by themselves on one side, and not on both."""
    from sqlglot import exp  # noqa: PLC0415 - as above

    found = [side for side in sides(node) if isinstance(side, exp.Column) and side.table.lower() in names]
    return {side.name.lower() for side in found} if len(found) == 1 else set()


def _called(node: "exp.Expr", names: set[str]) -> Iterator[tuple[tuple[str, str], bool]]:
    """Functions of which a comparison has the result on one side, with the columns of the table that they are given.

    And whether these are all that they are given.
    """
    from sqlglot import exp  # noqa: PLC0415 - as above

    for side in sides(node):
        if isinstance(side, exp.Func) and not isinstance(side, exp.Cast):
            name = side.name if isinstance(side, exp.Anonymous) else side.sql_names()[0]
            is_alone = next(side.find_all(exp.Literal, exp.Parameter, exp.Var), None) is None
            for column in side.find_all(exp.Column):
                if column.table.lower() in names:
                    yield (name.lower(), column.name.lower()), is_alone


def sides(node: "exp.Expr") -> list["exp.Expr"]:
    """What stands on both sides of an operator; of IN on its left."""
    from sqlglot import exp  # noqa: PLC0415 - as above

    right = node.args.get("expressions") if isinstance(node, exp.MatchAgainst) else [node.args.get("expression")]
    return [side for side in (node.this, *(right or ())) if isinstance(side, exp.Expr)]


@lru_cache(maxsize=64)
def parsed(text: str) -> "exp.Expr | None":
    """A statement of PostgreSQL as a tree; null where it cannot be parsed."""
    if len(text) > MOST_PARSED:
        return None
    import sqlglot  # noqa: PLC0415 - it takes a tenth of a second, and few cases ask
    from sqlglot.errors import SqlglotError  # noqa: PLC0415 - as above

    logging.getLogger("sqlglot").setLevel(logging.ERROR)
    try:
        # What scrubbing left of a constant would be taken for an operator of JSON; $1,$ for the beginning of a text.
        plain = PLACE.sub(r"\1 ", TYPED.sub(r"\1", text.replace("?", "$1")))
        return sqlglot.parse_one(plain, read="postgres")
    except SqlglotError:
        return None
