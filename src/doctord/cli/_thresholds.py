"""What the commands on thresholds print, and their exit status."""

from pathlib import Path

import typer

from doctord.analyse.capacity import alert
from doctord.app.thresholds import Found, Proposed
from doctord.cli._verdict import write
from doctord.cli.arguments import note
from doctord.printable import json_text
from doctord.report import thresholds as report
from doctord.report import thresholds_toml


def status(found: Found) -> int:
    """0 when nothing is violated now, 1 when something is, 2 when nothing was measured to tell."""
    if not found.checked.held and all(one.is_violated is None for one in found.judged):
        return 2
    return 0 if report.is_healthy(found.checked, found.judged) else 1


def page(found: Found, *, json: bool) -> str:
    """The document of a check, as JSON or to be read."""
    document = report.document_of(found.checked, found.judged, found.unjudged, found.file)
    return json_text(document) if json else report.render(document)


def alerts(found: Found, form: str) -> str:
    """The violations of a check as alerts."""
    made = [alert.violated(one) for one in found.checked.violations if one.is_now]
    made += [alert.broken(one) for one in found.judged if one.is_violated]
    return alert.prometheus(made) if form == "prometheus" else alert.alertmanager(made, found.checked.now)


def put(proposed: Proposed, output: Path | None) -> None:
    """Write proposals to a file or to standard output.

    Raises:
        Refusal: the file cannot be written.
    """
    text = thresholds_toml.render(proposed.proposals, proposed.since, proposed.until)
    if output is None:
        typer.echo(text, nl=False)
        return
    write(output, text)
    made = sum(one.threshold is not None for one in proposed.proposals)
    note(f"{made} thresholds of {len(proposed.proposals)} series in {output}")
