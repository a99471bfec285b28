"""`doctord read`: what files of other tools hold, and into a lake with it."""

from pathlib import Path
from typing import Annotated

import typer

from doctord.cli import app
from doctord.cli.arguments import Day, Every, Refusal, Unit, Zone, said


@app.command()
def read(
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="PATH...", help="Files, folders, archives; - is standard input.")
    ] = None,
    *,
    lake: Annotated[Path | None, typer.Option(metavar="LAKE", help="Keep the rows in this lake.")] = None,
    zone: Zone = None,
    day: Day = None,
    every: Every = None,
    unit: Unit = None,
    formats: Annotated[bool, typer.Option("--formats", help="List the formats that are read, and end.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Say what files of other tools hold; with --lake, keep it there.

    What a file is, its content tells. Reading the same file again adds nothing.

    Exit status: 0 read, 2 a file that was named cannot be, or none could, or a wrong option.
    """
    with said():
        from doctord.cli import _read

        if formats:
            _read.list_formats(json=json)
            return
        if not paths:
            raise Refusal("there is nothing to read", "doctord read PATH..., or doctord read --formats")
        from doctord.cli._sources import told

        raise typer.Exit(_read.read(paths, told(zone, day, every, unit), lake, json=json))
