"""What a module that reads one format offers."""

from collections.abc import Iterator
from typing import Protocol

from doctord._native import Batch
from doctord.read.source import Source


class Format(Protocol):
    """A module that reads one format; its docstring is the format's documentation."""

    NAME: str

    def sniff(self, head: str) -> bool:
        """Whether a file that begins so has this format."""
        ...

    def read(self, source: Source) -> Iterator[Batch]:
        """The rows of the file; `source` is told what could not be used, and what is to be known of the whole."""
        ...
