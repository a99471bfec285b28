"""GIN indexes whose new entries go to a pending list first, and what it costs to look into them."""

from dataclasses import dataclass
from typing import Final

import polars as pl

from doctord.analyse.figures import figures
from doctord.analyse.sql.indexes import COMPONENT, Index, indexes
from doctord.dataset.dataset import Dataset

BLOCKS: Final = ("pg_statio_user_indexes.idx_blks_hit", "pg_statio_user_indexes.idx_blks_read")
SCANS: Final = "pg_stat_user_indexes.idx_scan"
PENDING: Final = "pg_index.gin_pending_pages"


@dataclass(frozen=True, slots=True)
class Gin:
    """A GIN index with a pending list, of a table (`database.schema.table`); what was not measured is null.

    `pages` is how long the list is, `may_pages` how long it may grow; `blocks_per_scan` are the blocks of the index
    that are looked at for each scan of it, null where it is not scanned.
    """

    db: str | None
    table: str
    index: Index
    pages: float | None
    may_pages: float
    blocks_per_scan: float | None

    @property
    def entity(self) -> str:
        """The index with its database and schema before it."""
        return f"{self.table.rpartition('.')[0]}.{self.index.name}"


def gins(dataset: Dataset) -> list[Gin]:
    """The valid ones of the tables that were looked at, in the order of their tables."""
    rows = dataset.frame("setting").filter(
        (pl.col("component") == COMPONENT) & pl.col("value").str.contains(r"^gin .* pending \d+ kB")
    )
    tables = rows.select("db", pl.col("name").str.extract(r"^(.*) [^ ]*$")).unique(maintain_order=True)
    if tables.is_empty():
        return []
    blocks, scans, pages = _by_entity(dataset, *BLOCKS), _by_entity(dataset, SCANS), _by_entity(dataset, PENDING)
    found = []
    for db, table in sorted(tables.iter_rows()):
        for index in indexes(dataset, db, table) or ():
            if index.pending_kb is None or not index.is_valid:
                continue
            key = (db, f"{table.rpartition('.')[0]}.{index.name}")
            per_scan = blocks[key] / scans[key] if scans.get(key) and key in blocks else None
            found.append(Gin(db, table, index, pages.get(key), index.pending_kb / 8, per_scan))
    return found


def _by_entity(dataset: Dataset, *names: str) -> dict[tuple[str | None, str | None], float]:
    """Figures by server and entity, those of several names together; of a reading the last."""
    found: dict[tuple[str | None, str | None], float] = {}
    for one in (one for name in names for one in figures(dataset, name)):
        value = one.last if one.name == PENDING else one.mean
        found[one.db, one.entity] = found.get((one.db, one.entity), 0.0) + value
    return found
