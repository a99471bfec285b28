"""Collations of another version than was recorded, and the indexes that they sort."""

from typing import Final, NamedTuple

import polars as pl

from doctord.analyse.figures import figures
from doctord.dataset import collations
from doctord.dataset.collations import Versions, versions_of
from doctord.dataset.dataset import Dataset

# How many a database's collation sorts, how many of them are unique, and their size; of single ones the largest.
INDEXES: Final = "pg_collation.indexes"
UNIQUE: Final = "pg_collation.unique_indexes"
INDEX_BYTES: Final = "pg_collation.index_bytes"
LARGEST: Final = "pg_index.of_changed_collation_bytes"


class Changed(NamedTuple):
    """A collation of a database whose version changed; `name` is the database with the collation.

    `indexes` (of them `unique`, `bytes` in all) are those that it sorts, null where nobody counted them; `largest` are
    some of them with their bytes.
    """

    db: str
    name: str
    versions: Versions
    indexes: int | None
    unique: int
    bytes: float
    largest: tuple[tuple[str, float], ...]

    @property
    def database(self) -> str:
        """The database inside the server."""
        return self.name.rpartition(" ")[0]

    @property
    def collation(self) -> str | None:
        """The collation with its schema; null: the default of the database."""
        name = self.name.rpartition(" ")[2]
        return None if name == collations.DEFAULT else name


def changed(dataset: Dataset) -> list[Changed]:
    """All of them, as they were seen last."""
    told = dataset.frame("setting").filter(pl.col("component") == collations.COMPONENT)
    last = dict[tuple[str, str], str | None]()
    for db, name, value in told.sort("ts", maintain_order=True).select("db", "name", "value").iter_rows():
        last[db, name] = value
    return [_changed(dataset, db, name, value) for (db, name), value in sorted(last.items()) if value]


def _changed(dataset: Dataset, db: str, name: str, value: str) -> Changed:
    indexes, unique, size = (
        next((one.last for one in figures(dataset, figure) if (one.db, one.entity) == (db, name)), None)
        for figure in (INDEXES, UNIQUE, INDEX_BYTES)
    )
    database = name.rpartition(" ")[0]
    largest = [
        (one.entity or "", one.last)
        for one in figures(dataset, LARGEST)
        if one.db == db and (one.entity or "").startswith(f"{database}.")
    ]
    return Changed(
        db, name, versions_of(value), None if indexes is None else round(indexes), round(unique or 0), size or 0.0,
        tuple(largest),
    )  # fmt: skip
