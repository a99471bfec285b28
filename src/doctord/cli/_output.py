"""How a command says what it found, in files and by its status, and on standard error how it is going."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar

import typer

from doctord.app.sources.hosts import Judged
from doctord.app.watcher import Progress, Unit, Watcher
from doctord.errors import UserError
from doctord.printable import json_text, note

Found = TypeVar("Found", bound=Judged)
Found_contra = TypeVar("Found_contra", contravariant=True)


class Words(Protocol[Found_contra]):
    """A module of `report/` that says what a use case found."""

    def document(self, found: Found_contra, /) -> Any:  # noqa: ANN401 - whatever JSON takes
        """The JSON document."""

    def render(self, found: Found_contra, /) -> str:
        """The same, to be read on a terminal."""


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


def show(found: Found, words: Words[Found], *, json: bool) -> int:
    """Print what was found, as one JSON document or to be read; the exit status."""
    typer.echo(json_text(words.document(found)) if json else words.render(found))
    return status(found.healthy)
