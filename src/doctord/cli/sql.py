"""`doctord sql`: query a lake with DuckDB, one view per table of the vocabulary."""

import contextlib
import csv
import io
import json
import math
import shutil
import sys
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from doctord.cli import app
from doctord.cli.arguments import note, said
from doctord.printable import for_output, printable

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

_SHOWN_ROWS = 1000


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
        from doctord.app.sql import asked, refusing

        with refusing():
            result, problems = asked(query, lake)
            if as_json:
                text = json.dumps({"rows": _records(result), "problems": problems}, default=str, allow_nan=False)
            elif as_csv:
                text = for_output(_csv(result))
            else:
                text = printable(_table(result))
        sys.stdout.write(text + "\n" * as_json)  # typer would take escape sequences out of a file's CSV
        for problem in problems:
            note(problem)


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
