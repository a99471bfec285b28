"""`doctord read`: what files of other tools hold, and into a lake with it."""

from pathlib import Path
from typing import Annotated

import typer

from doctord.cli import Terminal, app, command
from doctord.cli.arguments import Json, OfFiles, argument, flag, in_lake
from doctord.errors import UserError
from doctord.printable import json_text


@command(app)
def read(
    *,
    paths: Annotated[list[Path] | None, argument("Files, folders, archives; - is standard input.")] = None,
    lake: Annotated[Path | None, in_lake("Keep the rows in this lake.")] = None,
    files: OfFiles,
    formats: Annotated[bool, flag("List the formats that are read, and end.", "--formats")] = False,
    json: Json = False,
) -> int:
    """Say what files of other tools hold; with --lake, keep it there.

    What a file is, its content tells. Reading the same file again adds nothing.

    Exit status: 0 read, 2 a file that was named cannot be, or none could, or a wrong option.
    """
    from doctord.app.read import Kept, each_kept
    from doctord.read.format import formats as known_formats
    from doctord.report import files_read

    if formats:
        names = [known.NAME for known in known_formats()]
        typer.echo(json_text({"formats": names}) if json else "\n".join(names))
        return 0
    if not paths:
        raise UserError("there is nothing to read", "doctord read PATH..., or doctord read --formats")
    kept = Kept(lake)
    document = files_read.document(each_kept(paths, kept, files.options(), Terminal()), kept)
    typer.echo(json_text(document) if json else files_read.render(document))
    return 0 if kept.has_all(paths) else 2
