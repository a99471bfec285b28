"""`doctord read`: what files of other tools hold, and into a lake with it."""

from pathlib import Path
from typing import Annotated

import typer

from doctord.cli import Terminal, app, command
from doctord.cli.arguments import HostNamed, Json, OfFiles, PrometheusNamed, When, argument, flag, in_lake
from doctord.errors import UserError
from doctord.printable import json_text


@command(app)
def read(
    *,
    paths: Annotated[list[Path] | None, argument("Files, folders, archives; - is standard input.")] = None,
    prometheus: PrometheusNamed = None,
    when: When,
    host: HostNamed = None,
    lake: Annotated[Path | None, in_lake("Keep the rows in this lake.")] = None,
    files: OfFiles,
    formats: Annotated[bool, flag("List the formats that are read, and end.", "--formats")] = False,
    json: Json = False,
) -> int:
    """Say what files of other tools hold, or a Prometheus of some time; with --lake, keep it there.

    What a file is, its content tells. Reading the same file again adds nothing. --from, --to and --host are of a
    Prometheus: of files all is read.

    Exit status: 0 read, 2 a file that was named cannot be, or none could, or a wrong option.
    """
    from doctord.app.read import Kept, each_kept, each_read
    from doctord.app.source import Prometheus
    from doctord.read.format import formats as known_formats
    from doctord.report import files_read

    if formats:
        names = [known.NAME for known in known_formats()]
        typer.echo(json_text({"formats": names}) if json else "\n".join(names))
        return 0
    if bool(paths) == bool(prometheus):
        raise UserError(
            "there is nothing to read" if not paths else "either files or a Prometheus",
            "doctord read PATH..., doctord read --prometheus URL, or doctord read --formats",
        )
    if not prometheus and (when.since or when.until or host):
        raise UserError("--from, --to and --host are of a Prometheus", "of files all is read")
    watcher, kept = Terminal(), Kept(lake)
    told = (
        Prometheus(prometheus, host).files(when.interval(), watcher)
        if prometheus
        else each_read(paths or (), files.options(), watcher)
    )
    document = files_read.document(each_kept(told, kept), kept)
    typer.echo(json_text(document) if json else files_read.render(document))
    return 0 if kept.has_all(paths or map(Path, kept.unread)) else 2
