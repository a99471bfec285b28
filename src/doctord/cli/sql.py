"""`doctord sql`: query a lake with DuckDB, one view per table of the vocabulary."""

import contextlib
import csv
import io
import json
import math
import re
import shutil
import sys
from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from doctord.cli import app
from doctord.cli.arguments import Refusal, note, said
from doctord.printable import for_output, printable

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

_SHOWN_ROWS = 1000
_EXPLAIN: Final = re.compile(r"\s*EXPLAIN\b(\s+ANALYZE\b)?", re.IGNORECASE)
_RUNS_ANYTHING: Final = "JSON_EXECUTE_SERIALIZED_SQL"
_NAMES_TABLES: Final = {"query", "query_table"}  # functions that make a table's name of text
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


@app.command()
def sql(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="One SELECT, DESCRIBE, SUMMARIZE, SHOW or EXPLAIN.")],
    *,
    lake: Annotated[Path | None, typer.Option(metavar="LAKE", help="The lake (default: the usual place).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV with a header.")] = False,
) -> None:
    """Query a lake in SQL.

    `doctord sql 'show tables'` lists its tables. Times are in UTC.

    Exit status: 0 answered, 2 it cannot be run, or a wrong option.
    """
    with said():
        with _refusing():
            result, problems = _run(query, lake)
            if as_json:
                text = json.dumps({"rows": _records(result), "problems": problems}, default=str, allow_nan=False)
            elif as_csv:
                text = for_output(_csv(result))
            else:
                text = printable(_table(result))
        sys.stdout.write(text + "\n" * as_json)  # typer would take escape sequences out of a file's CSV
        for problem in problems:
            note(problem)


@contextlib.contextmanager
def _refusing() -> Iterator[None]:
    """Whatever DuckDB has against a query, also in the middle of it, is a refusal."""
    import duckdb

    from doctord.chart.tables import TABLES

    try:
        yield
    except duckdb.CatalogException as error:
        raise Refusal(str(error), f"tables are {', '.join(TABLES)}") from error
    except duckdb.Error as error:
        hint = _HINTS.get(type(error).__name__, "DuckDB's words; its documentation tells more: duckdb.org/docs")
        raise Refusal(str(error), hint) from error
    except (OverflowError, ValueError) as error:
        raise Refusal(f"a value cannot be shown: {error}", "cast it to text: SELECT column::text") from error


def _run(query: str, path: Path | None) -> "tuple[DuckDBPyRelation, list[str]]":
    from doctord.lake.place import default_lake
    from doctord.lake.query import Lake

    lake = Lake(path or default_lake())
    connection = lake.connect(_tables_named(query))
    # Nothing but the lake can be read, and by _check_harmless nothing at all be written.
    connection.execute("SET allowed_directories = [$1]", [f"{lake.path / 'sealed'}/"])
    connection.execute("SET enable_external_access = false")
    connection.execute("SET python_enable_replacements = false")
    connection.execute("SET lock_configuration = true")
    _check_harmless(connection, query)
    return connection.sql(query), lake.problems


def _tables_named(query: str) -> set[str]:
    """The tables that a query may read: the files of others need not be held against their checksums."""
    from doctord.chart.tables import TABLES

    words = set(re.findall(r"\w+", query.lower()))
    return set(TABLES) if words & _NAMES_TABLES else words & set(TABLES)


def _check_harmless(connection: "DuckDBPyConnection", query: str) -> None:
    """Refuse what is more than one reading statement, or a reading one in which another hides.

    EXPLAIN ANALYZE runs whatever follows it, and a WITH may hold a COPY or INSERT since DuckDB 2.0, but only at the top
    of a statement: so what is to be explained must be one SELECT, and bind as a subquery. One function runs statements
    of which the plan does not tell.
    """
    import duckdb

    reading = _EXPLAIN.sub("", query, count=1)
    statements = duckdb.extract_statements(reading)
    if [str(each.type) for each in statements] != ["StatementType.SELECT"]:
        raise Refusal("only one SELECT, DESCRIBE, SUMMARIZE, SHOW or EXPLAIN is run", _NEVER_CHANGED)
    subquery = statements[0].query.rstrip().removesuffix(";")
    try:
        plan = connection.execute(f"EXPLAIN FROM (\n{subquery}\n)").fetchall()
    except duckdb.BinderException as error:
        if "must be at the top level" in str(error):
            raise Refusal("a WITH that writes is not run", _NEVER_CHANGED) from error
        raise
    if _RUNS_ANYTHING in str(plan):
        raise Refusal(f"{_RUNS_ANYTHING.lower()} is not run", _NEVER_CHANGED)


def _table(result: "DuckDBPyRelation") -> str:
    """The table that DuckDB draws."""
    drawn = io.StringIO()
    with contextlib.redirect_stdout(drawn):
        result.show(max_width=max(80, shutil.get_terminal_size().columns), max_rows=_SHOWN_ROWS)
    return drawn.getvalue()


def _csv(result: "DuckDBPyRelation") -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(result.columns)
    writer.writerows(map(_plain, row) for row in result.fetchall())
    return text.getvalue()


def _records(result: "DuckDBPyRelation") -> list[dict[str, Any]]:
    return [dict(zip(result.columns, map(_plain, row), strict=True)) for row in result.fetchall()]


def _plain(value: object) -> object:
    """A value as JSON and CSV know it; JSON has no word for infinity."""
    match value:
        case datetime():
            return value.isoformat() + ("" if value.tzinfo else "Z")
        case date():
            return value.isoformat()
        case float() if not math.isfinite(value):
            return str(value)
        case list() | tuple():
            return [_plain(each) for each in value]
        case dict():
            return {str(key): _plain(each) for key, each in value.items()}
    return value
