"""`doctord diagnose`: the same verdict on what was recorded, or on the files that other tools left."""

from pathlib import Path
from typing import Annotated

import typer

from doctord.cli import app
from doctord.cli.arguments import Day, Every, LakeDir, Paths, Unit, Zone, one_source, said


@app.command()
def diagnose(
    paths: Paths = None,
    *,
    lake: LakeDir = None,
    since: Annotated[
        str | None,
        typer.Option("--from", metavar="MOMENT", help="Start: 2026-11-20T10:00Z; of a lake -1h if not said."),
    ] = None,
    until: Annotated[str | None, typer.Option("--to", metavar="MOMENT", help="End, likewise; else now.")] = None,
    past: Annotated[str, typer.Option(metavar="TIME", help="How far back to look for what is usual.")] = "1d",
    zone: Zone = None,
    day: Day = None,
    every: Every = None,
    unit: Unit = None,
    report: Annotated[Path | None, typer.Option(metavar="FILE", help="Write an HTML report as well.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Say what was wrong: in an interval that was recorded, or in what files of other tools tell.

    Files of one patient are judged together: `doctord diagnose awr_1.html awr_2.html sa15 iostat.log`.
    """
    with said():
        from doctord.cli import _read
        from doctord.cli._verdict import conclude, examined
        from doctord.diagnose import engine

        one_source(paths, lake)
        told = _read.told(zone, day, every, unit)
        chart, earlier, trace = examined(paths, told, lake, since, until, past)
        conclude(engine.diagnose(chart, earlier, trace), chart, report=report, json=json)
