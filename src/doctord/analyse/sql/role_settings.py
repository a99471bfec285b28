"""Settings of roles and databases: which of them hold for whom, and who runs a statement."""

from collections.abc import Mapping
from typing import Final, NamedTuple

import polars as pl

from doctord.analyse import figures
from doctord.dataset.catalogue import catalogue
from doctord.dataset.dataset import Dataset
from doctord.dataset.role_settings import COMPONENT, READING, Scope, scope_of
from doctord.dataset.secrets import HIDDEN
from doctord.dataset.tables import CLIENT

# `source` in pg_settings of what a session was given by its own role or database: not what the server has for others.
OF_A_SESSION: Final = ("database", "user", "database user", "global")


class RoleSetting(NamedTuple):
    """A setting of one server that holds for a role, a database, or both; its value is in the unit of pg_settings."""

    db: str
    scope: Scope
    value: str
    unit: str | None


class Runner(NamedTuple):
    """A role in a database that runs a statement, by samples: `seconds` in all, `running_s` how long it had run then.

    `statement_id` is null where the server tells none.
    """

    db: str
    statement_id: str | None
    user: str | None
    database: str | None
    seconds: float
    samples: int
    running_s: float | None


def role_settings(dataset: Dataset) -> tuple[RoleSetting, ...]:
    """All that are in force and shown, by server and name."""
    return dataset.derived("setting", _role_settings)


def rows_in_force(settings: pl.DataFrame) -> pl.DataFrame:
    """Of the rows of `setting` those of roles and databases that hold: the last reading, and what changed since."""
    server = ["host", "db"]
    rows = settings.filter(pl.col("component") == COMPONENT).sort("ts", maintain_order=True)
    last = rows.unique([*server, "name"], keep="last", maintain_order=True)
    read = last.filter(name=READING).select(*server, pl.col("ts").alias("read"))
    held = last.join(read, on=server, how="left", nulls_equal=True, maintain_order="left")
    is_over = (pl.col("ts") < pl.col("read")).fill_null(value=False)
    return held.filter(pl.col("value").is_not_null() & (pl.col("name") != READING) & ~is_over).drop("read")


def _role_settings(settings: pl.DataFrame) -> tuple[RoleSetting, ...]:
    rows = rows_in_force(settings).filter(pl.col("db").is_not_null() & (pl.col("value") != HIDDEN))
    told = rows.unique(["db", "name"], keep="last", maintain_order=True).sort("db", "name", maintain_order=True)
    return tuple(
        RoleSetting(db, scope, value, unit)
        for db, name, value, unit in told.select("db", "name", "value", "unit").iter_rows()
        if (scope := scope_of(name)) is not None
    )


def in_force(dataset: Dataset, db: str, user: str | None, database: str | None) -> Mapping[str, RoleSetting]:
    """What holds for sessions of a role in a database, by name.

    A role's in that database comes before the role's, that before the database's, and that before what is set for all
    (PostgreSQL documentation, ALTER ROLE).
    """
    found = [
        one
        for one in role_settings(dataset)
        if one.db == db and one.scope.role in (None, user) and one.scope.database in (None, database)
    ]
    found.sort(key=lambda one: (one.scope.role is not None, one.scope.database is not None))
    return {one.scope.name: one for one in found}


def of_server(dataset: Dataset, name: str, db: str) -> str | None:
    """What a server has for those of whom nothing else is set; null where it is not known.

    A session that looks is itself of a role, in a database: what these set for it is not the server's, and the default
    is taken for that.
    """
    rows = dataset.frame("setting").filter((pl.col("name") == name) & (pl.col("db") == db))
    if rows.height and rows["source"].last() in OF_A_SESSION:
        known = catalogue("postgresql").get(name)
        return known.default if known else None
    return figures.setting(dataset, name, db)


def runners(dataset: Dataset) -> tuple[Runner, ...]:
    """Who runs which statement of clients, by samples of their sessions; most of the time first."""
    return dataset.derived("session", _runners)


def _runners(sessions: pl.DataFrame) -> tuple[Runner, ...]:
    weight = pl.col("interval_s")
    rows = sessions.lazy().filter(
        (pl.col("kind") == CLIENT)
        & (pl.col("state") == "active")
        & (pl.col("wait_class") != "Idle")
        & pl.col("db").is_not_null()
    )
    sums = (
        rows.group_by("db", "statement_id", "user", "database", maintain_order=True)
        .agg(weight.sum().alias("seconds"), pl.len(), pl.col("statement_s").mean().alias("running_s"))
        .sort("seconds", descending=True, maintain_order=True)
        .collect(engine="in-memory")  # the streaming one hands rows out in no order
    )
    return tuple(Runner(*row) for row in sums.iter_rows())
