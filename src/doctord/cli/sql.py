"""`doctord sql`: query a lake with DuckDB, one view per table of the vocabulary."""

import sys
from typing import Annotated

from doctord.cli import app, command
from doctord.cli.arguments import Json, Lake, argument, flag, name
from doctord.errors import UserError
from doctord.printable import note


@command(app)
def sql(
    *,
    query: Annotated[str, argument("One SELECT, DESCRIBE, SUMMARIZE, SHOW or EXPLAIN.", "QUERY")],
    lake: Lake = None,
    host: Annotated[str | None, name("The host whose rows count, of a store that hosts ship to.", "--host")] = None,
    json: Json = False,
    csv: Annotated[bool, flag("Print CSV with a header.", "--csv")] = False,
) -> None:
    """Query a lake in SQL.

    `doctord sql 'show tables'` lists its tables. Times are in UTC. Of a store that hosts ship to one host is asked, and
    all that is kept of the tables that the query names is fetched.

    Exit status: 0 answered, 2 it cannot be run, or a wrong option.
    """
    from doctord.app.source import recorded
    from doctord.app.sql import asked, refusing
    from doctord.report.rows import written

    source = recorded(lake, host)
    if host and source.host:
        raise UserError("--host is of a store that hosts ship to", "in a lake: ... WHERE host = 'NAME'")
    with refusing():
        result, problems = asked(query, source.lake)
        text = written(result, problems, "json" if json else "csv" if csv else "table")
    sys.stdout.write(text)  # typer would take escape sequences out of a file's CSV
    for problem in problems:
        note(problem)
