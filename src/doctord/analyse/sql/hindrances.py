"""What in a statement's own text keeps an index of a column from being used: casts, functions, patterns, OR.

A value that a volatile function gives is another one for each row, and so it is compared with each row.

A B-tree holds the column's values in the order of the column's type: a condition on something made of the column has no
place there. Source: PostgreSQL documentation, "Index Types", "Indexes on Expressions", "Operator Classes and Operator
Families", "Operator Type Resolution", "Function Volatility Categories".
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from doctord.analyse.sql.conditions import parsed, sides

if TYPE_CHECKING:
    from sqlglot import exp

Kind: TypeAlias = Literal[
    "cast of the column", "type of the value", "function", "function of the value", "pattern", "pattern in any case",
    "or", "or of tables",
]  # fmt: skip

# Types by the family of operators in which their B-trees compare them with each other.
_FAMILIES: Final = {
    "integer": ("smallint", "integer", "bigint", "int", "int2", "int4", "int8"),
    "numeric": ("numeric", "decimal"),
    "float": ("real", "double precision", "float", "float4", "float8"),
    "text": ("text", "character varying", "varchar", "name"),
    "character": ("character", "char", "bpchar"),
    "time": ("date", "timestamp without time zone", "timestamp with time zone", "timestamp", "timestamptz"),
}
_FAMILY: Final = {name: family for family, names in _FAMILIES.items() for name in names}
# Of two families that are compared, the one on the left is cast to that on the right, be it the column's.
_CAST_TO: Final = {("integer", "numeric"), ("integer", "float"), ("numeric", "float"), ("character", "text")}


class Hindrance(NamedTuple):
    """A column that a statement compares in a way that an index of it does not serve, or may not.

    `by` is the type that it, or the value, is cast to; the function; the operator; the other columns of an OR, of the
    same table or (with its table or alias before it) of another one.
    """

    kind: Kind
    column: str
    by: str


def casts_column(column: str, value: str) -> bool | None:
    """Whether a column of one type is cast when it is compared with a value of another; null where it is not known.

    >>> casts_column("bigint", "numeric"), casts_column("numeric", "bigint"), casts_column("uuid", "text")
    (True, False, None)
    """
    of, to = _FAMILY.get(column.lower()), _FAMILY.get(value.lower())
    if of is None or to is None:
        return False if column.lower() == value.lower() else None
    return (of, to) in _CAST_TO


def is_same_family(column: str, other: str) -> bool:
    """Whether a cast from one type to the other leaves the order as it is, so that an index serves all the same.

    >>> is_same_family("character varying", "text"), is_same_family("bigint", "text")
    (True, False)
    """
    return column == other or {_FAMILY.get(column.lower()), _FAMILY.get(other.lower())} == {"text"}


@lru_cache(maxsize=256)
def hindrances(text: str, table: str) -> tuple[Hindrance, ...]:
    """Those of a statement's conditions on a table; none where its text cannot be parsed.

    >>> [(one.kind, one.column, one.by) for one in hindrances("SELECT 1 FROM t WHERE id::text = $1", "t")]
    [('cast of the column', 'id', 'text')]
    >>> [(one.kind, one.column, one.by) for one in hindrances("SELECT 1 FROM t WHERE id = $1::numeric", "t")]
    [('type of the value', 'id', 'numeric')]
    >>> [(one.kind, one.column, one.by) for one in hindrances("SELECT 1 FROM t WHERE a = $1 OR b = $2", "t")]
    [('or', 'a', 'b'), ('or', 'b', 'a')]
    >>> [(one.kind, one.column, one.by) for one in hindrances("SELECT 1 FROM t WHERE id = pick($1)", "t")]
    [('function of the value', 'id', 'pick')]
    >>> found = hindrances("SELECT 1 FROM t JOIN u ON t.k = u.k WHERE t.a = $1 OR u.b = $2", "t")
    >>> [(one.kind, one.by) for one in found]
    [('or of tables', 'u.b')]
    """
    tree = parsed(text)
    if tree is None:
        return ()
    from sqlglot import exp  # noqa: PLC0415 - it takes a tenth of a second, and few cases ask

    tables = list(tree.find_all(exp.Table))
    names = {one.alias_or_name.lower() for one in tables if one.name.lower() == table.lower()}
    if len(tables) == 1:
        names.add("")
    compares = (exp.EQ, exp.In, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between, exp.Like, exp.ILike)
    found = list[Hindrance]()
    for node in tree.find_all(*compares):
        if node.find_ancestor(exp.Where, exp.Join) is not None and node.find_ancestor(exp.Not, exp.Case) is None:
            found += _of(node, names)
    for alternatives in tree.find_all(exp.Or):
        if alternatives.find_ancestor(exp.Or) is None:
            found += _between(alternatives, names)
    return tuple(dict.fromkeys(found))


def _of(node: "exp.Expr", names: set[str]) -> Iterator[Hindrance]:
    from sqlglot import exp  # noqa: PLC0415 - as above

    both = sides(node)
    for side in both:
        others = [one for one in both if one is not side]
        if isinstance(side, exp.Cast) and (column := _column(side.this, names)):
            yield Hindrance("cast of the column", column, _type(side))
        elif isinstance(side, exp.Func) and not isinstance(side, exp.Cast):
            called = side.name if isinstance(side, exp.Anonymous) else side.sql_names()[0]
            inside = [column for one in side.find_all(exp.Column) if (column := _column(one, names))]
            yield from (Hindrance("function", column, called.lower()) for column in inside)
        elif column := _column(side, names):
            if isinstance(node, exp.ILike | exp.Like):
                pattern: Kind = "pattern in any case" if isinstance(node, exp.ILike) else "pattern"
                yield Hindrance(pattern, column, "ILIKE" if isinstance(node, exp.ILike) else "LIKE")
            for other in others:
                if isinstance(other, exp.Cast) and next(other.find_all(exp.Column), None) is None:
                    yield Hindrance("type of the value", column, _type(other))
                yield from (Hindrance("function of the value", column, called) for called in _called(other))


def _called(value: "exp.Expr") -> list[str]:
    """Functions that give the value for each row; a subquery of its own is asked once."""
    from sqlglot import exp  # noqa: PLC0415 - as above

    if next(value.find_all(exp.Column, exp.Select), None) is not None:
        return []
    calls = [one for one in value.find_all(exp.Func) if not isinstance(one, exp.Cast | exp.And | exp.Or)]
    return [str(one.name if isinstance(one, exp.Anonymous) else one.sql_names()[-1]).lower() for one in calls]


def _type(cast: "exp.Cast") -> str:
    """The type that something is cast to, as PostgreSQL calls it."""
    name = cast.to.sql("postgres").lower()
    return "numeric" if name.startswith("decimal") else str(name)


def _between(alternatives: "exp.Expr", names: set[str]) -> Iterator[Hindrance]:
    """Several columns in one OR: each of them takes an index of its own."""
    from sqlglot import exp  # noqa: PLC0415 - as above

    told = (_column(one, names) for one in alternatives.find_all(exp.Column))
    columns = list(dict.fromkeys(column for column in told if column))
    for column in columns:
        if others := [one for one in columns if one != column]:
            yield Hindrance("or", column, ", ".join(others))
    foreign = _of_others(alternatives, names)
    yield from (Hindrance("or of tables", column, ", ".join(foreign)) for column in columns if foreign)


def _of_others(alternatives: "exp.Expr", names: set[str]) -> list[str]:
    """Columns of other tables that decide an alternative by themselves: no row of this one can be left out by it."""
    from sqlglot import exp  # noqa: PLC0415 - as above

    found = list[str]()
    for arm in alternatives.flatten():
        columns = list(arm.find_all(exp.Column))
        if columns and not any(_column(one, names) for one in columns) and all(one.table for one in columns):
            found += [f"{one.table}.{one.name}".lower() for one in columns]
    return list(dict.fromkeys(found))


def _column(side: object, names: set[str]) -> str | None:
    from sqlglot import exp  # noqa: PLC0415 - as above

    is_own = isinstance(side, exp.Column) and side.table.lower() in names
    return str(side.name).lower() if is_own else None  # type: ignore[attr-defined]
