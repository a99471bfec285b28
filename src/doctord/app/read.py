"""Read files of other tools: what each held, all of them as one dataset, or into a lake."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import polars as pl
import pyarrow as pa

from doctord.app.remarks import nothing_used, remarks
from doctord.app.watcher import SILENT, Watcher
from doctord.dataset.arrow import polars_frame
from doctord.dataset.dataset import Dataset
from doctord.dataset.repeats import without_repeats
from doctord.lake.imports import keep
from doctord.read.archive import found
from doctord.read.gather import FileRead, gather
from doctord.read.source import ReadOptions

# Rows that wait before they are kept in a lake: few and large files come of many, and memory holds so many.
WAITING_ROWS = 2_000_000


@dataclass
class Kept:
    """What became of files: how many were read, and how many rows of each table were new to a lake.

    Attributes:
        lake: Where rows are kept; null: nowhere.
        rows: The new ones by table, added up over files.
        read: How many files were read.
        unread: The files that were not.
    """

    lake: Path | None = None
    rows: dict[str, int] = field(default_factory=dict)
    read: int = 0
    unread: set[str] = field(default_factory=set)
    _waiting: list[FileRead] = field(default_factory=list)
    _waiting_rows: int = 0

    def has_all(self, named: Iterable[Path]) -> bool:
        """Whether something was read, and everything that was named could be."""
        return self.read > 0 and not self.unread & {str(path) for path in named}

    def take(self, file: FileRead) -> None:
        """Count a file, and keep its rows, perhaps later."""
        self.read += file.refusal is None
        self.unread |= {file.name} if file.refusal else set()
        if self.lake is None:
            return
        self._waiting.append(file)
        self._waiting_rows += sum(table.num_rows for table in file.tables.values())
        if self._waiting_rows > WAITING_ROWS:
            self.end()

    def end(self) -> None:
        """Write the rows of all files taken so far into the lake."""
        if not self._waiting or self.lake is None:
            return
        for table, count in keep(self.lake, tables_of(self._waiting)).items():
            self.rows[table] = self.rows.get(table, 0) + count
        self._waiting, self._waiting_rows = [], 0


def each_kept(files: Iterable[FileRead], kept: Kept) -> Iterator[FileRead]:
    """What each file held, as `each_read` gives it; its rows are kept in a lake too, where one is wanted."""
    for file in files:
        yield file
        kept.take(file)
    kept.end()


def each_read(paths: Sequence[Path], options: ReadOptions, watcher: Watcher = SILENT) -> Iterator[FileRead]:
    """What each file held, with those in folders and archives, in order.

    Raises:
        UserError: one of the paths is not there.
    """
    with found(paths) as what:
        yield from (FileRead(unread.name, refusal=(unread.reason, "")) for unread in what.unread)
        with watcher.progress("Reading", len(what.pieces), "files") as progress:
            for count, file in enumerate(gather(what.pieces, options), 1):
                progress(count, file.name.rpartition("/")[2])
                yield file


def dataset_of(paths: Sequence[Path], options: ReadOptions, watcher: Watcher = SILENT) -> Dataset:
    """What several files tell, as a dataset; what is to be known of each file is noted.

    Raises:
        UserError: nothing in them could be used.
    """
    return joined(each_read(paths, options, watcher), watcher, is_verbose=options.is_verbose)


def joined(files: Iterable[FileRead], watcher: Watcher = SILENT, *, is_verbose: bool = False) -> Dataset:
    """The rows of files as a dataset; what is to be known of each file is noted, of many in few lines.

    Raises:
        UserError: nothing in them could be used.
    """
    return Dataset(tables_of(usable(files, watcher, is_verbose=is_verbose)))


def usable(files: Iterable[FileRead], watcher: Watcher = SILENT, *, is_verbose: bool = False) -> list[FileRead]:
    """The files; what is to be known of each is noted, of many in few lines.

    Raises:
        UserError: nothing in them could be used.
    """
    held = list(files)
    is_used = any(file.tables for file in held)
    # Where the one refusal is the error, it is not said twice.
    told = held if is_used or len(held) > 1 else [replace(file, refusal=None) for file in held]
    for line in remarks(told, is_verbose=is_verbose):
        watcher.note(line)
    if not is_used:
        raise nothing_used(held)
    return held


def tables_of(files: Iterable[FileRead]) -> dict[str, pa.Table]:
    """The rows of several files by table; what one tells again of another is left out."""
    parts = dict[str, list[pl.DataFrame]]()
    for file in files:
        for name, table in file.tables.items():
            parts.setdefault(name, []).append(polars_frame(table))
    return {name: pl.concat(without_repeats(name, frames)).to_arrow() for name, frames in parts.items()}
