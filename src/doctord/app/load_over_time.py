"""The load of a lake over time: of samples where a time is short, of sums of minutes where it is long."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Final

import polars as pl

from doctord.analyse.buckets import Buckets
from doctord.analyse.load_over_time import LoadOverTime, Skew, load_over_time, skews
from doctord.analyse.load_steps import Steps, steps_of
from doctord.lake.query import Lake

OF_SAMPLES: Final = ("session", "cpu", "wait")
A_LOOK: Final = timedelta(seconds=2)  # rows that end a little later tell of a time, too

Where = Mapping[str, Sequence[str | None]]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to split by, which values of other dimensions count (null: sessions that tell none), and how finely.

    `buckets`: how many at most; `most`: how many values get a band of their own.
    """

    dimension: str
    where: Where
    buckets: int
    most: int


@dataclass(frozen=True, slots=True)
class LoadFound:
    """The load over time, the texts of the statements among its bands, and how many CPUs its host has."""

    load: LoadOverTime
    texts: Mapping[str, str]
    cpus: int | None


def load_found(lake: Path, since: datetime, until: datetime, wanted: Wanted) -> LoadFound:
    """The load of a time by a dimension.

    Raises:
        UserError: the lake cannot be read, or nothing tells of that dimension.
    """
    steps = steps_between(lake, since, until)
    even = Buckets.between(since.timestamp(), until.timestamp(), wanted.buckets, steps.step_s)
    load = load_over_time(steps, wanted.dimension, wanted.where, even, wanted.most)
    names = [band.name for band in load.bands if band.name] if wanted.dimension == "statement" else []
    return LoadFound(load, texts_of(lake, since, until, names), None)


def skews_found(lake: Path, since: datetime, until: datetime, where: Where) -> list[Skew]:
    """How unevenly the load of a time lies on the values of each dimension, the most uneven first.

    Raises:
        UserError: as `load_found`.
    """
    return skews(steps_between(lake, since, until), where)


@lru_cache(maxsize=4)
def steps_between(lake: Path, since: datetime, until: datetime) -> Steps:
    """The steps of a time: of two questions about one time the second is answered from memory."""
    dataset = Lake(lake).dataset(since, until + A_LOOK, dict.fromkeys(OF_SAMPLES, "true"))
    return steps_of(dataset)


def texts_of(lake: Path, since: datetime, until: datetime, statements: Sequence[str]) -> dict[str, str]:
    """The normalised texts of statements, as far as they are known in a time."""
    if not statements:
        return {}
    rows = Lake(lake).dataset(since, until, {"statement": "true"}).frame("statement")
    known = rows.filter(pl.col("statement_id").is_in(statements) & pl.col("text").is_not_null())
    return {
        str(name): str(text) for name, text in known.select("statement_id", "text").unique("statement_id").iter_rows()
    }
