"""`doctord diagnose`: the same verdict on an interval that was recorded."""

from pathlib import Path
from typing import Annotated

import typer

from doctord.cli import app
from doctord.cli.arguments import said


@app.command()
def diagnose(
    lake: Annotated[Path | None, typer.Option(metavar="DIR", help="The lake (default: the usual place).")] = None,
    since: Annotated[str, typer.Option("--from", metavar="MOMENT", help="Start: 2026-11-20T10:00Z, or -1h.")] = "-1h",
    until: Annotated[str, typer.Option("--to", metavar="MOMENT", help="End, likewise.")] = "now",
    past: Annotated[str, typer.Option(metavar="TIME", help="How far back to look for what is usual.")] = "1d",
    report: Annotated[Path | None, typer.Option(metavar="FILE", help="Write an HTML report as well.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Say what was wrong in a recorded interval."""
    with said():
        from doctord.cli._verdict import conclude, recorded
        from doctord.diagnose import engine

        chart, earlier = recorded(lake, since, until, past)
        conclude(engine.diagnose(chart, earlier), chart, report=report, json=json)
