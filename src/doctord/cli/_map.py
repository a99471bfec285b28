"""What `doctord map` draws from what was recorded, and what becomes of it."""

import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from json import dumps
from pathlib import Path

import typer

from doctord.analyse.latency.map import LatencyMap, Subject, latency_map, subjects
from doctord.analyse.latency.modes import reading
from doctord.chart.chart import Chart
from doctord.cli.arguments import Refusal, note
from doctord.collect.latency.sources import live_subjects
from doctord.lake.query import Lake
from doctord.read.formats import read_source
from doctord.read.source import Told, opened
from doctord.report import map_difference
from doctord.report.lines import hanging, table
from doctord.report.map_cells import Colours
from doctord.report.map_document import document
from doctord.report.map_records import records
from doctord.report.map_terminal import BESIDE_COLUMNS, BESIDE_ROWS, frame
from doctord.report.map_view import View

TABLES = ("latency", "wait", "disk", "session", "event")
DEFAULT_ROWS = 12
BEGINNING, END_OF_TIME = datetime(1970, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)
# A page of more maps would be slow to open.
MOST_MAPS = 40
# Widths that a column is given when there are more intervals than columns on the screen.
WIDTHS_S = (
    0.01,
    0.02,
    0.05,
    0.1,
    0.2,
    0.5,
    1,
    2,
    3,
    5,
    10,
    15,
    30,
    60,
    120,
    300,
    600,
    900,
    1800,
    3600,
    7200,
    14400,
    43200,
    86400,
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the user asked for: a subject and where, and how wide a column; null leaves the choice to us."""

    subject: str | None = None
    db: str | None = None
    instance: str | None = None
    host: str | None = None
    column_s: float | None = None

    def map_of(self, chart: Chart, room: int | None = None) -> LatencyMap:
        """The map of the subject, or of the one with most waits; columns wide enough for the room where none is said.

        Raises:
            Refusal: there is none, or it is not clear which.
        """
        subject = self.subject or by_waits(chart)[0].name
        column_s = self.column_s
        if column_s is None and room and chart.since and chart.until:
            needed_s = (chart.until - chart.since).total_seconds() / room
            known = latency_map(chart, subject, db=self.db, instance=self.instance, host=self.host)
            if len(known.columns) <= room:
                return known
            column_s = next((width for width in WIDTHS_S if width >= needed_s), needed_s)
        return latency_map(chart, subject, db=self.db, instance=self.instance, host=self.host, column_s=column_s)

    def maps_of(self, chart: Chart, room: int | None = None) -> list[LatencyMap]:
        """The map of the subject; where none is asked for those of all, that of most waits first.

        Raises:
            Refusal: there is none, or it is not clear which.
        """
        if self.subject:
            return [self.map_of(chart, room)]
        found = [subject for subject in by_waits(chart) if self.db in {None, subject.db}]
        return [replace(self, subject=one.name, db=one.db).map_of(chart, room) for one in found[:MOST_MAPS]]


def by_waits(chart: Chart) -> list[Subject]:
    """The subjects, that of most waits first, histograms before means.

    Raises:
        Refusal: there are no latencies.
    """
    known = subjects(chart)
    if not known:
        raise Refusal(
            "there are no latencies in it", "doctord map --record LAKE records some; docs/how-to/draw-a-map.md"
        )
    return sorted(known, key=lambda subject: (subject.kind != "histogram", -subject.count))


def recorded(places: Sequence[Path], since: datetime | None, until: datetime | None, told: Told) -> Chart:
    """The rows of lakes and files that a map can be drawn of, between two moments."""
    charts = (_of_lake(place, since, until) if place.is_dir() else _of_file(place, told) for place in places)
    return Chart.joined(charts).between(since or BEGINNING, until or END_OF_TIME)


def _of_lake(place: Path, since: datetime | None, until: datetime | None) -> Chart:
    lake = Lake(place)
    span = lake.span()
    if span is None:
        raise Refusal(f"{place} holds nothing", "record first: doctord map --record LAKE, or doctord record")
    chart = lake.chart(since or span[0] - timedelta(seconds=1), until or span[1], dict.fromkeys(TABLES, "true"))
    for problem in lake.problems:
        note(problem)
    return chart


def _of_file(place: Path, told: Told) -> Chart:
    with opened(place, told) as source:
        found = read_source(source)
    for remark in [*found.skipped, *(f"{place}: {told}" for told in found.notes)]:
        note(str(remark))
    return Chart.from_batches(found.batches)


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
        _list_subjects(subjects(recorded(sources, *span, told)), json=json)
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
