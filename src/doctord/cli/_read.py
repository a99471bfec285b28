"""What `doctord read` prints."""

import json as json_text
from collections.abc import Sequence
from pathlib import Path

import typer

from doctord.app.read import Kept, each_read
from doctord.cli._terminal import Terminal
from doctord.read.format import formats
from doctord.read.source import Told
from doctord.report import files_read


def list_formats(*, json: bool) -> None:
    """Print the formats that are read."""
    names = [known.NAME for known in formats()]
    typer.echo(json_text.dumps({"formats": names}, indent=2) if json else "\n".join(names))


def read(paths: Sequence[Path], told: Told, lake: Path | None, *, json: bool) -> int:
    """Read files, keep their rows where a lake is named, and print what each held; the exit status."""
    held, kept = list[dict[str, object]](), Kept(lake) if lake else None
    for file in each_read(paths, told, Terminal()):
        held.append(files_read.document_of(file))
        if kept:
            kept.take(file)
    if kept:
        kept.end()
    document = {"files": held, "lake": str(lake) if lake else None, "kept": kept.rows if kept else {}}
    typer.echo(json_text.dumps(document, indent=2) if json else files_read.render(document))
    named = {str(path) for path in paths}
    read_some = any(file["error"] is None for file in held)
    return 0 if read_some and not any(file["error"] and file["file"] in named for file in held) else 2
