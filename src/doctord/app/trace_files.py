"""Read the traces that are to be examined: one, and perhaps the one before."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path

from doctord.app.watcher import SILENT, Watcher
from doctord.dataset.calltrace import Trace
from doctord.read.tracing.calltrace import read


def traces(
    before: Sequence[Path], files: Sequence[Path], *, stacks: bool, watcher: Watcher = SILENT
) -> tuple[Trace | None, Trace]:
    """Read one trace, or two of which the first came before.

    Args:
        before: the files of the trace before; none where nothing is compared.
        files: the files of the trace.
        stacks: whether to sum calls by their stacks.
        watcher: who is told how it goes on.

    Returns:
        The trace before, if there is one, and the trace.

    Raises:
        UserError: a file cannot be read, or is no call trace.
    """
    # Loading all causes takes as long as reading 200 MB, which leaves Python alone meanwhile.
    with ThreadPoolExecutor(1) as beside:
        beside.submit(import_module, "doctord.app.trace")
        earlier = _read(before, stacks, watcher) if before else None
        return earlier, _read(files, stacks, watcher)


def _read(files: Sequence[Path], stacks: bool, watcher: Watcher) -> Trace:  # noqa: FBT001 - passed on
    sizes = [file.stat().st_size for file in files if file.is_file()]
    total = sum(sizes) if len(sizes) == len(files) else None
    with watcher.progress("Reading", total, "bytes") as progress:
        return read(files, stacks=stacks, watch=progress)
