"""Query a lake in SQL: one statement that reads, and nothing else."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import duckdb
from duckdb import DuckDBPyConnection, DuckDBPyRelation

from doctord.dataset.tables import TABLES
from doctord.errors import UserError
from doctord.lake.place import default_lake
from doctord.lake.query import Lake
from doctord.lake.store.shipped import Shipped
from doctord.regex import regex

_EXPLAIN: Final = regex(r"\s*EXPLAIN\b(\s+ANALYZE\b)?", re.IGNORECASE)
_RUNS_ANYTHING: Final = "JSON_EXECUTE_SERIALIZED_SQL"
_NAMES_TABLES: Final = {"query", "query_table"}  # functions that make a table's name of text
UNBOUNDED: Final[Mapping[str, str | int]] = {}
_NEVER_CHANGED: Final = "a lake is read here, never changed"
_HINTS: Final = {
    "BinderException": "the columns of a table: doctord sql 'describe cpu'",
    "ParserException": "the columns of a table: doctord sql 'describe cpu'",
    "ConversionException": "try_cast gives null where a value is of another form",
    "OutOfMemoryException": "read less: fewer columns, a shorter time, an aggregate",
    "IOException": "a file was deleted or is damaged: try again, and move it out of the lake if it stays so",
    "PermissionException": "only the tables of the lake can be read: doctord sql 'show tables'",
    "InterruptException": "run it again, over a shorter time",
}


@contextmanager
def refusing() -> Iterator[None]:
    """Whatever DuckDB has against a query, also in the middle of it, is a refusal."""
    try:
        yield
    except duckdb.CatalogException as error:
        raise UserError(str(error), f"tables are {', '.join(TABLES)}") from error
    except duckdb.Error as error:
        hint = _HINTS.get(type(error).__name__, "DuckDB's words; its documentation tells more: duckdb.org/docs")
        raise UserError(str(error), hint) from error
    except (OverflowError, ValueError) as error:
        raise UserError(f"a value cannot be shown: {error}", "cast it to text: SELECT column::text") from error


def asked(
    query: str, path: Path | Shipped | None = None, bounds: Mapping[str, str | int] = UNBOUNDED
) -> tuple[DuckDBPyRelation, list[str]]:
    """Ask a lake (the usual one where none is named): the answer, not yet fetched, and what of the lake cannot be read.

    Args:
        query: One statement that reads.
        path: The lake, or what a host shipped to a store.
        bounds: Settings of DuckDB for this query: `memory_limit`, `threads`.

    Raises:
        UserError: there is no lake, or the query is more than one that reads.
    """
    lake = Lake(path or default_lake())
    connection = lake.connect(_tables_named(query))
    for name, value in bounds.items():
        connection.execute(f"SET {name} = $1", [value])
    # Nothing but the lake can be read, and by _check_harmless nothing at all be written.
    connection.execute("SET allowed_directories = [$1]", [f"{lake.path / 'sealed'}/"])
    connection.execute("SET enable_external_access = false")
    connection.execute("SET python_enable_replacements = false")
    connection.execute("SET lock_configuration = true")
    _check_harmless(connection, query)
    return connection.sql(query), lake.problems


def _tables_named(query: str) -> set[str]:
    """The tables that a query may read: the files of others need not be held against their checksums."""
    words = set(re.findall(r"\w+", query.lower()))
    return set(TABLES) if words & _NAMES_TABLES else words & set(TABLES)


def _check_harmless(connection: DuckDBPyConnection, query: str) -> None:
    """Refuse what is more than one reading statement, or a reading one in which another hides.

    EXPLAIN ANALYZE runs whatever follows it, and a WITH may hold a COPY or INSERT since DuckDB 2.0, but only at the top
    of a statement: so what is to be explained must be one SELECT, and bind as a subquery. One function runs statements
    of which the plan does not tell.
    """
    reading = _EXPLAIN.sub("", query, count=1)
    statements = duckdb.extract_statements(reading)
    if [str(each.type) for each in statements] != ["StatementType.SELECT"]:
        raise UserError("only one SELECT, DESCRIBE, SUMMARIZE, SHOW or EXPLAIN is run", _NEVER_CHANGED)
    subquery = statements[0].query.rstrip().removesuffix(";")
    try:
        plan = connection.execute(f"EXPLAIN FROM (\n{subquery}\n)").fetchall()
    except duckdb.BinderException as error:
        if "must be at the top level" in str(error):
            raise UserError("a WITH that writes is not run", _NEVER_CHANGED) from error
        raise
    if _RUNS_ANYTHING in str(plan):
        raise UserError(f"{_RUNS_ANYTHING.lower()} is not run", _NEVER_CHANGED)
