"""`doctord verify`: whether a lake is what was written to it."""

from pathlib import Path
from typing import Annotated

import typer

from doctord.cli import app
from doctord.cli.arguments import said


@app.command()
def verify(
    lake: Annotated[Path | None, typer.Argument(metavar="[LAKE]", help="The lake (default: the usual place).")] = None,
    *,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Read every file of a lake to its end, hold it against its checksums, and name what is damaged.

    Nothing is changed, and a recorder may go on writing.

    Exit status: 0 sound, 1 something is damaged or missing, 2 there is no lake, or a wrong option.
    """
    with said():
        from doctord.cli import _verify

        raise typer.Exit(_verify.verify(lake, json=json))
