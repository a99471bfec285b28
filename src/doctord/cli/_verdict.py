"""What the commands that end in a verdict share: printing it, the report, and the exit status."""

import os
from pathlib import Path

import typer

from doctord.app.diagnose import Examination
from doctord.cli.arguments import Refusal
from doctord.printable import json_text
from doctord.report import document, terminal
from doctord.report import html as page


def conclude(examination: Examination, *, html: Path | None, json: bool, servers: int = 0) -> None:
    """Print the verdict, write the report, and end with 0 when healthy and 1 with findings.

    It ends with 2 when there is no finding but nothing was seen, or fewer database servers than the user named: nobody
    should take that for health.
    """
    diagnosis = examination.diagnosis
    if html:
        write(html, page.render(diagnosis, examination.seen.chart))
    typer.echo(json_text(document.document(diagnosis)) if json else terminal.render(diagnosis))
    raise typer.Exit(status(examination, servers))


def status(examination: Examination, servers: int = 0) -> int:
    """1 with findings, 2 where nothing was judged, or fewer servers answered than were named; else 0."""
    if not examination.diagnosis.healthy:
        return 1
    return 0 if examination.diagnosis.is_judged and examination.servers >= servers else 2


def check_writable(file: Path) -> None:
    """Refuse a file that could not be written in the end before anybody waits for it."""
    folder = file.parent
    if file.is_dir() or not os.access(file if file.exists() else folder, os.W_OK):
        raise Refusal(f"{file} cannot be written", "name a file in a folder that is there and that you may write to")


def write(file: Path, text: str) -> None:
    """Write a page or a picture; a refusal where the file cannot be written."""
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Refusal(f"{file}: {error.strerror}", "name a file that you may write") from error
