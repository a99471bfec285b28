"""Many files read at once: what each held, in the order in which they were named."""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context

import pyarrow as pa

from doctord.dataset.calltrace import Trace
from doctord.dataset.dataset import arrow_tables
from doctord.errors import UserError
from doctord.read.archive import Piece
from doctord.read.formats import read_source
from doctord.read.plausible import judged
from doctord.read.source import STANDARD_INPUT, Lacks, ReadOptions, Skipped, opened

# Another process costs half a second to begin: less than that is read sooner alone.
WORTH_A_PROCESS_BYTES = 8 << 20
HELD_BACK = 4  # files that wait, read, for each process: memory stays bounded


@dataclass(frozen=True, slots=True)
class FileRead:
    """What one file held.

    Attributes:
        name: What the user calls it.
        format: Name of its format; null where none was found.
        tables: Its rows.
        skipped: The lines that could not be used, the first of each reason.
        skipped_lines: How many these are in all.
        notes: What is to be known of the whole file.
        refusal: Why nothing of it could be used, and what to do; null where something was.
        trace: The call trace that it is; null where it is none.
        lacks: What it does not tell of its times (see `SourceFile`).
        has_states: Whether it is a table with columns of two states, before and after.
    """

    name: str
    format: str | None = None
    tables: dict[str, pa.Table] = field(default_factory=dict)
    skipped: tuple[Skipped, ...] = ()
    skipped_lines: int = 0
    notes: tuple[str, ...] = ()
    refusal: tuple[str, str] | None = None
    trace: Trace | None = None
    lacks: Lacks = ""
    has_states: bool = False


def gather(pieces: Sequence[Piece], options: ReadOptions) -> Iterator[FileRead]:
    """Read files, several at once where that is quicker.

    Args:
        pieces: The files.
        options: What the user says of files that do not say it themselves.

    Raises:
        UserError: a process that read was ended from outside, for want of memory maybe.
    """
    workers = min(len(pieces), os.cpu_count() or 1)
    size = sum(piece.path.stat().st_size for piece in pieces if piece.path != STANDARD_INPUT)
    if workers < 2 or size < WORTH_A_PROCESS_BYTES:
        yield from (read_piece(piece, options) for piece in pieces)
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        try:
            for begin in range(0, len(pieces), workers * HELD_BACK):
                yield from pool.map(partial(read_piece, options=options), pieces[begin : begin + workers * HELD_BACK])
        except BrokenProcessPool as error:
            raise UserError(
                "a process that read files was ended from outside", "for want of memory? read fewer files at once"
            ) from error


def read_piece(piece: Piece, options: ReadOptions) -> FileRead:
    """Read one file; what is wrong with it is in the answer."""
    try:
        with opened(piece.path, options, piece.name) as source:
            reading = read_source(source)
            tables = judged(source, arrow_tables(reading.batches))
    except UserError as refusal:
        return FileRead(piece.name, refusal=(str(refusal), refusal.hint))
    if reading.batches and not tables:
        why = f"{piece.name}: nothing in it can be used: {source.skipped[-1].reason}"
        return FileRead(piece.name, refusal=(why, f"it was taken for {reading.format}"))
    return FileRead(
        piece.name,
        reading.format,
        tables,
        tuple(source.skipped),
        source.skipped_lines,
        tuple(source.notes),
        trace=source.trace,
        lacks=source.lacks,
        has_states=source.has_states,
    )
