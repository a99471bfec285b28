"""What `doctord trace` writes and prints, and its exit status."""

from pathlib import Path

import typer

from doctord.app.trace import Examined
from doctord.cli._verdict import write as write_file
from doctord.cli.arguments import Refusal
from doctord.printable import json_text
from doctord.report import timeline, trace_document, trace_html, trace_terminal


def write(examined: Examined, *, html: Path | None, svg: Path | None, folded: Path | None) -> None:
    """Write what was asked for into files."""
    if html:
        write_file(html, trace_html.render(examined.trace, examined.diagnosis, examined.comparison))
    if svg:
        drawn = examined.trace["timeline"]
        if drawn is None:
            raise Refusal("there is no timeline: the trace holds no whole pass of a loop", "leave out --svg")
        write_file(svg, timeline.svg(drawn, alone=True))
    if folded:
        write_file(folded, trace_html.folded(examined.trace))


def conclude(examined: Examined, *, json: bool) -> None:
    """Print, and end with 0 when there is no finding, 1 when there is one, and 2 when the trace holds no call."""
    shown = (examined.trace, examined.diagnosis, examined.comparison)
    if json:
        typer.echo(json_text(trace_document.document(*shown, before=examined.before)))
    else:
        typer.echo(trace_terminal.render(*shown))
    if examined.diagnosis.healthy and not examined.trace["trace"]["calls"]:
        raise typer.Exit(2)
    raise typer.Exit(0 if examined.diagnosis.healthy else 1)
