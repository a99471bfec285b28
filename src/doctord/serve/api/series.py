"""Figures of hosts and servers over time."""

from typing import Any

from pydantic import Field
from typing_extensions import TypedDict

from doctord.app.over_time.envelopes import Wanted, figure_found, figures_told
from doctord.report.over_time.envelopes import document, listed
from doctord.serve.api.documents import Envelope, OfBuckets
from doctord.serve.lakes import Asked
from doctord.serve.parameters import Buckets, OfTime, Text


class SeriesParameters(OfTime):
    """Which figure, of whom, and how finely."""

    figure: Text = Field(
        description="A figure of /figures, a column (`disk.util_pct`: TABLE.COLUMN), or `statistic:NAME`."
    )
    entity: str | None = Field(None, max_length=500, description="Only this device, file system, relation...")
    db: Text | None = Field(None, description="Only this database server: `postgresql:5432`.")
    buckets: Buckets = 300
    top: int = Field(12, ge=1, le=100, description="How many series at most, those of the largest average.")


class OneSeries(Envelope):
    """One entity; of each bucket the mean, the extremes and the quartiles. Null: it was not measured."""

    host: str | None
    db: str | None
    entity: str | None
    average: float
    newest: float


class Series(OfBuckets):
    """A figure; `step_s`: the quartiles are of means of so many seconds, 0: of what was measured."""

    step_s: int
    figure: str
    title: str
    unit: str
    worse: str
    series: list[OneSeries]
    left_out: int


class Figure(TypedDict):
    """A figure, and whom it is told of in the last ten minutes of the time."""

    figure: str
    title: str
    unit: str
    worse: str
    component: str
    entities: list[dict[str, str | None]]


class Figures(TypedDict):
    """The figures that are kept for years, as far as the time tells them."""

    since: str
    until: str
    figures: list[Figure]


def series(asked: Asked, given: SeriesParameters) -> dict[str, Any]:
    """A figure over time, a series for each of its entities, that of the largest average first.

    The extremes of each bucket are those of what was measured, at every zoom: a spike of one sample is seen.
    """
    wanted = Wanted(given.figure, given.buckets, given.top, given.db, given.entity)
    return asked.span() | document(figure_found(asked.recorded, asked.since, asked.until, wanted))


def figures(asked: Asked, _given: OfTime) -> dict[str, Any]:
    """The figures there are, and of which hosts, servers, devices and so on they are told."""
    return asked.span() | {"figures": listed(figures_told(asked.recorded, asked.since, asked.until))}
