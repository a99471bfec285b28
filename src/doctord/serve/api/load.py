"""Whose the load is: over time, and how unevenly it lies on each dimension."""

from typing import Any

from pydantic import Field
from typing_extensions import TypedDict

from doctord.app.over_time.load import Wanted, load_found, skews_found
from doctord.report.over_time.load import document, skew_document
from doctord.serve.api.documents import Envelope, OfBuckets
from doctord.serve.lakes import Asked
from doctord.serve.parameters import Buckets, Dimension, OfTime, Where, filters


class Filtered(OfTime):
    """A time, and which sessions count."""

    where: Where = Field(default_factory=list)


class LoadParameters(Filtered):
    """What to split by, and how finely."""

    by: Dimension = Field("wait_class", description="What the load is split by.")
    buckets: Buckets = 300
    top: int = Field(9, ge=1, le=50, description="How many values have a band of their own; the others are summed up.")


class Band(TypedDict):
    """One value of the dimension; null: sessions that tell none. `share` is of the load that is looked at."""

    name: str | None
    sessions: float
    share: float
    values: list[float | None]
    text: str | None


class Others(TypedDict):
    """The sum of all values without a band; `names`: how many these are."""

    name: None
    sessions: float
    share: float
    values: list[float | None]
    names: int


class Load(OfBuckets):
    """The load, the largest band first. A bucket is null where nothing looked; `step_s`: what the envelope is of."""

    step_s: int
    dimension: str
    sessions: float
    seconds: float
    cpus: int | None
    bands: list[Band]
    others: Others | None
    total: Envelope


class Skew(TypedDict):
    """How unevenly the load lies on the values of a dimension: 0 evenly, 1 on one of several.

    `text` is that of the statement that takes most.
    """

    dimension: str
    skew: float
    values: int
    largest: str | None
    text: str | None
    share: float


class Dimensions(TypedDict):
    """The dimensions, the most uneven first."""

    since: str
    until: str
    dimensions: list[Skew]


def load(asked: Asked, given: LoadParameters) -> dict[str, Any]:
    """The load (average active sessions) over time, by one dimension.

    `bands` and `others` add up to `total.mean`. The envelope (`total`) has the fewest, quartiles and most sessions of
    single steps in a bucket, so that a spike that is shorter than a bucket is seen.
    """
    where = _where(asked, given)
    wanted = Wanted(given.by, where, given.buckets, given.top)
    return asked.span() | document(load_found(asked.load, asked.since, asked.until, wanted))


def load_dimensions(asked: Asked, given: Filtered) -> dict[str, Any]:
    """How unevenly the load lies on the values of each dimension, the most uneven first: where to look.

    `skew` is 1 - Pielou's evenness. Dimensions that `where` names are left out.
    """
    found = skews_found(asked.load, asked.since, asked.until, _where(asked, given))
    return asked.span() | {"dimensions": skew_document(found)}


def _where(asked: Asked, given: Filtered) -> dict[str, list[str | None]]:
    return filters(given.where) | ({"host": [asked.host]} if asked.host else {})
