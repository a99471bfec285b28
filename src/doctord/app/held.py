"""What a lake holds: from when to when, and of which hosts and servers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

import polars as pl

from doctord.app.over_time.newest import Newest
from doctord.dataset.dataset import Dataset
from doctord.lake.query import Lake

LOOKED_AT: Final = timedelta(hours=1)
# Tables that name the servers there are; of a day of them the last hour is enough.
TELLING: Final = ("setting", "wait", "cpu")
VERSIONS: Final = ("server_version", "version")


@dataclass(frozen=True, slots=True)
class Held:
    """What a lake holds.

    Attributes:
        span: Time of the first and the last row; null where it is empty.
        hosts: The hosts of its last hour.
        servers: The database servers of its last hour, each with its version where one is told.
        problems: What of it cannot be read.
        cpus: How many CPUs each of these hosts has, where that is told.
    """

    span: tuple[datetime, datetime] | None
    hosts: tuple[str, ...] = ()
    servers: Mapping[str, str | None] | None = None
    problems: tuple[str, ...] = ()
    cpus: Mapping[str, int] = field(default_factory=dict)


def held(path: Path) -> Held:
    """What a lake holds.

    Raises:
        UserError: there is no lake, or it may not be read.
    """
    lake, newest = Lake(path), Newest(path)
    first, last_row = newest.first(), newest.moment()
    span = (first, last_row) if first and last_row else lake.span()
    if span is None:
        return Held(None, problems=tuple(lake.problems))
    last = lake.dataset(span[1] - LOOKED_AT, span[1], dict.fromkeys(TELLING, "true"))
    return Held(span, tuple(sorted(last.hosts)), _servers(last), tuple(dict.fromkeys(lake.problems)), cpus_of(last))


def cpus_of(dataset: Dataset) -> dict[str, int]:
    """How many CPUs each host has, where rows tell of each of them."""
    each = dataset.rows("cpu", pl.col("cpu").is_not_null() & pl.col("host").is_not_null(), "host", "cpu")
    return {str(host): int(count) for host, count in each.group_by("host").agg(pl.col("cpu").n_unique()).iter_rows()}


def _servers(dataset: Dataset) -> dict[str, str | None]:
    names = {name for table in ("setting", "wait") for name in dataset.frame(table)["db"].drop_nulls().unique()}
    told = dataset.frame("setting").filter(pl.col("name").is_in(VERSIONS)).select("db", "value").drop_nulls()
    versions = {str(db): str(value) for db, value in told.iter_rows()}
    return {name: versions.get(name) for name in sorted(names)}
