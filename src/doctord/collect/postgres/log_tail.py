"""The end of a file that is still written: whole lines that were appended since the last look."""

import os
from pathlib import Path
from typing import Final, NamedTuple

# Of one look: the newest. Reading it takes a tenth of a second; a server that logs more logs its statements.
AT_MOST_BYTES: Final = 2**24


class Appended(NamedTuple):
    """Whole lines, and which part (0 to 1] of all that was appended they are; below 1 the oldest were left out.

    `bytes` is how much was appended in all, lines that are not ended yet and those left out included.
    """

    lines: bytes
    part: float
    bytes: int


class LogTail:
    """A file from its end on, wherever it is cut off or truncated."""

    def __init__(self, path: str | Path) -> None:
        """Open it: what is appended from now on is read.

        Raises:
            OSError: It may not be read.
        """
        self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        self._rest = b""
        os.lseek(self._file, 0, os.SEEK_END)

    def appended(self) -> Appended:
        """What was appended since the last call; what is not ended yet waits for the next one."""
        try:
            size, at = os.fstat(self._file).st_size, os.lseek(self._file, 0, os.SEEK_CUR)
            if size < at:  # it was truncated, as logrotate's copytruncate does
                at, self._rest = os.lseek(self._file, 0, os.SEEK_SET), b""
            left_out = max(size - at - AT_MOST_BYTES, 0)
            os.lseek(self._file, at + left_out, os.SEEK_SET)
            new = os.read(self._file, AT_MOST_BYTES)
        except OSError:
            return Appended(b"", 1.0, 0)
        begun, total = self._rest, len(new) + left_out
        if left_out:
            begun, (_, _, new) = b"", new.partition(b"\n")  # without the line that began before
        whole, end, self._rest = (begun + new).rpartition(b"\n")
        self._rest = self._rest if len(self._rest) < AT_MOST_BYTES else b""  # no log: it has no lines
        return Appended(whole + end, len(new) / total if left_out else 1.0, total)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)
