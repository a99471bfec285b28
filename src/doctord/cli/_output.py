"""How a command says what it found, in files and by its status, and on standard error how it is going."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from doctord.app.watcher import Progress, Unit, Watcher
from doctord.errors import UserError
from doctord.printable import json_text, note

if TYPE_CHECKING:
    from doctord.app.diagnose import Examination


class Terminal(Watcher):
    """Who sits before a terminal, or reads a log of it."""

    def note(self, text: str) -> None:
        """Print a line on standard error."""
        note(text)

    @contextmanager
    def progress(self, doing: str, total: float | None, unit: Unit) -> Iterator[Progress]:
        """See `report.progress`."""
        from doctord.report.progress import shown

        with shown(doing, total, unit) as done:
            yield done


def status(healthy: bool | None) -> int:
    """The exit status: 0 where all is well, 1 where it is not, 2 where that cannot be told."""
    return 2 if healthy is None else 0 if healthy else 1


def check_writable(*files: Path | None) -> None:
    """Refuse a file that could not be written in the end before anybody waits for it."""
    for file in filter(None, files):
        if file.is_dir() or not os.access(file if file.exists() else file.parent, os.W_OK):
            hint = "name a file in a folder that is there and that you may write to"
            raise UserError(f"{file} cannot be written", hint)


def write(file: Path, content: str | bytes) -> None:
    """Write a page or a picture.

    Raises:
        UserError: the file cannot be written.
    """
    try:
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    except OSError as error:
        raise UserError(f"{file}: {error.strerror}", "name a file that you may write") from error


def conclude(found: "Examination", *, html: Path | None, json: bool, brief: bool = False) -> int:
    """Write the report, print the findings, or briefly the verdict and the report's name; the exit status."""
    from doctord.report import wording
    from doctord.report.diagnosis import document, terminal
    from doctord.report.diagnosis import html as page

    diagnosis, others = found.diagnosis, [other.diagnosis for other in found.others]
    if html:
        write(html, page.render(diagnosis, found.seen.dataset, others))
    if json:
        typer.echo(json_text(document.document(diagnosis, others)))
    elif brief:
        several = [wording.of_several([diagnosis, *others])] if others else []
        typer.echo("\n".join((*map(wording.clean, (*several, wording.verdict(diagnosis))), str(html))))
    else:
        typer.echo(terminal.render(diagnosis, others=others))
    return status(found.healthy)
