"""What `doctord map` prints: maps for the room that there is, lists, records."""

import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from json import dumps
from pathlib import Path

import typer

from doctord.analyse.latency.map import LatencyMap, Subject, subjects
from doctord.analyse.latency.modes import reading
from doctord.app.map import recorded
from doctord.cli._terminal import Terminal
from doctord.collect.live import live_subjects
from doctord.read.source import Told
from doctord.report import map_difference
from doctord.report.lines import hanging, table
from doctord.report.map_cells import Colours
from doctord.report.map_document import document
from doctord.report.map_records import records
from doctord.report.map_terminal import BESIDE_COLUMNS, BESIDE_ROWS, frame
from doctord.report.map_view import View

DEFAULT_ROWS = 12


def size(view: View) -> tuple[int, int]:
    """Columns and lines of the terminal, or of a page that holds what was asked for."""
    if sys.stdout.isatty():
        columns, lines = os.get_terminal_size(sys.stdout.fileno())  # $COLUMNS stays when a window changes its size
        return columns or 80, lines or 24
    width = 80 if view.columns is None else view.columns + BESIDE_COLUMNS
    return width, 2 * (view.rows or DEFAULT_ROWS) + BESIDE_ROWS


def is_watched() -> bool:
    """Whether somebody sees what happens on standard output."""
    return sys.stdout.isatty()


def room(view: View) -> int:
    """How many columns of a map are seen at once."""
    return min(view.columns or size(view)[0], size(view)[0] - BESIDE_COLUMNS)


def colours() -> Colours:
    """How many colours standard output shows, by what its environment says."""
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return "none"
    return "true" if os.environ.get("COLORTERM") in {"truecolor", "24bit"} else "256"


def list_known(
    sources: Sequence[Path], span: tuple[datetime | None, datetime | None], told: Told, *, json: bool
) -> None:
    """Print what can be mapped: of lakes and files, or where none is named live on this host."""
    if sources:
        _list_subjects(subjects(recorded(sources, *span, told, Terminal())), json=json)
    else:
        _list_live(json=json)


def _list_subjects(known: Sequence[Subject], *, json: bool) -> None:
    """Print what can be mapped, that of most waits first."""
    ordered = sorted(known, key=lambda subject: (subject.kind != "histogram", -subject.count))
    if json:
        typer.echo(dumps([asdict(subject) for subject in ordered], allow_nan=False))
        return
    rows = [
        (f"{subject.count:,.0f}", str(subject.columns), subject.kind, subject.db or "host", subject.name)
        for subject in ordered
    ]
    for line in table(("waits", "intervals", "known", "server", "subject"), rows, 80):
        typer.echo(line.plain.rstrip())


def _list_live(*, json: bool) -> None:
    """Print what can be mapped live on this host."""
    known = list(live_subjects())
    if json:
        typer.echo(dumps([asdict(subject) for subject in known]))
        return
    rows = [(subject.source, subject.db or "host", subject.name) for subject in known]
    for line in table(("timed by", "server", "subject"), rows, 80):
        typer.echo(line.plain.rstrip())
    typer.echo("and every system call: pread64, fdatasync...; of one process with --pid")


def show_records(drawn: LatencyMap) -> None:
    """Print the map as records that PyLatencyMap reads."""
    for line in records(drawn):
        typer.echo(line)


def show(drawn: LatencyMap, view: View, compare_at: datetime | None = None, *, json: bool) -> None:
    """Print the map, what can be read from it, and what differs after a moment."""
    if json:
        typer.echo(dumps(document(drawn, compare_at), allow_nan=False))
        return
    columns, lines = size(view)
    typer.echo("\n".join(frame(drawn, view, (columns, lines), colours()).lines))
    found = map_difference.sentences(map_difference.compared(drawn, compare_at)) if compare_at else ()
    for sentence in (*reading(drawn).sentences, *found):
        for line in hanging("* ", sentence, columns):
            typer.echo(line.plain)
