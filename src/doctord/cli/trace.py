"""`doctord trace`: from a log of system calls to the reason for the delay."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from doctord.cli import app, command
from doctord.cli._output import Terminal, check_writable, write
from doctord.cli.arguments import Json, positive_s
from doctord.errors import UserError
from doctord.printable import json_text
from doctord.units import parse_size

STANDARD_INPUT = "-"


class How(StrEnum):
    """What traces a running process."""

    AUTO = "auto"
    BPF = "bpf"
    STRACE = "strace"


@command(app)
def trace(
    *,
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE", help="Logs of strace, truss or perf trace; - is standard input."),
    ] = None,
    together: Annotated[bool, typer.Option("--together", help="Take two files as parts of one trace.")] = False,
    pid: Annotated[int | None, typer.Option(metavar="PID", help="Trace this running process instead.")] = None,
    length: Annotated[str, typer.Option("--for", metavar="LENGTH", help="How long, with --pid.")] = "10s",
    how: Annotated[
        How,
        typer.Option(
            help="bpf sums calls in the kernel, strace records each at a high cost to the process; auto: bpf."
        ),
    ] = How.AUTO,
    tree: Annotated[bool, typer.Option(help="Trace its descendants too, with --pid.")] = True,
    log: Annotated[Path | None, typer.Option(metavar="FILE", help="Keep the log of strace here.")] = None,
    limit: Annotated[str, typer.Option(metavar="SIZE", help="Stop at a log of strace this long.")] = "1GiB",
    stacks: Annotated[bool, typer.Option("--stacks", help="Sum calls by their stacks (strace -k).")] = False,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a page with the timeline of a pass.")] = None,
    svg: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the timeline alone.")] = None,
    folded: Annotated[Path | None, typer.Option(metavar="FILE", help="Write flame-graph input: time by call.")] = None,
    json: Json = False,
) -> int:
    """Say from system-call traces where the time went, and why.

    Two files are compared, the earlier one first: what became faster, slower, more or less frequent. Files of one name
    with process ids at the end (strace -ff) are one trace. With --pid a running process is traced now.

    Exit status: 0 no finding above a note, 1 a warning or worse, 2 there is no call in it, or a wrong option.
    """
    if (pid is None) == (not files):
        raise UserError("name either files or a process", "doctord trace FILE, or doctord trace --pid PID --for 10s")
    from doctord.app import trace_files, trace_live

    check_writable(html, svg, folded, log)
    before = None
    if pid is None:
        before, traced = trace_files.traces(*_parts(files or [], together=together), stacks=stacks, watcher=Terminal())
    else:
        traced = trace_live.trace(
            pid,
            positive_s(length),
            how=how.value,
            tree=tree,
            keep=log,
            limit_bytes=parse_size(limit),
            watcher=Terminal(),
        )
    from doctord.app.trace import examined
    from doctord.report.trace import document as trace_document
    from doctord.report.trace import folded as trace_folded
    from doctord.report.trace import terminal as trace_terminal
    from doctord.report.trace import timeline

    found = examined(traced, before)
    shown = (found.trace, found.diagnosis, found.comparison)
    if html:
        from doctord.report.trace.html import render

        write(html, render(*shown))
    if svg:
        drawn = found.trace["timeline"]
        if drawn is None:
            raise UserError("there is no timeline: the trace holds no whole pass of a loop", "leave out --svg")
        write(svg, timeline.svg(drawn, alone=True))
    if folded:
        write(folded, trace_folded.render(found.trace))
    if json:
        typer.echo(json_text(trace_document.document(*shown, before=found.before)))
    else:
        typer.echo(trace_terminal.render(*shown))
    if found.diagnosis.health == "not_healthy":
        return 1
    return 0 if found.trace["trace"]["calls"] else 2


def _parts(files: list[Path], *, together: bool) -> tuple[list[Path], list[Path]]:
    """The files of the trace before, none unless two are compared, and of the trace itself."""
    from doctord.read.tracing.calltrace import parts_of_one

    if sum(str(file) == STANDARD_INPUT for file in files) > 1:
        raise UserError("standard input can be read only once", "write one of the traces into a file")
    compared = len(files) == 2 and not together and not parts_of_one(files)
    return (files[:1], files[1:]) if compared else ([], files)
