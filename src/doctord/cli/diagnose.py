"""`doctord diagnose`: the same verdict on what was recorded, or on the files that other tools left."""

from pathlib import Path
from typing import Annotated

import typer

from doctord.cli import app
from doctord.cli.arguments import Day, Every, LakeDir, Paths, Unit, Zone, parse_duration, said


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
    past: Annotated[str, typer.Option(metavar="LENGTH", help="How far back to look for what is usual.")] = "1d",
    zone: Zone = None,
    day: Day = None,
    every: Every = None,
    unit: Unit = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write an HTML report as well.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Say what was wrong: in an interval that was recorded, or in what files of other tools tell.

    Files of one patient are judged together: `doctord diagnose awr_1.html awr_2.html sa15 iostat.log`.

    Exit status: 0 no finding, 1 findings, 2 nothing could be judged, or a wrong option.
    """
    with said():
        from doctord.app import diagnose as diagnosing
        from doctord.cli._sources import source_of, span, told
        from doctord.cli._terminal import Terminal
        from doctord.cli._verdict import check_writable, conclude

        if html:
            check_writable(html)
        source, past_s = source_of(paths, lake, told(zone, day, every, unit)), parse_duration(past)
        examination = diagnosing.diagnose(source, *span(since, until), past_s, Terminal())
        conclude(examination, html=html, json=json)
