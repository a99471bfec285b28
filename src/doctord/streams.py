"""Standard output and standard error that never end in a traceback: other encodings, a full disk, a closed pipe."""

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from doctord.printable import note

_UNWRITABLE: Final = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}


@contextmanager
def harmless_streams() -> Iterator[None]:
    """What an encoding cannot say becomes `?`; what cannot be written ends the program with a word and status 2.

    Whoever closes a pipe, as `head` does, has read enough: the program ends with status 1 and says nothing.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except OSError as error:
        if error.filename is not None or error.errno not in _UNWRITABLE | {errno.EPIPE}:
            raise
        if error.errno != errno.EPIPE:
            note(f"standard output cannot be written: {error.strerror}\nhint: give it a file on a disk with room")
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # else Python tries again when it ends
        sys.exit(1 if error.errno == errno.EPIPE else 2)
