"""What a use case tells while it works: a line beside its result, and how far it is."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Literal, Protocol, TypeAlias

Unit: TypeAlias = Literal["s", "files", "hosts", "bytes"]


class Progress(Protocol):
    """To be called with how much is done, and perhaps a name for what was done last."""

    def __call__(self, done: float, what: str = "") -> None:
        """So much is done."""


class Watcher:
    """Who is told; this one does not listen. A face says it in its own way."""

    def note(self, text: str) -> None:
        """Something to be known beside the result; a hint stands on a line of its own that begins with `hint: `."""

    @contextmanager
    def progress(self, doing: str, total: float | None, unit: Unit) -> Iterator[Progress]:  # noqa: ARG002 - it does not listen
        """How far work of some length is.

        Args:
            doing: What is done: `Reading`.
            total: How much there is to do; null where nobody knows.
            unit: Of the total.
        """
        yield lambda done, what="": None  # noqa: ARG005


SILENT: Final = Watcher()
