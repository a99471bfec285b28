"""`doctord record`: fill a lake, in the foreground, until told to stop."""

from pathlib import Path
from typing import Annotated

import typer

from doctord.cli import app, command
from doctord.cli.arguments import Databases, Dsns, Figures, Probe, amount, flag, in_lake, length, name
from doctord.units import parse_size, parse_wait


@command(app)
def record(
    *,
    lake: Annotated[Path | None, in_lake("Folder to record into (default: $DOCTORD_LAKE).")] = None,
    every: Annotated[str, length("Time between two samples of the host.")] = "1s",
    for_: Annotated[str | None, length("Stop after this time (default: never).", "--for")] = None,
    sync: Annotated[str, length("Time between two syncs: what a crash may lose.")] = "5s",
    keep: Annotated[str, length("Delete what is older.")] = "30d",
    keep_minutes: Annotated[str, length("Delete sums of minutes that are older.")] = "92d",
    max_size: Annotated[str, amount("Delete the oldest beyond this size of the lake.")] = "10GiB",
    figures: Figures = None,
    dsn: Dsns = None,
    databases: Databases = True,
    probe: Probe = True,
    quiet: Annotated[bool, flag("Say only what goes wrong.", "--quiet")] = False,
    print_unit: Annotated[bool, flag("Print a systemd unit and end.", "--print-unit")] = False,
    with_: Annotated[
        str | None,
        name("With --print-unit: a drop-in that lets it see more, of kmsg, ptrace, files, perf.", "--with"),
    ] = None,
) -> None:
    """Record this host and its databases into a lake.

    It goes on until Ctrl-C or SIGTERM, and leaves a lake that is whole.

    Exit status: 0 ended as it was told to, 2 the lake cannot be written, or a wrong option.
    """
    if print_unit:
        from doctord.app.unit import drop_in, unit

        typer.echo(unit() if with_ is None else drop_in([right.strip() for right in with_.split(",")]), nl=False)
        return
    from doctord.app import roll_up
    from doctord.app.record import Recording, become
    from doctord.lake.place import default_lake

    place = str(lake or default_lake())
    recording = Recording(
        lake=place,
        every_s=parse_wait(every),
        for_s=parse_wait(for_) if for_ else None,
        sync_s=parse_wait(sync),
        keep_s=parse_wait(keep),
        max_bytes=parse_size(max_size),
        dsns=dsn or [],
        databases=databases,
        probe=probe,
        quiet=quiet,
        roll_up=roll_up.command(place, parse_wait(keep_minutes), figures),
    )
    become(recording)
