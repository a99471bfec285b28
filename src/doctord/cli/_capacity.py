"""What `doctord report --capacity` does: histories, forecasts, their order, and the three forms of the report."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import typer

from doctord.analyse.capacity.agenda import Agenda, agenda
from doctord.analyse.capacity.threshold import Rules
from doctord.analyse.capacity.whatif import Change
from doctord.app import forecast
from doctord.app.rules import rules_of
from doctord.app.source import Files, Recorded
from doctord.cli._terminal import Terminal
from doctord.cli._verdict import check_writable, write
from doctord.printable import for_output, json_text
from doctord.report import capacity_html, capacity_report


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be reported: from files or a lake, held against thresholds, so far ahead, with what-ifs."""

    source: Files | Recorded
    thresholds: Path | None
    within_s: float
    changes: Sequence[Change]


def report(asked: Asked, file: Path, *, json: bool, csv: bool) -> int:
    """Write the page, and print the verdict, or the JSON or CSV form; the exit status."""
    check_writable(file)
    rules = rules_of(asked.thresholds)
    found, changes = _found(asked, rules), [change.text for change in asked.changes]
    document = capacity_report.document_of(found, asked.within_s, changes, [level.name for level in rules.levels])
    write(file, capacity_html.render(found, document, datetime.now(UTC)))
    if json:
        typer.echo(json_text(document))
    elif csv:
        typer.echo(for_output(capacity_report.csv_of(document)), nl=False)
    else:
        typer.echo(f"{capacity_report.verdict(document)}\n{file}")
    return status(document)


def status(document: dict[str, Any]) -> int:
    """0 when nothing is or will be violated, 1 when something is, 2 when nothing can be told."""
    known = document["counts"].keys()
    if known & {"violated", "date"}:
        return 1
    return 0 if known & {"perhaps", "not within the horizon"} else 2


def _found(asked: Asked, rules: Rules) -> Agenda:
    measured = forecast.histories(asked.source, list(rules.figures.values()), Terminal())
    items = forecast.foreseen(measured, rules, asked.within_s, asked.changes, Terminal())
    return agenda(items, measured, rules.thresholds)
