"""`doctord checkup`: look at this host and its databases now, and say what is wrong."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from doctord.cli import app
from doctord.cli.arguments import parse_duration, said

PAST = "1d"


@app.command()
def checkup(
    length: Annotated[str, typer.Option("--for", metavar="TIME", help="How long to look.")] = "20s",
    dsn: Annotated[
        list[str] | None,
        typer.Option(metavar="DSN", help="Look at this server (libpq connection string) instead of those found here."),
    ] = None,
    databases: Annotated[bool, typer.Option(help="Look at databases too, or at the host alone.")] = True,
    lake: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep what is measured here, and judge by what is kept.")
    ] = None,
    report: Annotated[Path | None, typer.Option(metavar="FILE", help="Write an HTML report as well.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Look at this host and its databases now, and say what is wrong."""
    with said():
        seconds = parse_duration(length)
        from doctord.cli._verdict import check_writable, conclude, past, progress_of
        from doctord.examine import examine
        from doctord.lake.place import default_lake
        from doctord.lake.query import Lake

        if report:
            check_writable(report)
        kept = lake or default_lake()
        earlier = past(Lake(kept), datetime.now(UTC), PAST) if kept.is_dir() else None
        with progress_of(seconds) as progress:
            examination = examine(seconds, dsn or (), databases=databases, earlier=earlier, progress=progress)
        if lake:
            from doctord.lake.writer import LakeWriter

            with LakeWriter(lake) as writer:
                for batch in examination.batches:
                    writer.append(batch)
                    writer.sync_if_many()
        conclude(examination.diagnosis, examination.chart, report=report, json=json, servers=len(dsn or ()))
