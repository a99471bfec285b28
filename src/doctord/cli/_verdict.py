"""What the commands that end in a verdict share: progress, the past, printing, and the exit status."""

import json as json_text
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from doctord.analyse.vitals import NEEDS
from doctord.chart.chart import Chart
from doctord.cli.arguments import Refusal, parse_duration
from doctord.diagnose.finding import Diagnosis
from doctord.lake.query import Lake
from doctord.report import document, html, terminal


def past(lake: Lake, before: datetime, length: str) -> Chart:
    """What vital signs need of that length of time before a moment; empty where nothing was recorded."""
    return lake.chart(before - timedelta(seconds=parse_duration(length)), before, NEEDS)


@contextmanager
def progress_of(seconds: float) -> Iterator[Callable[[float], None]]:
    """A progress bar on standard error while sampling; silent where that is no terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        typer.echo(f"doctord: looking for {seconds:.0f} s", err=True)
        yield lambda _elapsed: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed:.0f} of {task.total:.0f} s"))
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("Looking", total=seconds)
        yield lambda elapsed: bar.update(task, completed=min(elapsed, seconds))


def conclude(diagnosis: Diagnosis, chart: Chart, *, report: Path | None, json: bool) -> None:
    """Print the verdict, write the report, and end with 0 when healthy, 1 with findings, 2 when nothing was seen."""
    if report:
        try:
            report.write_text(html.render(diagnosis, chart), encoding="utf-8")
        except OSError as error:
            raise Refusal(f"{report}: {error.strerror}", "name a file that you may write") from error
    if json:
        json_text.dump(document.document(diagnosis), sys.stdout, indent=2, ensure_ascii=False)
        sys.stdout.write("\n")
    else:
        typer.echo(terminal.render(diagnosis))
    if diagnosis.since is None:
        raise typer.Exit(2)
    raise typer.Exit(0 if diagnosis.healthy else 1)
