"""What `doctord trace` does once it knows its files: read, diagnose, compare, write, print."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

from doctord.analyse.calls_compared import Comparison, compare
from doctord.chart.calltrace import Trace
from doctord.chart.chart import Chart
from doctord.cli.arguments import Refusal
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Diagnosis
from doctord.printable import json_text
from doctord.read.calltrace import read
from doctord.report import document, timeline, trace_html, trace_terminal

SCHEMA_VERSION = 2


@dataclass(frozen=True)
class Examined:
    """A trace with its findings, and where two are compared the one before with what changed."""

    trace: Trace
    diagnosis: Diagnosis
    before: Trace | None = None
    comparison: Comparison | None = None

    def document(self) -> dict[str, object]:
        """The JSON document, as docs/reference/trace.md explains it."""
        return {
            "schema_version": SCHEMA_VERSION,
            **self.trace,
            "findings": document.findings(self.diagnosis),
            "comparison": self.comparison.document() if self.comparison else None,
            "before": self.before,
        }


def analysed(before: Sequence[Path], files: Sequence[Path], *, stacks: bool) -> Examined:
    """Read one trace, or two of which the first came before, and diagnose the last.

    Args:
        before: the files of the trace before; none where nothing is compared.
        files: the files of the trace.
        stacks: whether to sum calls by their stacks.
    """
    earlier = _read(before, stacks=stacks) if before else None
    return examined(_read(files, stacks=stacks), earlier)


def examined(trace: Trace, earlier: Trace | None = None) -> Examined:
    """Diagnose a trace, and compare it with the one before."""
    comparison = compare(earlier, trace) if earlier else None
    return Examined(trace, diagnose(Chart(), trace=trace), earlier, comparison)


def write(examined: Examined, *, html: Path | None, svg: Path | None, folded: Path | None) -> None:
    """Write what was asked for into files."""
    if html:
        _write(html, trace_html.render(examined.trace, examined.diagnosis, examined.comparison))
    if svg:
        drawn = examined.trace["timeline"]
        if drawn is None:
            raise Refusal("there is no timeline: the trace holds no whole pass of a loop", "leave out --svg")
        _write(svg, timeline.svg(drawn, alone=True))
    if folded:
        _write(folded, trace_html.folded(examined.trace))


def conclude(examined: Examined, *, json: bool) -> None:
    """Print, and end with 0 when there is no finding, 1 when there is one, and 2 when the trace holds no call."""
    if json:
        typer.echo(json_text(examined.document()))
    else:
        typer.echo(trace_terminal.render(examined.trace, examined.diagnosis, examined.comparison))
    if examined.diagnosis.healthy and not examined.trace["trace"]["calls"]:
        raise typer.Exit(2)
    raise typer.Exit(0 if examined.diagnosis.healthy else 1)


def _read(files: Sequence[Path], *, stacks: bool) -> Trace:
    with _progress_of(files) as progress:
        return read(files, stacks=stacks, watch=progress)


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Refusal(f"{file}: {error.strerror}", "name a file that you may write") from error


@contextmanager
def _progress_of(files: Sequence[Path]) -> Iterator[Callable[[int], object] | None]:
    """A progress bar on standard error while reading; none where that is no terminal, or the size is not known."""
    console = Console(stderr=True)
    sizes = [file.stat().st_size for file in files if file.is_file()]
    if not console.is_terminal or len(sizes) < len(files):
        yield None
        return
    with Progress(TextColumn("Reading"), BarColumn(), DownloadColumn(), console=console, transient=True) as bar:
        task = bar.add_task("Reading", total=sum(sizes))
        yield lambda read_bytes: bar.update(task, completed=read_bytes)
