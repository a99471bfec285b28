"""Published tables of which UPDATE or DELETE fails, as they were seen last."""

from typing import Final, NamedTuple

import polars as pl

from doctord.analyse.figures import figures
from doctord.dataset.dataset import Dataset
from doctord.dataset.publications import COMPONENT

CHANGES: Final = "pg_publication_tables.changes_since_reset"


class WithoutIdentity(NamedTuple):
    """A table (`database.schema.table`) without a replica identity, and what is published of it.

    `published` reads `shop: UPDATE and DELETE`; `changes` are rows that were updated or deleted since the statistics
    were reset, null where that is not told.
    """

    db: str
    table: str
    published: str
    changes: float | None

    @property
    def name(self) -> str:
        """Schema and table, as a statement in its database takes them."""
        return self.table.partition(".")[2]


def without_identity(dataset: Dataset) -> list[WithoutIdentity]:
    """All of them, by server; those that were changed most at first."""
    told = dataset.frame("setting").filter((pl.col("component") == COMPONENT) & pl.col("db").is_not_null())
    last = dict[tuple[str, str], str | None]()
    for db, name, value in told.sort("ts", maintain_order=True).select("db", "name", "value").iter_rows():
        last[db, name] = value
    changes = {(one.db, one.entity): one.last for one in figures(dataset, CHANGES)}
    found = [WithoutIdentity(db, name, value, changes.get((db, name))) for (db, name), value in last.items() if value]
    return sorted(found, key=lambda one: (one.db, -(one.changes or 0.0), one.table))
