"""`doctord report`: a time examined, or what runs out, as one HTML file."""

from pathlib import Path
from typing import Annotated

import typer

from doctord.cli import app
from doctord.cli.arguments import (
    Addition,
    Day,
    Every,
    Growth,
    LakeDir,
    Paths,
    Refusal,
    Steps,
    Unit,
    Zone,
    parse_duration,
    said,
)


@app.command()
def report(
    paths: Paths = None,
    *,
    lake: LakeDir = None,
    since: Annotated[
        str | None,
        typer.Option("--from", metavar="MOMENT", help="Start: 2026-11-20T10:00Z; of a lake -1h if not said."),
    ] = None,
    until: Annotated[str | None, typer.Option("--to", metavar="MOMENT", help="End, likewise; else now.")] = None,
    past: Annotated[str, typer.Option(metavar="LENGTH", help="How far back to look for what is usual.")] = "1d",
    capacity: Annotated[bool, typer.Option("--capacity", help="Report what will be violated, and the plans.")] = False,
    horizon: Annotated[str, typer.Option(metavar="LENGTH", help="Capacity: how far to look ahead.")] = "90d",
    thresholds: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Capacity: thresholds, in TOML (default: Doctor D's own).")
    ] = None,
    growth: Growth = None,
    step: Steps = None,
    add: Addition = None,
    zone: Zone = None,
    day: Day = None,
    every: Every = None,
    unit: Unit = None,
    file: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="File to write.")] = Path("report.html"),
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Capacity: print a table for spreadsheets.")] = False,
) -> None:
    """Write a report: one HTML file, readable offline.

    On a time that was recorded, or that files tell of: verdict, findings, plots of the evidence. With --capacity on all
    that is kept: what will be violated, when, the plans against it, and what that rests on.

    Exit status: 0 no finding, 1 findings, or something is or will be violated, 2 nothing can be told, or a wrong
    option.
    """
    with said():
        from doctord.cli._sources import source_of, span, told

        source = source_of(paths, lake, told(zone, day, every, unit))
        if capacity:
            from doctord.cli import _capacity, _forecast

            if since or until:
                raise Refusal("--capacity looks at all that is kept", "leave --from and --to out")
            if json and csv:
                raise Refusal("either --json or --csv", "give one of them: only one document is printed")
            changes = _forecast.changes(growth, step or [], add or [])
            asked = _capacity.Asked(source, thresholds, parse_duration(horizon), changes)
            raise typer.Exit(_capacity.report(asked, file, json=json, csv=csv))

        from doctord.app import diagnose as diagnosing
        from doctord.cli._terminal import Terminal
        from doctord.cli._verdict import check_writable, status, write
        from doctord.printable import json_text
        from doctord.report import document, html, wording

        if csv or thresholds or growth or step or add:
            raise Refusal("--csv, --thresholds and what-ifs are for reports on capacity", "give --capacity as well")
        check_writable(file)
        found = diagnosing.diagnose(source, *span(since, until), parse_duration(past), Terminal())
        write(file, html.render(found.diagnosis, found.seen.chart))
        verdict = f"{wording.clean(wording.verdict(found.diagnosis))}\n{file}"
        typer.echo(json_text(document.document(found.diagnosis)) if json else verdict)
        raise typer.Exit(status(found))
