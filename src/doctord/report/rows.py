"""The answer to a query: a table to be read, CSV, or records for JSON."""

import contextlib
import csv
import io
import math
import shutil
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

_SHOWN_ROWS: Final = 1000


def table(result: "DuckDBPyRelation") -> str:
    """The table that DuckDB draws."""
    drawn = io.StringIO()
    with contextlib.redirect_stdout(drawn):
        result.show(max_width=max(80, shutil.get_terminal_size().columns), max_rows=_SHOWN_ROWS)
    return drawn.getvalue()


def comma_separated(result: "DuckDBPyRelation") -> str:
    """CSV with a header."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(result.columns)
    writer.writerows(map(_plain, row) for row in result.fetchall())
    return text.getvalue()


def records(result: "DuckDBPyRelation") -> list[dict[str, Any]]:
    """The rows as JSON knows them."""
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
