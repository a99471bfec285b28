"""Indexes that nothing reads and every write keeps up to date."""

from collections.abc import Iterator
from typing import Final, NamedTuple

import polars as pl

from doctord.analyse.figures import figures
from doctord.analyse.sql.indexes import COMPONENT
from doctord.dataset.dataset import Dataset

SCANS: Final = "pg_stat_user_indexes.scans_since_reset"
BLOCKS: Final = ("pg_statio_user_indexes.idx_blks_hit", "pg_statio_user_indexes.idx_blks_read")
AGE: Final = "pg_stat_database.stats_age_s"
TABLE_SCANS: Final = ("pg_stat_user_tables.idx_scan", "pg_stat_user_tables.seq_scan")


class Unused(NamedTuple):
    """The indexes of one table (`database.schema.table`) that were not scanned since the statistics were reset.

    None of them is needed by a constraint. `blocks_per_s` are the blocks of them that writes look at; `is_read` says
    whether the table itself was read meanwhile, by other ways; `counted_s` for how long scans were counted, null where
    that is not told.
    """

    db: str | None
    table: str
    names: tuple[str, ...]
    blocks_per_s: float
    is_read: bool
    counted_s: float | None


def unused_indexes(dataset: Dataset) -> Iterator[Unused]:
    """By table, the one whose unused indexes cost most blocks first; those that cost none are left out."""
    blocks = _sums(dataset, *BLOCKS)
    never = {(one.db, one.entity or "") for one in figures(dataset, SCANS) if one.last == 0}
    tables: dict[tuple[str | None, str], dict[str, float]] = {}
    for db, table, name in _owners(dataset):
        key = (db, f"{table.rpartition('.')[0]}.{name}")
        if key in never and blocks.get(key):
            tables.setdefault((db, table), {})[name] = blocks[key]
    read = _sums(dataset, *TABLE_SCANS)
    ages = {(one.db, one.entity): one.last for one in figures(dataset, AGE)}
    for (db, table), costs in sorted(tables.items(), key=lambda one: (-sum(one[1].values()), one[0][1])):
        dearest = sorted(costs, key=lambda name: (-costs[name], name))
        yield Unused(
            db, table, tuple(dearest), sum(costs.values()),
            is_read=bool(read.get((db, table))), counted_s=ages.get((db, table.partition(".")[0])),
        )  # fmt: skip


def _owners(dataset: Dataset) -> Iterator[tuple[str | None, str, str]]:
    """Server, table (`database.schema.table`) and name of each index that is still there when it is told of last."""
    rows = dataset.frame("setting").filter(pl.col("component") == COMPONENT).sort("ts", maintain_order=True)
    last = rows.unique(["db", "name"], keep="last", maintain_order=True).filter(pl.col("value").is_not_null())
    for db, named in last.select("db", "name").iter_rows():
        table, _, name = named.rpartition(" ")
        yield db, table, name


def _sums(dataset: Dataset, *names: str) -> dict[tuple[str | None, str], float]:
    """Figures by server and entity, those of several names together."""
    found: dict[tuple[str | None, str], float] = {}
    for one in (one for name in names for one in figures(dataset, name)):
        key = (one.db, one.entity or "")
        found[key] = found.get(key, 0.0) + one.mean
    return found
