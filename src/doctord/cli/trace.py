"""`doctord trace`: from a log of system calls to the reason for the delay."""

from pathlib import Path
from typing import Annotated, Literal

from doctord.cli import Terminal, app, command, show
from doctord.cli.arguments import Json, amount, argument, file, flag, length, process
from doctord.errors import UserError
from doctord.report.files import check_writable, write_all
from doctord.units import parse_size, parse_wait


@command(app)
def trace(
    *,
    files: Annotated[
        list[Path] | None, argument("Logs of strace, truss or perf trace; - is standard input.", "FILE")
    ] = None,
    together: Annotated[bool, flag("Take two files as parts of one trace.", "--together")] = False,
    pid: Annotated[int | None, process("Trace this running process instead.")] = None,
    for_: Annotated[str, length("How long, with --pid.", "--for")] = "10s",
    how: Annotated[
        Literal["auto", "bpf", "strace"],
        flag("bpf sums calls in the kernel, strace records each at a high cost to the process; auto: bpf."),
    ] = "auto",
    tree: Annotated[bool, flag("Trace its descendants too, with --pid.")] = True,
    log: Annotated[Path | None, file("Keep the log of strace here.")] = None,
    limit: Annotated[str, amount("Stop at a log of strace this long.")] = "1GiB",
    stacks: Annotated[bool, flag("Sum calls by their stacks (strace -k).", "--stacks")] = False,
    html: Annotated[Path | None, file("Write a page with the timeline of a pass.")] = None,
    svg: Annotated[Path | None, file("Write the timeline alone.")] = None,
    folded: Annotated[Path | None, file("Write flame-graph input: time by call.")] = None,
    json: Json = False,
) -> int:
    """Say from system-call traces where the time went, and why.

    Two files are compared, the earlier one first: what became faster, slower, more or less frequent. Files of one name
    with process ids at the end (strace -ff) are one trace. With --pid a running process is traced now.

    Exit status: 0 no finding above a note, 1 a warning or worse, 2 there is no call in it, or a wrong option.
    """
    if (pid is None) == (not files):
        raise UserError("name either files or a process", "doctord trace FILE, or doctord trace --pid PID --for 10s")
    from doctord.app.traces import files as trace_files
    from doctord.app.traces import live as trace_live

    check_writable(html, svg, folded, log)
    before, watcher = None, Terminal()
    if pid is None:
        before, traced = trace_files.traces(files or [], together=together, stacks=stacks, watcher=watcher)
    else:
        seconds, limit_bytes = parse_wait(for_), parse_size(limit)
        traced = trace_live.trace(pid, seconds, how=how, tree=tree, keep=log, limit_bytes=limit_bytes, watcher=watcher)
    from doctord.app.traces.examine import examined
    from doctord.report.trace import examined as words
    from doctord.report.trace.files import contents

    found = examined(traced, before)
    write_all(contents((html, svg, folded), found.trace, found.diagnosis, found.comparison))
    return show(found, words, json=json)
