"""Tables whose readers step over many row versions to find one that they may see."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import polars as pl

from doctord.analyse import figures
from doctord.dataset.dataset import Dataset

HEAP: Final = ("pg_statio_user_tables.heap_blks_hit", "pg_statio_user_tables.heap_blks_read")
INDEXES: Final = ("pg_statio_user_tables.idx_blks_hit", "pg_statio_user_tables.idx_blks_read")
CHANGED: Final = ("pg_stat_user_tables.n_tup_upd", "pg_stat_user_tables.n_tup_del")
# What a look at the table's pages gives: rows found by an index or a scan, and rows written.
ROWS: Final = (
    "pg_stat_user_tables.idx_tup_fetch", "pg_stat_user_tables.seq_tup_read", "pg_stat_user_tables.n_tup_ins", *CHANGED
)  # fmt: skip
LAST_VACUUM: Final = "pg_stat_user_tables.last_vacuum_age_s"
SCANNED: Final = "pg_stat_user_tables.seq_tup_read"
# A row that is found by an index is one page, and writing it one or two more; a scan finds many rows in each.
USUAL_PAGES: Final = 2.0
PAGE_BYTES: Final = 8192


class Versions(NamedTuple):
    """A table (`schema.name` in a database) with dead rows, and what they cost those who look for live ones.

    `pages_per_row` are the table's own pages that are looked at for each row found or written, `usual_pages` what these
    would be without dead rows; `gets_share` its part (0 to 1) of all pages, of tables and indexes, that the server
    looks at. `changed_per_s` are the versions that die a second, `vacuumed_s` is how long ago it was vacuumed, null
    where it was not. Of its own `pages` (null: not told) so many are looked at a second.
    """

    db: str | None
    database: str
    name: str
    dead: int
    live: int
    pages_per_row: float
    usual_pages: float
    gets_share: float
    changed_per_s: float
    vacuumed_s: float | None
    looked_at_per_s: float
    pages: float | None

    @property
    def wasted_per_s(self) -> float:
        """Its own pages looked at that would not be, were there no dead rows, a second."""
        return self.looked_at_per_s * self.avoidable

    @property
    def stepped_over_per_s(self) -> float | None:
        """Dead versions that readers step over on these, a second; null where its size is not told."""
        return self.wasted_per_s * (self.dead + self.live) / self.pages if self.pages else None

    @property
    def is_catalogue(self) -> bool:
        """Whether it is a table of the system catalogues."""
        return self.name.startswith("pg_catalog.")

    @property
    def wasted(self) -> float:
        """Part (0 to 1) of all pages looked at that would not be, were there no dead rows."""
        return self.gets_share * self.avoidable

    @property
    def avoidable(self) -> float:
        """Part (0 to 1) of the table's own pages looked at that would not be, were there no dead rows."""
        return max(1 - self.usual_pages / self.pages_per_row, 0.0)


@lru_cache(maxsize=2)  # several causes ask for them, and of each table with dead rows again
def row_versions(dataset: Dataset) -> list[Versions]:
    """Tables with dead rows whose reads were counted, most pages wasted first."""
    heap, indexes, found, changed, scanned = (
        _per_s(dataset, names) for names in (HEAP, INDEXES, ROWS, CHANGED, (SCANNED,))
    )
    looked_at = dict[str | None, float]()
    for (db, _), per_s in (*heap.items(), *indexes.items()):
        looked_at[db] = looked_at.get(db, 0.0) + per_s
    vacuumed = {(figure.db, figure.entity): figure.last for figure in figures.figures(dataset, LAST_VACUUM)}
    versions = []
    for db, database, name, dead, live, used_bytes in _dead_rows(dataset).iter_rows():
        table = (db, f"{database}.{name}")
        pages, rows = heap.get(table, 0.0), found.get(table, 0.0)
        if dead and pages and rows:
            gets = (pages + indexes.get(table, 0.0)) / looked_at[db]
            by_scan = scanned.get(table, 0.0) / rows
            size = None if used_bytes is None else used_bytes / PAGE_BYTES
            usual = USUAL_PAGES * (1 - by_scan) + _pages_of_scanned(dead + (live or 0), size) * by_scan
            per_s = changed.get(table, 0.0)
            versions.append(
                Versions(
                    *(db, database, name, dead, live or 0, pages / rows, usual, gets, per_s, vacuumed.get(table)),
                    *(pages, size),
                )
            )
    return sorted(versions, key=lambda table: (-table.wasted, table.name))


def _pages_of_scanned(rows: int, pages: float | None) -> float:
    """The pages that a scan looks at for a row, dead or live: what of them is live alone would be as dense."""
    return USUAL_PAGES if pages is None else min(pages / rows, USUAL_PAGES)


def _per_s(dataset: Dataset, names: Sequence[str]) -> dict[tuple[str | None, str], float]:
    """Figures of tables added up, by server and `database.schema.name`."""
    sums = dict[tuple[str | None, str], float]()
    for figure in (figure for name in names for figure in figures.figures(dataset, name) if figure.entity):
        key = (figure.db, figure.entity or "")
        sums[key] = sums.get(key, 0.0) + figure.mean
    return sums


def _dead_rows(dataset: Dataset) -> pl.DataFrame:
    """Tables with their dead and live rows, and their size, when they were last looked at."""
    return (
        dataset.frame("space")
        .filter((pl.col("kind") == "table") & (pl.col("dead_rows") > 0))
        .group_by("db", "database", "name", maintain_order=True)
        .agg(pl.col("dead_rows", "live_rows", "used_bytes").last())
    )
