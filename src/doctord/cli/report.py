"""`doctord report`: a recorded interval, examined, as one HTML file."""

from pathlib import Path
from typing import Annotated

import typer

from doctord.cli import app
from doctord.cli.arguments import LakeDir, said


@app.command()
def report(
    lake: LakeDir = None,
    since: Annotated[str, typer.Option("--from", metavar="MOMENT", help="Start: 2026-11-20T10:00Z, or -1h.")] = "-1h",
    until: Annotated[str, typer.Option("--to", metavar="MOMENT", help="End, likewise.")] = "now",
    past: Annotated[str, typer.Option(metavar="TIME", help="How far back to look for what is usual.")] = "1d",
    file: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="File to write.")] = Path("report.html"),
    json: Annotated[bool, typer.Option("--json", help="Print the diagnosis as one JSON document.")] = False,
) -> None:
    """Write a report on a recorded interval.

    One HTML file, readable offline: verdict, findings, plots of the evidence.
    """
    with said():
        from doctord.cli._verdict import json_of, recorded, write_report
        from doctord.diagnose import engine
        from doctord.report import wording

        chart, earlier = recorded(lake, since, until, past)
        diagnosis = engine.diagnose(chart, earlier)
        write_report(file, diagnosis, chart)
        typer.echo(json_of(diagnosis) if json else f"{wording.clean(wording.verdict(diagnosis))}\n{file}")
        raise typer.Exit(0 if diagnosis.healthy else 1)
