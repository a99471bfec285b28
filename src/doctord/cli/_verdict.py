"""What the commands that end in a verdict share: progress, the past, printing, and the exit status."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from doctord.analyse.vitals import NEEDS
from doctord.chart.calltrace import Trace
from doctord.chart.chart import Chart
from doctord.cli.arguments import Refusal, note, parse_duration, parse_moment
from doctord.diagnose.finding import Diagnosis
from doctord.lake.place import default_lake
from doctord.lake.query import Lake
from doctord.printable import json_text
from doctord.read.source import Told
from doctord.report import document, terminal


def past(lake: Lake, before: datetime, length: str) -> Chart:
    """What vital signs need of that length of time before a moment; empty where nothing was recorded."""
    return lake.chart(before - timedelta(seconds=parse_duration(length)), before, NEEDS)


def recorded(place: Path | None, since: str, until: str, past_length: str) -> tuple[Chart, Chart]:
    """What a lake holds between two moments, and what vital signs need of the time before; a refusal for nothing."""
    start, end = parse_moment(since), parse_moment(until)
    if start >= end:
        raise Refusal(f"{since} is not before {until}", "give --from a moment before --to")
    lake = Lake(place or default_lake())
    chart = lake.chart(start, end)
    for problem in lake.problems:
        note(problem)
    if chart.until is None:
        span = lake.span()
        held = f"the lake holds {span[0]:%F %T} to {span[1]:%F %T} UTC" if span else "record first: doctord record"
        raise Refusal(f"nothing was recorded from {start:%F %T} to {end:%F %T} UTC", held)
    return chart, past(lake, start, past_length)


def examined(
    paths: Sequence[Path] | None, told: Told, lake: Path | None, since: str | None, until: str | None, past: str
) -> tuple[Chart, Chart, Trace | None]:
    """What files tell of a time, or else a lake; what vital signs need of the time before; the call trace they are."""
    if not paths:
        return *recorded(lake, since or "-1h", until or "now", past), None
    from doctord.cli import _read

    return *_read.examined(paths, told, since, until, past), _read.trace_of(paths)


@contextmanager
def progress_of(seconds: float) -> Iterator[Callable[[float], None]]:
    """A progress bar on standard error while sampling; silent where that is no terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        note(f"looking for {seconds:.0f} s")
        yield lambda _elapsed: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed:.0f} of {task.total:.0f} s"))
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("Looking", total=seconds)
        yield lambda elapsed: bar.update(task, completed=min(elapsed, seconds))


def conclude(diagnosis: Diagnosis, chart: Chart, *, report: Path | None, json: bool, servers: int = 0) -> None:
    """Print the verdict, write the report, and end with 0 when healthy and 1 with findings.

    It ends with 2 when there is no finding but nothing was seen, or fewer database servers than the user named: nobody
    should take that for health.
    """
    if report:
        write_report(report, diagnosis, chart)
    typer.echo(json_of(diagnosis) if json else terminal.render(diagnosis))
    answered = chart.frame("statistic").filter(component="postgresql")["db"].n_unique()
    if not diagnosis.healthy:
        raise typer.Exit(1)
    raise typer.Exit(0 if diagnosis.is_judged and answered >= servers else 2)


def check_writable(file: Path) -> None:
    """Refuse a file that could not be written in the end before anybody waits for it."""
    folder = file.parent
    if file.is_dir() or not os.access(file if file.exists() else folder, os.W_OK):
        raise Refusal(f"{file} cannot be written", "name a file in a folder that is there and that you may write to")


def write_report(file: Path, diagnosis: Diagnosis, chart: Chart) -> None:
    """Write the report as HTML; a refusal where the file cannot be written."""
    from doctord.report import html

    try:
        file.write_text(html.render(diagnosis, chart), encoding="utf-8")
    except OSError as error:
        raise Refusal(f"{file}: {error.strerror}", "name a file that you may write") from error


def json_of(diagnosis: Diagnosis) -> str:
    """The JSON document of a diagnosis, as docs/reference/json.md explains it."""
    return json_text(document.document(diagnosis))
