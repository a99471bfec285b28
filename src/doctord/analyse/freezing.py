"""The relations that hold the oldest transaction id, or multixact, of a database that grows old."""

from typing import Final, Literal, NamedTuple, TypeAlias

import polars as pl

from doctord.analyse.figures import figures
from doctord.dataset.dataset import Dataset
from doctord.regex import regex

COMPONENT: Final = "pg_class"
_KIND: Final = regex(
    r"^(?P<kind>(?P<temporary>temporary )?[\w ]+), oid (?P<oid>\d+)(?:, of session (?P<session>\d+) \((?P<who>.*)\))?$"
)

Number: TypeAlias = Literal["xid", "multixact"]
AGES: Final[dict[Number, str]] = {
    "xid": "pg_class.oldest_relfrozenxid_age",
    "multixact": "pg_class.oldest_relminmxid_age",
}


class Oldest(NamedTuple):
    """A relation (`schema.name`), what it is, and the age of its oldest number that is not frozen.

    `session` (a process id) and `who` tell whose a temporary one is; null where that is not known.
    """

    name: str
    kind: str
    oid: int | None
    age: float
    is_temporary: bool
    session: int | None
    who: str | None


def oldest(dataset: Dataset, db: str | None, database: str, number: Number = "xid") -> list[Oldest]:
    """The oldest relations of a database, the oldest first; none where nobody looked for them."""
    ages = [
        (one.entity.removeprefix(f"{database}."), one.last)
        for one in figures(dataset, AGES[number])
        if one.db == db and one.entity is not None and one.entity.startswith(f"{database}.")
    ]
    kinds = _kinds(dataset, db, database)
    found = [_oldest(name, kinds.get(name, ""), age) for name, age in ages]
    return sorted(found, key=lambda one: (-one.age, one.name))


def _kinds(dataset: Dataset, db: str | None, database: str) -> dict[str, str]:
    rows = dataset.frame("setting").filter(
        (pl.col("component") == COMPONENT) & (pl.col("db") == db) & pl.col("name").str.starts_with(f"{database}.")
    )
    told = rows.sort("ts", maintain_order=True).select("name", "value").iter_rows()
    return {name.removeprefix(f"{database}."): kind for name, kind in told if kind}


def _oldest(name: str, kind: str, age: float) -> Oldest:
    told = _KIND.match(kind)
    if told is None:
        return Oldest(name, "relation", None, age, is_temporary=False, session=None, who=None)
    session = int(told["session"]) if told["session"] else None
    return Oldest(name, told["kind"], int(told["oid"]), age, told["temporary"] is not None, session, told["who"])
