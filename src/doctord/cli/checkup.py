"""`doctord checkup`: look at this host and its databases now, and say what is wrong."""

from pathlib import Path
from typing import Annotated

import typer

from doctord.cli import app
from doctord.cli.arguments import parse_duration, said


@app.command()
def checkup(
    length: Annotated[str, typer.Option("--for", metavar="LENGTH", help="How long to look.")] = "20s",
    dsn: Annotated[
        list[str] | None,
        typer.Option(metavar="DSN", help="Look at this server (libpq connection string) instead of those found here."),
    ] = None,
    databases: Annotated[bool, typer.Option(help="Look at databases too, or at the host alone.")] = True,
    lake: Annotated[
        Path | None, typer.Option(metavar="LAKE", help="Keep what is measured here, and judge by what is kept.")
    ] = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write an HTML report as well.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Look at this host and its databases now, and say what is wrong.

    Exit status: 0 no finding, 1 findings, 2 nothing could be judged, a server that was named did not answer, or a wrong
    option.
    """
    with said():
        seconds = parse_duration(length)
        from doctord.app.check_up import check_up
        from doctord.cli._terminal import Terminal
        from doctord.cli._verdict import check_writable, conclude

        if html:
            check_writable(html)
        examination = check_up(seconds, dsn or (), databases=databases, lake=lake, watcher=Terminal())
        conclude(examination, html=html, json=json, servers=len(dsn or ()))
