"""Tables by what is read of them into the buffer pool against their size: which of them are worth keeping in memory."""

from typing import Final, NamedTuple

import polars as pl

from doctord.analyse import figures
from doctord.dataset.dataset import Dataset

# PostgreSQL counts the blocks of a table, and those of all its indexes.
READS: Final = ("pg_statio_user_tables.heap_blks_read", "pg_statio_user_tables.idx_blks_read")
BLOCK_BYTES: Final = 8192


class TableReads(NamedTuple):
    """A table (`database.schema.name`), its size, what is read of it, and its share (0 to 1) of all reads."""

    db: str | None
    name: str
    size_bytes: int
    bytes_per_s: float
    share: float

    @property
    def read_whole_s(self) -> float:
        """Seconds in which as much is read as the table is large."""
        return self.size_bytes / self.bytes_per_s


def table_reads(dataset: Dataset) -> list[TableReads]:
    """The tables that are read from outside the buffer pool, most read first; those of unknown size are left out."""
    per_s: dict[tuple[str | None, str], float] = {}
    for figure in (figure for name in READS for figure in figures.figures(dataset, name)):
        if figure.entity and figure.mean > 0:
            key = (figure.db, figure.entity)
            per_s[key] = per_s.get(key, 0.0) + figure.mean * BLOCK_BYTES
    total, sizes = sum(per_s.values()), _sizes(dataset)
    found = [TableReads(*key, sizes[key], read, read / total) for key, read in per_s.items() if sizes.get(key)]
    return sorted(found, key=lambda table: (-table.bytes_per_s, table.name))


def _sizes(dataset: Dataset) -> dict[tuple[str | None, str], int]:
    tables = dataset.frame("space").filter((pl.col("kind") == "table") & pl.col("used_bytes").is_not_null())
    named = tables.select("db", pl.concat_str("database", "name", separator="."), "used_bytes")
    return {(db, name): size for db, name, size in named.iter_rows()}
