"""`doctord trace`: from a log of system calls to the reason for the delay."""

from pathlib import Path
from typing import Annotated

import typer

from doctord.cli import app
from doctord.cli.arguments import Refusal, said

STANDARD_INPUT = "-"


@app.command()
def trace(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Logs of strace, truss or perf trace; - is standard input.")
    ],
    together: Annotated[bool, typer.Option("--together", help="Take two files as parts of one trace.")] = False,
    stacks: Annotated[bool, typer.Option("--stacks", help="Sum calls by their stacks (strace -k).")] = False,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a page with the timeline of a pass.")] = None,
    svg: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the timeline alone.")] = None,
    folded: Annotated[Path | None, typer.Option(metavar="FILE", help="Write flame-graph input: time by call.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Say from system-call traces where the time went, and why.

    Two files are compared, the earlier one first: what became faster, slower, more or less frequent. Files of one name
    with process ids at the end (strace -ff) are one trace.
    """
    with said():
        from doctord.cli._trace import analysed, conclude, write

        outputs = [file for file in (html, svg, folded) if file]
        before, after = _traces(files, together=together)
        examined = analysed(before, after, stacks=stacks, outputs=outputs)
        write(examined, html=html, svg=svg, folded=folded)
        conclude(examined, json=json)


def _traces(files: list[Path], *, together: bool) -> tuple[list[Path], list[Path]]:
    """The files of the trace before, none unless two are compared, and of the trace itself."""
    from doctord.read.calltrace import parts_of_one

    if sum(str(file) == STANDARD_INPUT for file in files) > 1:
        raise Refusal("standard input can be read only once", "write one of the traces into a file")
    compared = len(files) == 2 and not together and not parts_of_one(files)
    return (files[:1], files[1:]) if compared else ([], files)
