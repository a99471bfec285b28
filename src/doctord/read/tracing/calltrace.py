"""System-call traces of strace, truss and perf trace; the native crate reads and analyses them."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from doctord import _native
from doctord.dataset.calltrace import Trace
from doctord.errors import UserError
from doctord.regex import regex

# strace -ff and truss -o NAME.PID: one file for each process, perhaps compressed since.
PART = regex(r"(?P<stem>.+)\.\d+(?:\.(?:gz|zst|xz))?")


def read(paths: Sequence[Path], *, stacks: bool = False, watch: Callable[[int], object] | None = None) -> Trace:
    """Read one call trace and analyse it.

    Args:
        paths: its files: one, or one for each process, perhaps compressed (gz, zst, xz); `-` is standard input.
        stacks: whether to sum calls by the stacks that the trace holds (strace -k).
        watch: called with the bytes read so far.

    Returns:
        What it tells: docs/reference/trace.md explains the keys.

    Raises:
        UserError: a file cannot be read, or is no call trace.
    """
    try:
        return _native.analyse_trace(paths, stacks=stacks, watch=watch)
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else error.strerror
        raise UserError(
            f"{error.filename}: {why}", "name a log of strace, truss or perf trace, or - for stdin"
        ) from error
    except ValueError as error:
        message, hint = error.args
        raise UserError(message, hint) from error


def parts_of_one(paths: Sequence[Path]) -> bool:
    """Whether files are those of one trace, by process: the same name with a process id at its end."""
    matches = [PART.fullmatch(str(path)) for path in paths]
    return len({match and match["stem"] for match in matches}) == 1 and all(matches)
