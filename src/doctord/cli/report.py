"""`doctord report`: a recorded interval, examined, as one HTML file."""

import json
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from doctord.cli import app
from doctord.cli.arguments import Refusal, parse_duration, parse_moment, said

if TYPE_CHECKING:
    from datetime import datetime

    from doctord.chart.chart import Chart


@app.command()
def report(
    *,
    lake: Annotated[Path | None, typer.Option(metavar="DIR", help="The lake (default: $DOCTORD_LAKE).")] = None,
    since: Annotated[str, typer.Option("--from", metavar="MOMENT", help="Start: 2026-11-20T10:00Z, or -1h.")] = "-1h",
    until: Annotated[str, typer.Option("--to", metavar="MOMENT", help="End, likewise.")] = "now",
    past: Annotated[str, typer.Option(metavar="TIME", help="How far back to look for what is usual.")] = "1d",
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="File to write.")] = Path(
        "doctord-report.html"
    ),
    as_json: Annotated[bool, typer.Option("--json", help="Print the diagnosis as one JSON document as well.")] = False,
) -> None:
    """Write one HTML file on a recorded interval: verdict, findings, plots of the evidence. Readable offline."""
    with said():
        chart, earlier = _charts(lake, parse_moment(since), parse_moment(until), parse_duration(past))
        from doctord.diagnose.engine import diagnose
        from doctord.report import document, html, wording

        diagnosis = diagnose(chart, earlier)
        _write(output, html.render(diagnosis, chart))
        if as_json:
            typer.echo(json.dumps(document.document(diagnosis), indent=2, ensure_ascii=False))
        else:
            typer.echo(f"{wording.clean(wording.verdict(diagnosis))}\n{output}")
        raise typer.Exit(0 if diagnosis.healthy else 1)


def _charts(path: Path | None, since: "datetime", until: "datetime", past_s: float) -> "tuple[Chart, Chart]":
    """The charts of the interval and of the time before it."""
    from doctord.lake.place import LakeError, default_lake
    from doctord.lake.query import Lake

    if since >= until:
        raise Refusal(f"{since:%F %T} is not before {until:%F %T} UTC", "give --from a moment before --to")
    try:
        lake = Lake(path or default_lake())
    except LakeError as error:
        raise Refusal(str(error), error.hint) from error
    chart = lake.chart(since, until)
    for problem in lake.problems:
        typer.echo(f"doctord: {problem}", err=True)
    if chart.until is None:
        span = lake.span()
        held = f"the lake holds {span[0]:%F %T} to {span[1]:%F %T} UTC" if span else "record first: doctord record"
        raise Refusal(f"nothing was recorded from {since:%F %T} to {until:%F %T} UTC", held)
    return chart, lake.chart(since - timedelta(seconds=past_s), since)


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Refusal(f"{file}: {error.strerror}", "name a file that you may write with -o") from error
