"""Who hears what a use case says of how it goes on."""

from collections.abc import Iterator
from contextlib import contextmanager

from doctord.app.watcher import Progress, Unit, Watcher


class Heard(Watcher):
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.told: list[tuple[str, float | None, Unit, list[float]]] = []

    def note(self, text: str) -> None:
        self.notes.append(text)

    @contextmanager
    def progress(self, doing: str, total: float | None, unit: Unit) -> Iterator[Progress]:
        done: list[float] = []
        self.told.append((doing, total, unit, done))
        yield lambda so_far, what="": done.append(so_far)  # noqa: ARG005
