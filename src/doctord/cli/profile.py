"""`doctord profile`: the patient on one page, from a lake or from files."""

from pathlib import Path
from typing import Annotated

import typer

from doctord.cli import app
from doctord.cli.arguments import Day, Every, LakeDir, Paths, Unit, Zone, one_source, said


@app.command()
def profile(
    paths: Paths = None,
    *,
    lake: LakeDir = None,
    at: Annotated[
        str | None,
        typer.Option(metavar="MOMENT", help="End of today: 2026-11-20T10:00Z, -1d; the last row if not said."),
    ] = None,
    busy_hour: Annotated[
        bool, typer.Option("--busy-hour", help="Values of each server's busy hour instead of whole days.")
    ] = False,
    figures: Annotated[Path | None, typer.Option(metavar="FILE", help="More figures, in TOML.")] = None,
    thresholds: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Thresholds, in TOML (default: Doctor D's own).")
    ] = None,
    zone: Zone = None,
    day: Day = None,
    every: Every = None,
    unit: Unit = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Show the patient on one page: each figure 90, 30 and 7 days ago and today, and the waits that cost most.

    Of a lake, what was recorded since the last time is summed up by hour, and these sums are kept for years.
    """
    with said():
        from doctord.cli import _profile, _read

        one_source(paths, lake)
        asked = _profile.Asked(at, figures, thresholds, busy_hour)
        told = _read.told(zone, day, every, unit)
        found = _profile.of_files(paths, told, asked) if paths else _profile.of_lake(lake, asked)
        raise typer.Exit(_profile.say(found, json=json))
