"""`doctord sql`: query a lake with DuckDB, one view per table of the vocabulary."""

import csv
import json
import shutil
import sys
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from doctord.cli import app
from doctord.cli.arguments import Refusal, said

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

_SHOWN_ROWS = 1000


@app.command()
def sql(
    query: Annotated[str, typer.Argument(help="One SELECT, DESCRIBE, SUMMARIZE, SHOW or EXPLAIN.")],
    *,
    lake: Annotated[Path | None, typer.Option(help="The lake (default: $DOCTORD_LAKE).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV with a header.")] = False,
) -> None:
    """Query a lake in SQL.

    `doctord sql 'show tables'` lists its tables. Times are in UTC.
    """
    with said():
        result, problems = _run(query, lake)
        if as_json:
            typer.echo(json.dumps({"rows": _records(result), "problems": problems}, default=str))
        elif as_csv:
            writer = csv.writer(sys.stdout, lineterminator="\n")
            writer.writerow(result.columns)
            writer.writerows(map(_plain, row) for row in result.fetchall())
        else:
            result.show(max_width=max(80, shutil.get_terminal_size().columns), max_rows=_SHOWN_ROWS)
        for problem in problems:
            typer.echo(f"doctord: {problem}", err=True)


def _run(query: str, path: Path | None) -> "tuple[DuckDBPyRelation, list[str]]":
    import duckdb

    from doctord.chart.tables import TABLES
    from doctord.lake.place import default_lake
    from doctord.lake.query import Lake

    try:
        _check_harmless(query)
        lake = Lake(path or default_lake())
        connection = lake.connect()
        # Nothing but the lake can be read, and by _check_harmless nothing at all be written.
        connection.execute("SET allowed_directories = [$1]", [f"{lake.path / 'sealed'}/"])
        connection.execute("SET enable_external_access = false")
        return connection.sql(query), lake.problems
    except duckdb.CatalogException as error:
        raise Refusal(str(error), f"tables are {', '.join(TABLES)}") from error
    except duckdb.Error as error:
        raise Refusal(str(error), "the columns of a table: doctord sql 'describe cpu'") from error


def _check_harmless(query: str) -> None:
    import duckdb

    statements = duckdb.extract_statements(query)
    if [str(each.type) for each in statements] not in (["StatementType.SELECT"], ["StatementType.EXPLAIN"]):
        raise Refusal(
            "only one SELECT, DESCRIBE, SUMMARIZE, SHOW or EXPLAIN is run", "a lake is read here, never changed"
        )


def _records(result: "DuckDBPyRelation") -> list[dict[str, Any]]:
    return [dict(zip(result.columns, map(_plain, row), strict=True)) for row in result.fetchall()]


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat() + ("" if value.tzinfo else "Z")
    return value.isoformat() if isinstance(value, date) else value
