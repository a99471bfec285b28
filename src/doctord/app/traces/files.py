"""Read the traces that are to be examined: one, and perhaps the one before."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path

from doctord.app.watcher import SILENT, Watcher
from doctord.dataset.calltrace import Trace
from doctord.errors import UserError
from doctord.read.source import STANDARD_INPUT
from doctord.read.tracing.calltrace import parts_of_one, read


def traces(
    files: Sequence[Path], *, together: bool = False, stacks: bool = False, watcher: Watcher = SILENT
) -> tuple[Trace | None, Trace]:
    """Read one trace, or two of which the first came before.

    Args:
        files: the parts of a trace, or two traces.
        together: whether two files are parts of one trace whatever their names.
        stacks: whether to sum calls by their stacks.
        watcher: who is told how it goes on.

    Returns:
        The trace before, if two are compared, and the trace.

    Raises:
        UserError: a file cannot be read, or is no call trace; standard input is named twice.
    """
    before, files = _parts(files, together=together)
    # Loading all causes takes as long as reading 200 MB, which leaves Python alone meanwhile.
    with ThreadPoolExecutor(1) as beside:
        beside.submit(import_module, "doctord.app.traces.examine")
        earlier = _read(before, stacks, watcher) if before else None
        return earlier, _read(files, stacks, watcher)


def _parts(files: Sequence[Path], *, together: bool) -> tuple[Sequence[Path], Sequence[Path]]:
    """The files of the trace before, none unless two are compared, and of the trace itself."""
    if files.count(STANDARD_INPUT) > 1:
        raise UserError("standard input can be read only once", "write one of the traces into a file")
    compared = len(files) == 2 and not together and not parts_of_one(files)
    return (files[:1], files[1:]) if compared else ([], files)


def _read(files: Sequence[Path], stacks: bool, watcher: Watcher) -> Trace:  # noqa: FBT001 - passed on
    sizes = [file.stat().st_size for file in files if file.is_file()]
    total = sum(sizes) if len(sizes) == len(files) else None
    with watcher.progress("Reading", total, "bytes") as progress:
        return read(files, stacks=stacks, watch=progress)
