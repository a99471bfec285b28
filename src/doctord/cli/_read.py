"""What the commands that read files share: what the user says of them, progress, and their rows as one chart."""

import json as json_text
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date, timedelta
from pathlib import Path

import polars as pl
import pyarrow as pa
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from doctord.chart.calltrace import Trace
from doctord.chart.chart import Chart
from doctord.chart.repeats import without_repeats
from doctord.cli.arguments import Refusal, note, parse_duration, parse_moment
from doctord.lake.imports import keep
from doctord.read import calltrace
from doctord.read.archive import found
from doctord.read.formats import FORMATS, zone_named
from doctord.read.gather import FileRead, gather
from doctord.read.latency import call_trace
from doctord.read.source import STANDARD_INPUT, Told, opened
from doctord.report import files_read

# Rows that wait before they are kept in a lake: few and large files come of many, and memory holds so many.
WAITING_ROWS = 2_000_000


def told(zone: str | None, day: str | None, every: str | None, unit: str | None) -> Told:
    """What the user says of files that do not say it themselves."""
    try:
        known = date.fromisoformat(day) if day else None
    except ValueError as error:
        raise Refusal(f"{day!r} is no date", "write it as 2026-11-20") from error
    unit_us = parse_duration(unit) * 1e6 if unit else None
    return Told(zone_named(zone), unit_us, known, parse_duration(every) if every else None)


def list_formats(*, json: bool) -> None:
    """Print the formats that are read."""
    names = [known.NAME for known in FORMATS]
    typer.echo(json_text.dumps({"formats": names}, indent=2) if json else "\n".join(names))


def read(paths: Sequence[Path], told: Told, lake: Path | None, *, json: bool) -> int:
    """Read files, keep their rows where a lake is named, and print what each held; the exit status."""
    held, waiting, kept = list[dict[str, object]](), list[FileRead](), dict[str, int]()
    waiting_rows = 0
    for file in each_read(paths, told):
        held.append(files_read.document_of(file))
        if lake:
            waiting.append(file)
            waiting_rows += sum(table.num_rows for table in file.tables.values())
        if waiting_rows > WAITING_ROWS:
            _keep(lake, waiting, kept)
            waiting, waiting_rows = [], 0
    _keep(lake, waiting, kept)
    document = {"files": held, "lake": str(lake) if lake else None, "kept": kept}
    typer.echo(json_text.dumps(document, indent=2) if json else files_read.render(document))
    named = {str(path) for path in paths}
    read_some = any(file["error"] is None for file in held)
    return 0 if read_some and not any(file["error"] and file["file"] in named for file in held) else 2


def chart_of(paths: Sequence[Path], told: Told) -> Chart:
    """What several files tell, as a chart; what is to be known of each file is said on standard error.

    Raises:
        Refusal: nothing in them could be used.
    """
    files = list(each_read(paths, told))
    for file in files:
        for line in files_read.remarks(file):
            note(line)
    if not any(file.tables for file in files):
        raise Refusal("nothing in these files can be used", "doctord read says what each of them is")
    return Chart(_tables_of(files))


def trace_of(paths: Sequence[Path]) -> Trace | None:
    """The call trace that these files are, where they are one and nothing else."""
    for path in paths:
        if path.is_dir() or path == STANDARD_INPUT:
            return None
        with opened(path) as source:
            if not call_trace.sniff(source.head):
                return None
    return calltrace.read(paths) if len(paths) == 1 or calltrace.parts_of_one(paths) else None


def examined(paths: Sequence[Path], told: Told, since: str | None, until: str | None, past: str) -> tuple[Chart, Chart]:
    """What files tell of the time between two moments (of all of it, where none is said), and of the time before.

    Raises:
        Refusal: nothing in them could be used, or nothing is of that time.
    """
    whole = chart_of(paths, told)
    if whole.since is None or whole.until is None or (since is None and until is None):
        return whole, Chart()
    begin = parse_moment(since) if since else whole.since - timedelta(microseconds=1)
    end = parse_moment(until) if until else whole.until
    chart = whole.between(begin, end)
    if chart.until is None:
        held = f"they tell of {whole.since:%F %T} to {whole.until:%F %T} UTC"
        raise Refusal(f"nothing in these files is of {begin:%F %T} to {end:%F %T} UTC", held)
    return chart, whole.between(begin - timedelta(seconds=parse_duration(past)), begin)


def each_read(paths: Sequence[Path], told: Told) -> Iterator[FileRead]:
    """What each file held; progress is shown on standard error."""
    with found(paths) as what:
        yield from (FileRead(unread.name, refusal=(unread.reason, "")) for unread in what.unread)
        with _progress(len(what.pieces)) as watch:
            yield from gather(what.pieces, told, watch)


def _keep(lake: Path | None, files: Sequence[FileRead], kept: dict[str, int]) -> None:
    """Keep the rows of files in a lake, and add to `kept` how many were new."""
    if lake and files:
        for table, count in keep(lake, _tables_of(files)).items():
            kept[table] = kept.get(table, 0) + count


def _tables_of(files: Iterable[FileRead]) -> dict[str, pa.Table]:
    """The rows of several files by table; what one tells again of another is left out."""
    parts = dict[str, list[pl.DataFrame]]()
    for file in files:
        for name, table in file.tables.items():
            frame = pl.from_arrow(table)
            assert isinstance(frame, pl.DataFrame)  # noqa: S101 - a table never becomes a Series
            parts.setdefault(name, []).append(frame)
    return {name: pl.concat(without_repeats(name, frames)).to_arrow() for name, frames in parts.items()}


@contextmanager
def _progress(count: int) -> Iterator[Callable[[str], None]]:
    """A bar on standard error, one step for each file; silent where that is no terminal, or there is one file."""
    console = Console(stderr=True)
    if count < 2 or not console.is_terminal:
        yield lambda _name: None
        return
    columns = (TextColumn("Reading"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=count)
        yield lambda name: bar.update(task, advance=1, description=name.rpartition("/")[2])
