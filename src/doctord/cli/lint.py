"""`doctord lint`: what settings get wrong, of this host and its databases, or in configuration files."""

from pathlib import Path
from typing import Annotated

import typer

from doctord.cli import app
from doctord.cli.arguments import said


@app.command()
def lint(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="PATH...", help="Configuration files, folders, reports; none: this host, now."),
    ] = None,
    *,
    dsn: Annotated[
        list[str] | None,
        typer.Option(metavar="DSN", help="Look at this server (libpq connection string) instead of those found here."),
    ] = None,
    measured: Annotated[
        Path | None, typer.Option("--with", metavar="DIR", help="Judge by what this lake holds of the workload.")
    ] = None,
    since: Annotated[str, typer.Option("--from", metavar="MOMENT", help="Start of what the lake is to tell.")] = "-1h",
    until: Annotated[str, typer.Option("--to", metavar="MOMENT", help="End of it.")] = "now",
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Say what settings get wrong: for this machine, and with --with for its measured workload.

    `doctord lint /etc/postgresql/15/main /etc/sysctl.conf` reads files; without any, this host and the servers on it
    are asked. Ends with 0 when nothing is worse than a note, and with 1 otherwise.
    """
    with said():
        from doctord.cli import _lint

        chart = _lint.chart_of(paths or (), dsn or (), measured, since, until)
        raise typer.Exit(_lint.conclude(chart, json=json))
