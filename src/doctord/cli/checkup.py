"""`doctord checkup`: look at this host and its databases now, and say what is wrong."""

from pathlib import Path
from typing import Annotated

import typer

from doctord.cli import app, command
from doctord.cli._output import Terminal, check_writable, conclude
from doctord.cli.arguments import Databases, Dsns, Html, Json
from doctord.units import parse_duration


@command(app)
def checkup(
    *,
    length: Annotated[str, typer.Option("--for", metavar="LENGTH", help="How long to look.")] = "20s",
    dsn: Dsns = None,
    databases: Databases = True,
    lake: Annotated[
        Path | None, typer.Option(metavar="LAKE", help="Keep what is measured here, and judge by what is kept.")
    ] = None,
    html: Html = None,
    json: Json = False,
) -> int:
    """Look at this host and its databases now, and say what is wrong.

    Exit status: 0 no finding above a note, 1 a warning or worse, 2 nothing could be judged, a server that was named did
    not answer, or a wrong option.
    """
    seconds = parse_duration(length)
    from doctord.app.check_up import check_up

    check_writable(html)
    found = check_up(seconds, dsn or (), databases=databases, lake=lake, watcher=Terminal())
    return conclude(found, html=html, json=json)
