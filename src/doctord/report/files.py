"""The files that pages and pictures are written to: refused before the work, written after it."""

import os
from collections.abc import Iterable
from pathlib import Path

from doctord.errors import UserError


def check_writable(*files: Path | None) -> None:
    """Refuse a file that could not be written in the end before anybody waits for it.

    Raises:
        UserError: one of them, where it is not null, is a folder, or may not be written.
    """
    for file in filter(None, files):
        if file.is_dir() or not os.access(file if file.exists() else file.parent, os.W_OK):
            hint = "name a file in a folder that is there and that you may write to"
            raise UserError(f"{file} cannot be written", hint)


def check_new(file: Path | None, kept: str) -> None:
    """Refuse a file that is there already; null is none. `kept` names what somebody keeps in such a file.

    Raises:
        UserError: it is there.
    """
    if file and file.exists():
        raise UserError(f"{file} is there already", f"{kept} that somebody keeps are not overwritten: name another")


def write(file: Path, content: str | bytes) -> None:
    """Write a page or a picture.

    Raises:
        UserError: the file cannot be written.
    """
    try:
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    except OSError as error:
        raise UserError(f"{file}: {error.strerror}", "name a file that you may write") from error


def write_all(contents: Iterable[tuple[Path, str | bytes]]) -> None:
    """Write each file as soon as its content is made.

    Raises:
        UserError: one of them cannot be written.
    """
    for file, content in contents:
        write(file, content)
