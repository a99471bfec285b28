"""What a use case tells while it works, to be seen on standard error: lines, and how far it is."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from doctord.app.watcher import Progress, Unit, Watcher
from doctord.printable import note


class Terminal(Watcher):
    """Who sits before a terminal, or reads a log of it."""

    def note(self, text: str) -> None:
        """Print a line."""
        note(text)

    @contextmanager
    def progress(self, doing: str, total: float | None, unit: Unit) -> Iterator[Progress]:
        """A bar; where there is no terminal a line, if it is a time to wait. One file is no length.

        Args:
            doing: What is done: `Reading`.
            total: How much there is to do; null where nobody knows.
            unit: Of the total.

        Yields:
            To be called with how much is done, and perhaps a name for what was done last.
        """
        if not sys.stderr.isatty():
            if unit == "s":
                note(f"looking for {total:.0f} s")
            yield lambda done, what="": None  # noqa: ARG005
            return
        # Loaded for a terminal alone: it takes as long as reading 50 MB.
        from rich.console import Console  # noqa: PLC0415
        from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, Progress, TextColumn  # noqa: PLC0415

        console = Console(stderr=True)
        if total is None and unit == "files":
            with console.status(doing) as status:
                yield lambda done, what="": status.update(f"{doing}: {done:.0f} files")  # noqa: ARG005
            return
        if total is None or (unit == "files" and total < 2):
            yield lambda done, what="": None  # noqa: ARG005
            return
        amounts = {
            "s": TextColumn("{task.completed:.0f} of {task.total:.0f} s"),
            "files": MofNCompleteColumn(),
            "hosts": MofNCompleteColumn(),
            "bytes": DownloadColumn(),
        }
        columns = (TextColumn(doing), BarColumn(), amounts[unit], TextColumn("{task.description}", markup=False))
        with Progress(*columns, console=console, transient=True) as bar:
            task = bar.add_task("", total=total)
            yield lambda done, what="": bar.update(task, completed=min(done, total), description=what)
