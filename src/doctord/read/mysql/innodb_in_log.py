"""What InnoDB's monitor prints into an error log (innodb_status_output), taken out while the log itself is read."""

import re
from collections.abc import Iterator
from typing import Final

from doctord._native import Batch
from doctord.read.mysql.innodb_monitor import ENDS, tables_of
from doctord.read.source import SourceFile
from doctord.regex import regex

HEADING: Final = b" INNODB MONITOR OUTPUT"
OLD_HEADING: Final = regex(rb"\d{6} ")
LAST: Final = ENDS.encode()
MOST_BYTES: Final = 2 << 20  # of one output: the server cuts it at 1 MB
ENOUGH_BYTES: Final = 8 << 20


class Monitors:
    """Takes the monitor's outputs out of a log that comes in pieces, and keeps what they tell."""

    def __init__(self, source: SourceFile, db: str, message: re.Pattern[str]) -> None:
        """Nothing was printed yet; `message` matches the lines that are the log's own."""
        self._source = source
        self._db = db
        self._message = re.compile(message.pattern.encode(), re.MULTILINE)
        self._text = bytearray()
        self._open_bytes: int | None = None
        self._batches = list[Batch]()

    def taken_out(self, chunk: bytes) -> bytes:
        """A piece of the log that ends where a line ends, with line ends in place of the monitor's lines."""
        kept, at = bytearray(), 0
        while at < len(chunk):
            if self._open_bytes is None:
                end = self._to_next(chunk, at)
                kept += chunk[at:end]
            else:
                heading = b"" if self._open_bytes else _old_heading(chunk, at)
                end = self._to_end(chunk, at)
                self._text += chunk[at:end]
                kept += heading + b"\n" * chunk.count(b"\n", at + len(heading), end)
            at = end
        return bytes(kept)

    def rest(self) -> Iterator[Batch]:
        """The rows of all outputs taken out so far, at the end of the log."""
        self._understand()
        yield from self._batches

    def _to_next(self, chunk: bytes, at: int) -> int:
        """Where the next output begins, which is then open; the end of the piece where none does."""
        found = chunk.find(HEADING, at)
        if found < 0:
            return len(chunk)
        begin = max(chunk.rfind(b"\n", 0, found) + 1, at)
        if chunk.startswith(LAST, begin):  # of one whose beginning is not there
            return _line_end(chunk, begin)
        if len(self._text) > ENOUGH_BYTES:
            self._understand()
        self._open_bytes = 0
        return begin

    def _to_end(self, chunk: bytes, at: int) -> int:
        """Where the output ends: behind its last line, or before a message of the log."""
        last, message = chunk.find(LAST, at), self._message.search(chunk, at)
        ends = [_line_end(chunk, last)] if last >= 0 else []
        ends += [message.start()] if message else []
        end = min(ends, default=len(chunk))
        self._open_bytes = (self._open_bytes or 0) + end - at
        if ends or self._open_bytes > MOST_BYTES:
            self._open_bytes = None
        return end

    def _understand(self) -> None:
        lines = ((0, line) for line in self._text.decode(errors="replace").splitlines())
        self._batches += tables_of(lines, self._source, self._db)
        self._text.clear()


def _old_heading(chunk: bytes, at: int) -> bytes:
    """The heading of an output as versions before 5.6 print it: what follows without a time is of its moment."""
    line = chunk[at : _line_end(chunk, at)]
    return line if OLD_HEADING.match(line) else b""


def _line_end(chunk: bytes, at: int) -> int:
    return chunk.find(b"\n", at) + 1 or len(chunk)
