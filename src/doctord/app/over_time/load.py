"""The load of a lake over time: of samples where a time is short, of sums where it is long."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from doctord.analyse.over_time.buckets import Buckets
from doctord.analyse.over_time.load import LoadOverTime, Skew, load_over_time, skews
from doctord.app.over_time.load_history import LoadHistory

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


def load_found(history: LoadHistory, since: datetime, until: datetime, wanted: Wanted) -> LoadFound:
    """The load of a time by a dimension.

    Raises:
        UserError: the lake cannot be read, or nothing tells of that dimension.
    """
    steps = history.steps(since, until)
    even = Buckets.between(since.timestamp(), until.timestamp(), wanted.buckets, steps.step_s)
    load = load_over_time(steps, wanted.dimension, wanted.where, even, wanted.most)
    names = [band.name for band in load.bands if band.name] if wanted.dimension == "statement" else []
    return LoadFound(load, history.texts(names, until), history.cpus(until))


@dataclass(frozen=True, slots=True)
class SkewsFound:
    """How uneven each dimension is, the most uneven first, and the text of the statement that takes most."""

    skews: Sequence[Skew]
    texts: Mapping[str, str]


def skews_found(history: LoadHistory, since: datetime, until: datetime, where: Where) -> SkewsFound:
    """How unevenly the load of a time lies on the values of each dimension.

    Raises:
        UserError: as `load_found`.
    """
    found = skews(history.steps(since, until), where)
    largest = [one.largest for one in found if one.dimension == "statement" and one.largest]
    return SkewsFound(found, history.texts(largest, until))
