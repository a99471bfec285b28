"""The answer to a query: a table to be read, CSV, or records for JSON."""

import contextlib
import csv
import io
import math
import shutil
from collections.abc import Sequence
from datetime import date, datetime
from json import dumps
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from doctord.printable import for_output, printable

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

Form: TypeAlias = Literal["table", "json", "csv"]
_SHOWN_ROWS: Final = 1000


def written(result: "DuckDBPyRelation", problems: Sequence[str], form: Form) -> str:
    """The answer in one of its forms; in JSON with what of the lake cannot be read."""
    match form:
        case "json":
            return dumps({"rows": records(result), "problems": problems}, default=str, allow_nan=False) + "\n"
        case "csv":
            return for_output(comma_separated(result))
        case _:
            return printable(table(result))


def table(result: "DuckDBPyRelation") -> str:
    """The answer as DuckDB draws it: as wide as the terminal, at least 80 columns, and at most 1000 rows."""
    drawn = io.StringIO()
    with contextlib.redirect_stdout(drawn):
        result.show(max_width=max(80, shutil.get_terminal_size().columns), max_rows=_SHOWN_ROWS)
    return drawn.getvalue()


def comma_separated(result: "DuckDBPyRelation") -> str:
    """The answer as CSV with a header and a line feed after each row; null is empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(result.columns)
    writer.writerows(map(_plain, row) for row in result.fetchall())
    return text.getvalue()


def records(result: "DuckDBPyRelation", most: int | None = None) -> list[dict[str, Any]]:
    """A record for each row, or for so many at most, by names of columns, of values that JSON knows."""
    rows = (result if most is None else result.limit(most)).fetchall()
    return [dict(zip(result.columns, map(_plain, row), strict=True)) for row in rows]


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
