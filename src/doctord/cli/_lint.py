"""What `doctord lint` does: the settings as a chart, their examination, and how it is printed."""

import json as json_text
from collections.abc import Sequence
from pathlib import Path

import typer

from doctord.chart.chart import Chart
from doctord.cli import _read
from doctord.cli._verdict import recorded
from doctord.cli.arguments import Refusal
from doctord.collect.patient import Patient
from doctord.collect.schedule import collect_for
from doctord.lint import engine
from doctord.lint.remark import Severity
from doctord.read.source import Told
from doctord.report import lint_document, lint_terminal

LOOK_S = 2.0  # two samples: settings come with the first, rates with the second


def chart_of(paths: Sequence[Path], dsns: Sequence[str], measured: Path | None, since: str, until: str) -> Chart:
    """Settings of files, or of this host and its servers, and what a lake tells of their workload.

    Raises:
        Refusal: files and servers are both named, or nothing can be read.
    """
    if paths and dsns:
        raise Refusal("either files or servers", "lint the files first, then the server: --dsn without PATH")
    charts = [_read.chart_of(paths, Told()) if paths else _of_this_host(dsns)]
    if measured:
        charts.append(recorded(measured, since, until, "1d")[0])
    return Chart.joined(charts)


def conclude(chart: Chart, *, json: bool) -> int:
    """Print what the rules say; the exit status is 1 when something is worse than a note.

    Raises:
        Refusal: there was nothing to judge.
    """
    examined = engine.examine(chart)
    if not examined.looked_at:
        raise Refusal("there is no setting in what was read", "doctord read PATH says what each file is")
    document = lint_document.document(examined)
    typer.echo(json_text.dumps(document, indent=2, ensure_ascii=False) if json else lint_terminal.render(examined))
    return 1 if examined.worst is not None and examined.worst > Severity.NOTE else 0


def _of_this_host(dsns: Sequence[str]) -> Chart:
    return Chart.from_batches(collect_for(Patient(databases=True, dsns=dsns).collectors(), LOOK_S))
