"""What a module that reads one format offers, and all of them: each module below a folder here that declares `RANK`."""

from collections.abc import Iterator
from enum import IntEnum
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules, walk_packages
from typing import Protocol, cast

from doctord._native import Batch
from doctord.read.source import SourceFile


class Rank(IntEnum):
    """When a format is asked whether a file is its own. No two of one rank take the same file."""

    ARCHIVE = 1
    """It holds what other tools printed: their formats would each take a part for the whole."""
    NAMED = 2
    """The file says what it is: by magic bytes, a banner, a heading, names of its own."""
    SHAPE = 3
    """Only the shape of the lines tells: another format may be written so too."""
    ANY_TABLE = 4
    """Any text in columns that has what is needed."""


class Format(Protocol):
    """A module that reads one format; its docstring is the format's documentation."""

    __name__: str
    NAME: str
    RANK: Rank

    def sniff(self, head: str) -> bool:
        """Whether a file that begins so has this format."""
        ...

    def read(self, source: SourceFile) -> Iterator[Batch]:
        """The rows of the file; `source` is told what could not be used, and what is to be known of the whole."""
        ...


@cache
def formats() -> tuple[Format, ...]:
    """All formats, in the order in which they are asked."""
    here = [str(Path(__file__).parent)]
    folders = [found.name for found in iter_modules(here, "doctord.read.") if found.ispkg]
    modules = [
        import_module(found.name)
        for folder in folders
        for found in walk_packages(import_module(folder).__path__, f"{folder}.")
    ]
    readers = [cast("Format", module) for module in modules if "RANK" in vars(module)]
    return tuple(sorted(readers, key=lambda reader: reader.RANK))
