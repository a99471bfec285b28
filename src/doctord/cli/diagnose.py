"""`doctord diagnose`: the same verdict on what was recorded, or on the files that other tools left."""

from pathlib import Path
from typing import Annotated

import typer

from doctord.cli import app
from doctord.cli.arguments import Refusal, said
from doctord.cli.read import DAY, EVERY, UNIT, ZONE


@app.command()
def diagnose(
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="PATH...", help="Files, folders, archives; none: a lake.")
    ] = None,
    *,
    lake: Annotated[Path | None, typer.Option(metavar="DIR", help="The lake (default: the usual place).")] = None,
    since: Annotated[
        str | None,
        typer.Option("--from", metavar="MOMENT", help="Start: 2026-11-20T10:00Z; of a lake -1h if not said."),
    ] = None,
    until: Annotated[str | None, typer.Option("--to", metavar="MOMENT", help="End, likewise; else now.")] = None,
    past: Annotated[str, typer.Option(metavar="TIME", help="How far back to look for what is usual.")] = "1d",
    zone: Annotated[str | None, ZONE] = None,
    day: Annotated[str | None, DAY] = None,
    every: Annotated[str | None, EVERY] = None,
    unit: Annotated[str | None, UNIT] = None,
    report: Annotated[Path | None, typer.Option(metavar="FILE", help="Write an HTML report as well.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Say what was wrong: in an interval that was recorded, or in what files of other tools tell.

    Files of one patient are judged together: `doctord diagnose awr_1.html awr_2.html sa15 iostat.log`.
    """
    with said():
        from doctord.cli import _read
        from doctord.cli._verdict import conclude, recorded
        from doctord.diagnose import engine

        if paths and lake:
            raise Refusal("either files or a lake", "doctord read PATH... --lake DIR puts files into a lake")
        if paths:
            told = _read.told(zone, day, every, unit)
            chart, earlier = _read.examined(paths, told, since, until, past)
            trace = _read.trace_of(paths)
        else:
            trace = None
            chart, earlier = recorded(lake, since or "-1h", until or "now", past)
        conclude(engine.diagnose(chart, earlier, trace), chart, report=report, json=json)
