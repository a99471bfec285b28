"""A file that is read: its lines, whatever it is packed in, and what could not be used of them."""

import io
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, tzinfo
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Literal, NamedTuple, TypeAlias

from doctord.dataset.calltrace import Trace
from doctord.errors import UserError
from doctord.read.unpack import HEAD_BYTES, MOST_WHOLE_BYTES, UNPACK_ERRORS, unpacked

Lacks: TypeAlias = Literal["", "date", "time of day", "time"]

STANDARD_INPUT = Path("-")
LONGEST_LINE = 1 << 20
CHUNK_BYTES = 1 << 22
MOST_TOLD = 20  # lines of one reason that are named one by one
BOMB_BYTES = 1 << 30  # what unpacks to more than this, and to BOMB_RATIO times its size, is not believed
BOMB_RATIO = 1000


class Skipped(NamedTuple):
    """A line that could not be used, and why; line 0 stands for many."""

    file: str
    line: int
    reason: str

    def __str__(self) -> str:
        """As it is told to the user."""
        return f"{self.file}:{self.line}: {self.reason}" if self.line else f"{self.file}: {self.reason}"


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What the user says of files that do not say it themselves.

    Attributes:
        zone: The zone of times without one.
        unit_us: Microseconds in the unit of latencies without one.
        day: The date of the first time of day without one.
        every_s: Seconds between reports that have no times at all.
        is_verbose: Whether each file that cannot be used is named; else many in one line.
        state: Of tables with columns of two states the one that is read; null: `before`, and it is said.
    """

    zone: tzinfo | None = None
    unit_us: float | None = None
    day: date | None = None
    every_s: float | None = None
    is_verbose: bool = False
    state: Literal["before", "after"] | None = None


@dataclass
class SourceFile:
    """A file to be read once.

    Attributes:
        name: What to call it.
        head: Its beginning, by which its format is found; of a binary file each byte is a character (latin-1).
        options: What the user says of it.
        host: What the rows are said to come from; a format that knows better sets it.
        path: The file; null for standard input and members of archives.
        modified: When it was last written; null where nobody knows.
        size_bytes: Its size as it lies there, packed maybe; null where nobody knows.
        skipped: The lines that could not be used, the first of each reason.
        skipped_lines: How many these are in all.
        notes: What is to be known of the whole file.
        trace: The call trace that it is, once it was read.
        has_states: Whether it is a table with columns of two states.
        lacks: What it does not tell of its times: the `date`, the `time of day`, both (`time`); empty: it tells them.
    """

    name: str
    head: str
    stream: io.BufferedReader
    options: ReadOptions = field(default_factory=ReadOptions)
    host: str | None = None
    path: Path | None = None
    modified: datetime | None = None
    size_bytes: int | None = None
    skipped: list[Skipped] = field(default_factory=list)
    skipped_lines: int = 0
    notes: list[str] = field(default_factory=list)
    trace: Trace | None = None
    has_states: bool = False
    lacks: Lacks = ""
    _counted: dict[str, int] = field(default_factory=dict)

    @property
    def zone(self) -> tzinfo | None:
        """The zone of times that do not say theirs; null: not told."""
        return self.options.zone

    @property
    def unit_us(self) -> float | None:
        """Microseconds in the unit of values that do not say theirs; null: not told."""
        return self.options.unit_us

    @property
    def day(self) -> date | None:
        """The date of the first time of day; null: not told."""
        return self.options.day

    @property
    def every_s(self) -> float | None:
        """Seconds between reports that do not say when they were; null: not told."""
        return self.options.every_s

    def lines(self) -> Iterator[tuple[int, str]]:
        """Number and text of each line, without its end; what is no UTF-8 is replaced, what is too long is cut."""
        number, read_bytes, is_rest = 0, 0, False
        while piece := self._line(number + 1):
            read_bytes += len(piece)
            if read_bytes > BOMB_BYTES and self._is_bomb(read_bytes):
                self.skip(number + 1, f"the rest is left: it unpacks to more than {BOMB_RATIO} times its size")
                break
            begins, is_rest = not is_rest, not piece.endswith(b"\n") and len(piece) == LONGEST_LINE
            if begins:
                number += 1
                yield number, piece.decode(errors="replace").rstrip("\r\n")
                if is_rest:
                    self.skip(number, f"longer than {LONGEST_LINE >> 20} MiB: the rest of the line is left")
        self.sum_up()

    def chunks(self) -> Iterator[bytes]:
        """The content in pieces of some MiB that end where a line ends (but for the last)."""
        rest, read_bytes = b"", 0
        while piece := self._piece():
            read_bytes += len(piece)
            if read_bytes > BOMB_BYTES and self._is_bomb(read_bytes):
                self.note(f"the rest is left: it unpacks to more than {BOMB_RATIO} times its size")
                break
            end = piece.rfind(b"\n") + 1
            if end:
                yield rest + piece[:end]
                rest = piece[end:]
            else:
                rest += piece
                if len(rest) > CHUNK_BYTES:
                    yield rest
                    rest = b""
        if rest:
            yield rest

    def content(self) -> bytes:
        """All of it, unpacked.

        Raises:
            UserError: it is larger than a report can be.
        """
        held = bytearray()
        while piece := self._piece():
            held += piece
            if len(held) > MOST_WHOLE_BYTES:
                raise UserError(
                    f"{self.name} unpacks to more than {MOST_WHOLE_BYTES >> 30} GiB", "no report is so large"
                )
        return bytes(held)

    @contextmanager
    def as_file(self) -> Iterator[Path]:
        """The unpacked content as a file for other programs to read: the file itself where it is plain."""
        if self.path is not None and not self._is_unpacked():
            yield self.path
            return
        with NamedTemporaryFile(prefix="doctord-") as copy:
            try:
                shutil.copyfileobj(self.stream, copy)
            except UNPACK_ERRORS as error:
                self.note(f"the rest cannot be unpacked: {error}")
            copy.flush()
            yield Path(copy.name)

    def skip(self, line: int, reason: str) -> None:
        """Say that a line was not used; after some of the same reason they are only counted."""
        self.skipped_lines += 1
        self._counted[reason] = self._counted.get(reason, 0) + 1
        if self._counted[reason] <= MOST_TOLD:
            self.skipped.append(Skipped(self.name, line, reason))

    def leave_out(self, count: int, reason: str) -> None:
        """Say that so many rows are not used, where nobody knows any more on which lines they stood."""
        self.skipped_lines += count
        self.skipped.append(Skipped(self.name, 0, reason))

    def note(self, text: str) -> None:
        """Say, once, what is to be known of the whole file."""
        if text not in self.notes:
            self.notes.append(text)

    def place(self, lacks: Lacks, text: str) -> None:
        """Say what it does not tell of its times, and where its rows are placed instead."""
        self.lacks = lacks
        self.note(text)

    def sum_up(self) -> None:
        """Say how many lines were skipped beyond those that were named."""
        for reason, count in self._counted.items():
            if count > MOST_TOLD:
                self.skipped.append(Skipped(self.name, 0, f"{count - MOST_TOLD} more lines: {reason}"))
        self._counted.clear()

    def _line(self, number: int) -> bytes:
        """The next line, or a piece of one that is too long; empty at the end, or where the rest cannot be unpacked."""
        try:
            return self.stream.readline(LONGEST_LINE)
        except UNPACK_ERRORS as error:
            self.skip(number, f"the rest cannot be unpacked: {error}")
            return b""

    def _piece(self) -> bytes:
        try:
            return self.stream.read(CHUNK_BYTES)
        except UNPACK_ERRORS as error:
            self.note(f"the rest cannot be unpacked: {error}")
            return b""

    def _is_bomb(self, read_bytes: int) -> bool:
        return self.size_bytes is not None and read_bytes > BOMB_RATIO * self.size_bytes

    def _is_unpacked(self) -> bool:
        """Whether the stream is not the file as it lies there; a mark of its encoding was read already."""
        return not isinstance(self.stream.raw, io.FileIO) or self.stream.tell() > 0


@contextmanager
def opened(path: Path, options: ReadOptions | None = None, name: str | None = None) -> Iterator[SourceFile]:
    """A file, or standard input (`-`), unpacked where it is packed; `name` is what to call it if not by its path.

    Raises:
        UserError: it cannot be read, is empty, or is no file: whoever opens a pipe may wait for ever.
    """
    name = name or ("standard input" if path == STANDARD_INPUT else str(path))
    refuse_pipe(path)
    with ExitStack() as opened_files:
        try:
            # Unbuffered below: what a pipe holds by now is read at once, without waiting for more.
            descriptor = os.dup(sys.stdin.fileno()) if path == STANDARD_INPUT else os.open(path, os.O_RDONLY)
            raw = opened_files.enter_context(io.FileIO(descriptor))
            about = os.fstat(descriptor)
        except OSError as error:
            raise _unreadable(name, error.strerror or str(error)) from error
        source = source_of(raw, name, options)
        if path != STANDARD_INPUT:
            source.path, source.size_bytes = path, about.st_size
            source.modified = datetime.fromtimestamp(about.st_mtime, UTC)
        yield source


def refuse_pipe(path: Path) -> None:
    """Refuse what is there and is neither a file nor a folder.

    Raises:
        UserError: it is a pipe, a socket or a device.
    """
    if path != STANDARD_INPUT and path.exists() and not path.is_file() and not path.is_dir():
        raise UserError(f"{path} is a pipe, a socket or a device, not a file", f"doctord ... - < {path} reads a pipe")


def source_of(raw: IO[bytes], name: str, options: ReadOptions | None = None) -> SourceFile:
    """A stream of bytes as a source.

    Raises:
        UserError: it cannot be read, or is empty.
    """
    try:
        stream = unpacked(raw)
        head = stream.peek(HEAD_BYTES)[:HEAD_BYTES]
    except UNPACK_ERRORS as error:
        if isinstance(error, OSError) and error.strerror:
            raise _unreadable(name, error.strerror) from error
        raise UserError(f"{name} cannot be unpacked: {error}", "is it whole? fetch or pack it anew") from error
    if not head:
        raise UserError(f"{name} is empty", "did what wrote it see anything?")
    text = head.decode("latin-1") if b"\0" in head else head.decode(errors="replace")
    return SourceFile(name, text, stream, options or ReadOptions())


def _unreadable(name: str, why: str) -> UserError:
    return UserError(f"{name} cannot be read: {why}", "name a file that is there and that you may read")
