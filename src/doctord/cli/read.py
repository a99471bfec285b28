"""`doctord read`: what files of other tools hold, and into a lake with it."""

from pathlib import Path
from typing import Annotated

import typer

from doctord.cli import app, command
from doctord.cli._output import Terminal
from doctord.cli.arguments import Json, OfFiles
from doctord.errors import UserError
from doctord.printable import json_text


@command(app)
def read(
    *,
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="PATH", help="Files, folders, archives; - is standard input.")
    ] = None,
    lake: Annotated[Path | None, typer.Option(metavar="LAKE", help="Keep the rows in this lake.")] = None,
    files: OfFiles,
    formats: Annotated[bool, typer.Option("--formats", help="List the formats that are read, and end.")] = False,
    json: Json = False,
) -> int:
    """Say what files of other tools hold; with --lake, keep it there.

    What a file is, its content tells. Reading the same file again adds nothing.

    Exit status: 0 read, 2 a file that was named cannot be, or none could, or a wrong option.
    """
    from doctord.app.read import Kept, each_read
    from doctord.read.format import formats as known_formats
    from doctord.report import files_read

    if formats:
        names = [known.NAME for known in known_formats()]
        typer.echo(json_text({"formats": names}) if json else "\n".join(names))
        return 0
    if not paths:
        raise UserError("there is nothing to read", "doctord read PATH..., or doctord read --formats")
    held, kept = list[dict[str, object]](), Kept(lake) if lake else None
    for file in each_read(paths, files.options(), Terminal()):
        held.append(files_read.document_of(file))
        if kept:
            kept.take(file)
    if kept:
        kept.end()
    document = {"files": held, "lake": str(lake) if lake else None, "kept": kept.rows if kept else {}}
    typer.echo(json_text(document) if json else files_read.render(document))
    named, unread = {str(path) for path in paths}, {file["file"] for file in held if file["error"]}
    return 0 if len(unread) < len(held) and not named & unread else 2
