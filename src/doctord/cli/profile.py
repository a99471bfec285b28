"""`doctord profile`: the patient on one page, from a lake or from files."""

from pathlib import Path
from typing import Annotated

import typer

from doctord.cli import app
from doctord.cli.arguments import Day, Every, LakeDir, Paths, Unit, Zone, parse_moment, said


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

    Exit status: 0 nothing is violated, 1 a threshold is, or figures contradict each other, 2 there is no figure, or a
    wrong option.
    """
    with said():
        from doctord.app import profile as profiling
        from doctord.cli._sources import source_of, told
        from doctord.cli._terminal import Terminal
        from doctord.printable import json_text
        from doctord.report import capacity_profile

        source = source_of(paths, lake, told(zone, day, every, unit))
        asked = profiling.Asked(parse_moment(at) if at else None, figures, thresholds, busy_hour)
        found = profiling.profile(source, asked, Terminal())
        document = capacity_profile.document_of(found)
        typer.echo(json_text(document) if json else capacity_profile.render(found))
        raise typer.Exit(1 if found.violations or found.contradictions else 0)
