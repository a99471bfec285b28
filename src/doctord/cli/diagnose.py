"""`doctord diagnose`: the same verdict on an interval that was recorded."""

from pathlib import Path
from typing import Annotated

import typer

from doctord.cli import app
from doctord.cli.arguments import Refusal, parse_moment, said


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
        from doctord.cli._verdict import conclude
        from doctord.cli._verdict import past as past_chart
        from doctord.diagnose import engine
        from doctord.lake.place import default_lake
        from doctord.lake.query import Lake

        start, end = parse_moment(since), parse_moment(until)
        if start >= end:
            raise Refusal(f"{since} is not before {until}", "give --from a moment before --to")
        source = Lake(lake or default_lake())
        chart = source.chart(start, end)
        if chart.until is None:
            span = source.span()
            held = f"the lake holds {span[0]:%F %T} to {span[1]:%F %T} UTC" if span else "record first: doctord record"
            raise Refusal(f"nothing was recorded from {start:%F %T} to {end:%F %T} UTC", held)
        earlier = past_chart(source, start, past)
        conclude(engine.diagnose(chart, earlier), chart, report=report, json=json)
