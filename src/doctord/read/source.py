"""A file that is read: its lines, whatever it is packed in, and what could not be used of them."""

import io
import lzma
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast
from zoneinfo import ZoneInfo

import pyarrow as pa

from doctord.errors import Refusal

STANDARD_INPUT = Path("-")
HEAD_BYTES = 1 << 16
LONGEST_LINE = 1 << 20
MOST_TOLD = 20  # lines of one reason that are named one by one
PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"\xfd7zXZ": "xz", b"BZh": "bz2"}


@dataclass(frozen=True, slots=True)
class Skipped:
    """A line that could not be used, and why; line 0 is the file as a whole."""

    file: str
    line: int
    reason: str

    def __str__(self) -> str:
        """As it is told to the user."""
        return f"{self.file}:{self.line}: {self.reason}" if self.line else f"{self.file}: {self.reason}"


@dataclass
class Source:
    """A text to be read once, line by line.

    Attributes:
        name: What to call it.
        head: Its beginning, by which its format is found.
        zone: The zone of times that do not say theirs; null: such times cannot be placed.
        unit_us: Microseconds in the unit of values that do not say theirs; null: not told.
        host: What the rows are said to come from; a format that knows better sets it.
    """

    name: str
    head: str
    stream: io.BufferedReader
    zone: ZoneInfo | None = None
    unit_us: float | None = None
    host: str | None = None
    skipped: list[Skipped] = field(default_factory=list)
    _told: dict[str, int] = field(default_factory=dict)

    def lines(self) -> Iterator[tuple[int, str]]:
        """Number and text of each line, without its end; what is no UTF-8 is replaced."""
        number = 0
        while True:
            try:
                line = self.stream.readline(LONGEST_LINE)
            except (OSError, EOFError, lzma.LZMAError) as error:
                self.skip(number + 1, f"the rest cannot be unpacked: {error}")
                break
            if not line:
                break
            number += 1
            yield number, line.decode(errors="replace").rstrip("\r\n")
        for reason, count in self._told.items():
            if count > MOST_TOLD:
                self.skipped.append(Skipped(self.name, 0, f"{count - MOST_TOLD} more lines: {reason}"))

    def skip(self, line: int, reason: str) -> None:
        """Say that a line was not used; after some of the same reason they are only counted, of the whole file one."""
        self._told[reason] = self._told.get(reason, 0) + 1 if line else 1
        if self._told[reason] <= MOST_TOLD and (line or Skipped(self.name, 0, reason) not in self.skipped):
            self.skipped.append(Skipped(self.name, line, reason))


@contextmanager
def opened(path: Path, zone: ZoneInfo | None = None, unit_us: float | None = None) -> Iterator[Source]:
    """A file, or standard input (`-`), unpacked where it is gzip, zstd, xz or bz2, as UTF-8 or UTF-16.

    Raises:
        Refusal: it cannot be read, or is empty.
    """
    name = "standard input" if path == STANDARD_INPUT else str(path)
    with ExitStack() as opened_files:
        try:
            # Unbuffered below: what a pipe holds by now is read at once, without waiting for more.
            descriptor = os.dup(sys.stdin.fileno()) if path == STANDARD_INPUT else os.open(path, os.O_RDONLY)
            raw = opened_files.enter_context(io.FileIO(descriptor))
            stream = _unpacked(io.BufferedReader(raw, HEAD_BYTES))
            head = stream.peek(HEAD_BYTES)[:HEAD_BYTES]
        except (OSError, EOFError, lzma.LZMAError) as error:
            why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise Refusal(f"{name} cannot be read: {why}", "name a file that is there and that you may read") from error
        if not head:
            raise Refusal(f"{name} is empty", "did what wrote it see anything?")
        if head[:2] in {b"\xff\xfe", b"\xfe\xff"}:
            text = stream.read().decode("utf-16", errors="replace").encode()
            stream.close()
            stream, head = io.BufferedReader(cast("io.RawIOBase", io.BytesIO(text))), text[:HEAD_BYTES]
        yield Source(name, head.decode(errors="replace"), stream, zone, unit_us)


def _unpacked(packed: io.BufferedReader) -> io.BufferedReader:
    magic = packed.peek(8)[:8]
    kind = next((kind for begin, kind in PACKED.items() if magic.startswith(begin)), None)
    if kind is None:
        return packed
    if kind == "xz":
        return io.BufferedReader(cast("io.RawIOBase", lzma.LZMAFile(packed)), HEAD_BYTES)
    return io.BufferedReader(pa.CompressedInputStream(pa.PythonFile(packed), kind), HEAD_BYTES)
