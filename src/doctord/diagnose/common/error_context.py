"""What a database's own catalogue adds to an error's words: tables of one name, partitions, triggers in a ring."""

from collections.abc import Iterator
from itertools import islice
from typing import Final

import polars as pl

from doctord.analyse.sql.dependencies import INHERITS, TRIGGERS, Dependencies, Trigger, bare
from doctord.diagnose.case import Case
from doctord.diagnose.finding import Evidence
from doctord.diagnose.phrase import listed, phrase
from doctord.regex import regex

LIVE: Final = "pg_stat_user_tables.n_live_tup"
NAMED: Final = regex(
    r'^(?:permission denied for table |(?:column .* of )?relation "(?=.* does not exist$))(?P<name>[\w$]+)'
)
NO_PARTITION: Final = regex(r'^no partition of relation "(?P<name>[^"]+)"')
STACK: Final = "stack depth limit exceeded"
NUMBER: Final = regex(r"\d+")
MOST_NAMED: Final = 12
MOST_RINGS: Final = 3
# Of more children the oldest are not recorded (collect/postgres/statistics/objects/dependencies.py).
MOST_RECORDED: Final = 500


def in_the_catalogue(case: Case, db: str, message: str) -> list[Evidence]:
    """Evidence that completes the message of an error of that server; none where the catalogue has nothing to add."""
    if found := NO_PARTITION.match(message):
        return [*_partitions(case, db, found["name"].lower())]
    if found := NAMED.match(message):
        return [*_namesakes(case, db, found["name"].lower())]
    return [*_rings(case, db)] if message == STACK else []


def _tables(case: Case, db: str) -> list[str]:
    """All tables that the server counts rows of, with database and schema."""
    return sorted({one.entity for one in case.figures(LIVE) if one.db == db and one.entity})


def _namesakes(case: Case, db: str, name: str) -> Iterator[Evidence]:
    """Tables of that name in several schemas of one database: search_path decides which of them is meant."""
    alike = [entity for entity in _tables(case, db) if bare(entity) == name]
    for database in dict.fromkeys(entity.partition(".")[0] for entity in alike):
        own = [entity.partition(".")[2] for entity in alike if entity.startswith(f"{database}.")]
        if len(own) > 1:
            told = listed(*own[:MOST_NAMED], by=", ")
            yield Evidence("statistic", f"name = '{LIVE}' and entity like '{database}.%.{name}'",
                           phrase("database {} has {} of that name: {}", database, len(own), told), "",
                           "the first schema of the role's search_path that has one is meant; $user is the schema with "
                           "the role's own name")  # fmt: skip


def _partitions(case: Case, db: str, name: str) -> Iterator[Evidence]:
    """Which partitions a table has, and which tables are called like one of them and are none."""
    for database, children in _children(case, db, name).items():
        where = f"component = '{INHERITS}' and starts_with(name, '{database}.')"
        highest = [bare(child) for child in children[-MOST_NAMED:]]
        yield Evidence("setting", where, phrase("partitions of {}: {}", name, listed(*highest, by=", ")), "",
                       "none of them takes the values")  # fmt: skip
        if _is_cut(case, db, database):
            continue
        patterns = {NUMBER.sub("#", child) for child in children if NUMBER.search(child)}
        alike = [one for one in _tables(case, db) if one not in children and NUMBER.sub("#", one) in patterns]
        if alike:
            told = [one.partition(".")[2] for one in alike[-MOST_NAMED:]]
            yield Evidence("statistic", f"name = '{LIVE}' and starts_with(entity, '{database}.')",
                           phrase("called like a partition, and none: {}", listed(*told, by=", ")), "",
                           "it was detached, or never attached")  # fmt: skip


def _children(case: Case, db: str, parent: str) -> dict[str, list[str]]:
    """By database the partitions of the table of that name, as far as they are recorded, in order of their numbers."""
    found: dict[str, list[str]] = {}
    for child, value in sorted(
        _inherited(case, db).items(), key=lambda it: ([int(one) for one in NUMBER.findall(it[0])], it[0])
    ):
        if value and bare(value) == parent:
            found.setdefault(child.partition(".")[0], []).append(child)
    return found


def _is_cut(case: Case, db: str, database: str) -> bool:
    """Whether the database has more children than are recorded: then one that is not among them may be one."""
    return (
        sum(value is not None for name, value in _inherited(case, db).items() if name.startswith(f"{database}."))
        >= MOST_RECORDED
    )


def _inherited(case: Case, db: str) -> dict[str, str | None]:
    """The parent of each child, as it was told last; null once it is none any more."""
    rows = case.dataset.frame("setting").filter((pl.col("component") == INHERITS) & (pl.col("db") == db))
    return dict(rows.sort("ts", maintain_order=True).select("name", "value").iter_rows())


def _rings(case: Case, db: str) -> Iterator[Evidence]:
    """Two triggers, the function of each of which names the table of the other; the first few."""
    rows = case.dataset.frame("setting").filter((pl.col("component") == TRIGGERS) & (pl.col("db") == db))
    for database in rows["name"].str.split(".").list.first().unique(maintain_order=True):
        for one, other in islice(_pairs(Dependencies(case.dataset, db, database)), MOST_RINGS):
            yield Evidence("setting", f"component = '{TRIGGERS}' and starts_with(name, '{database}.')",
                           phrase("triggers {} of {} and {} of {}", one.name, one.table, other.name, other.table), "",
                           "the function of each names the table of the other: they may call each other without an "
                           "end")  # fmt: skip


def _pairs(depends: Dependencies) -> Iterator[tuple[Trigger, Trigger]]:
    every = [*depends.every_trigger()]
    read = {function: depends.reads(function) for function in dict.fromkeys(one.function for one in every)}
    by_table: dict[str, list[Trigger]] = {}
    for one in every:
        by_table.setdefault(one.table, []).append(one)
    for one in every:
        for table in sorted(read[one.function] & by_table.keys()):
            if one.table < table:  # each pair once
                yield from ((one, other) for other in by_table[table] if one.table in read[other.function])
