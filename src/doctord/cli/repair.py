"""`doctord repair`: set right what `doctord verify` finds."""

from pathlib import Path
from typing import Annotated

import typer

from doctord.cli import app
from doctord.cli.arguments import said


@app.command()
def repair(
    lake: Annotated[Path | None, typer.Argument(metavar="[LAKE]", help="The lake (default: the usual place).")] = None,
    *,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Cut damage out of a lake, and set aside what cannot be read: in LAKE/set_aside, nothing is deleted.

    Files written by an older doctord get checksums. The recorder of this lake must be stopped.

    Exit status: 0 the lake is right now, 2 there is no lake, or a wrong option.
    """
    with said():
        from doctord.cli import _verify

        raise typer.Exit(_verify.repair(lake, json=json))
