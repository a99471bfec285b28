"""How it is going, on standard error: notes, and a bar where that is a terminal."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, ProgressColumn, TextColumn
from rich.progress import Progress as Bars

from doctord.app.watcher import Progress, Unit, Watcher
from doctord.cli._output import note

_AMOUNTS: Final[dict[Unit, ProgressColumn]] = {
    "s": TextColumn("{task.completed:.0f} of {task.total:.0f} s"),
    "files": MofNCompleteColumn(),
    "bytes": DownloadColumn(),
}


class Terminal(Watcher):
    """Who sits before a terminal, or reads a log of it."""

    def note(self, text: str) -> None:
        """Print a line on standard error."""
        note(text)

    @contextmanager
    def progress(self, doing: str, total: float | None, unit: Unit) -> Iterator[Progress]:
        """A bar; where there is no terminal a line, if it is a time to wait. One file is no length."""
        console = Console(stderr=True)
        if console.is_terminal and total is None and unit == "files":
            with console.status(doing) as status:
                yield lambda done, what="": status.update(f"{doing}: {done:.0f} files")  # noqa: ARG005
            return
        if not console.is_terminal or total is None or (unit == "files" and total < 2):
            if unit == "s":
                note(f"looking for {total:.0f} s")
            yield lambda done, what="": None  # noqa: ARG005
            return
        columns = (TextColumn(doing), BarColumn(), _AMOUNTS[unit], TextColumn("{task.description}", markup=False))
        with Bars(*columns, console=console, transient=True) as bar:
            task = bar.add_task("", total=total)
            yield lambda done, what="": bar.update(task, completed=min(done, total), description=what)
