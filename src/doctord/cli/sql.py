"""`doctord sql`: query a lake with DuckDB, one view per table of the vocabulary."""

import sys
from typing import Annotated

from doctord.cli import app, command
from doctord.cli.arguments import Json, Lake, argument, flag
from doctord.printable import note


@command(app)
def sql(
    *,
    query: Annotated[str, argument("One SELECT, DESCRIBE, SUMMARIZE, SHOW or EXPLAIN.", "QUERY")],
    lake: Lake = None,
    json: Json = False,
    csv: Annotated[bool, flag("Print CSV with a header.", "--csv")] = False,
) -> None:
    """Query a lake in SQL.

    `doctord sql 'show tables'` lists its tables. Times are in UTC.

    Exit status: 0 answered, 2 it cannot be run, or a wrong option.
    """
    from doctord.app.sql import asked, refusing
    from doctord.report.rows import written

    with refusing():
        result, problems = asked(query, lake)
        text = written(result, problems, "json" if json else "csv" if csv else "table")
    sys.stdout.write(text)  # typer would take escape sequences out of a file's CSV
    for problem in problems:
        note(problem)
