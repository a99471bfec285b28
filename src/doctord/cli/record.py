"""`doctord record`: fill a lake, in the foreground, until told to stop."""

import sys
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from doctord.cli import app, command
from doctord.cli.arguments import Databases, Dsns, Figures, Probe, positive_s
from doctord.units import parse_size


@command(app)
def record(
    *,
    lake: Annotated[
        Path | None, typer.Option(metavar="LAKE", help="Folder to record into (default: $DOCTORD_LAKE).")
    ] = None,
    every: Annotated[str, typer.Option(metavar="LENGTH", help="Time between two samples of the host.")] = "1s",
    for_: Annotated[
        str | None, typer.Option("--for", metavar="LENGTH", help="Stop after this time (default: never).")
    ] = None,
    sync: Annotated[str, typer.Option(metavar="LENGTH", help="Time between two syncs: what a crash may lose.")] = "5s",
    keep: Annotated[str, typer.Option(metavar="LENGTH", help="Delete what is older.")] = "30d",
    keep_minutes: Annotated[str, typer.Option(metavar="LENGTH", help="Delete sums of minutes that are older.")] = "92d",
    max_size: Annotated[
        str, typer.Option(metavar="SIZE", help="Delete the oldest beyond this size of the lake.")
    ] = "10GiB",
    figures: Figures = None,
    dsn: Dsns = None,
    databases: Databases = True,
    probe: Probe = True,
    quiet: Annotated[bool, typer.Option("--quiet", help="Say only what goes wrong.")] = False,
    print_unit: Annotated[bool, typer.Option("--print-unit", help="Print a systemd unit and end.")] = False,
) -> None:
    """Record this host and its databases into a lake.

    It goes on until Ctrl-C or SIGTERM, and leaves a lake that is whole.

    Exit status: 0 ended as it was told to, 2 the lake cannot be written, or a wrong option.
    """
    if print_unit:
        typer.echo(files("doctord.lake").joinpath("doctord.service").read_text(), nl=False)
        return
    from doctord.app.record import Recording, become
    from doctord.lake.place import default_lake

    if figures:
        from doctord.app.rules import figures_of

        figures_of(figures)  # what is wrong with it is said now, not at night
    place = str(lake or default_lake())
    summing = [place, str(positive_s(keep_minutes)), *([str(figures.absolute())] if figures else [])]
    recording = Recording(
        lake=place,
        every_s=positive_s(every),
        for_s=positive_s(for_) if for_ else None,
        sync_s=positive_s(sync),
        keep_s=positive_s(keep),
        max_bytes=parse_size(max_size),
        dsns=dsn or [],
        databases=databases,
        probe=probe,
        quiet=quiet,
        roll_up=[sys.executable, "-m", "doctord.app.roll_up", *summing],
    )
    become(recording)
