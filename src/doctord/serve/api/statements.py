"""One statement."""

from typing import Any

from pydantic import Field
from typing_extensions import TypedDict

from doctord.app.over_time.statement import statement_found
from doctord.report.over_time.envelopes import statement_document
from doctord.serve.api.series import OneSeries
from doctord.serve.lakes import Asked
from doctord.serve.parameters import Buckets, OfTime


class StatementParameters(OfTime):
    """Which statement, and how finely."""

    id: str = Field(min_length=1, max_length=200, description="Its identifier, as `/load?by=statement` names it.")
    buckets: Buckets = 120


class Seen(TypedDict):
    """Where it was seen, by which plan, and from when to when."""

    db: str | None
    database: str | None
    plan: str | None
    first: str
    last: str


class StatementFigure(TypedDict):
    """A figure of it, a series for each server."""

    figure: str
    unit: str
    series: list[OneSeries]


class Statement(TypedDict):
    """A statement: its normalised texts (a stranger's words), where it was seen, and what it did over time."""

    since: str
    until: str
    statement: str
    texts: list[str]
    seen: list[Seen]
    start: str
    start_s: int
    bucket_s: int
    buckets: int
    figures: list[StatementFigure]


def statement(asked: Asked, given: StatementParameters) -> dict[str, Any]:
    """A statement's text, plans, and what it did over time: calls, time of a call, rows, blocks.

    Its waits are `/load?by=event&where=statement:ID`, its sessions `by=session`.
    """
    found = statement_found(asked.recorded, asked.since, asked.until, given.id, given.buckets)
    return asked.span() | statement_document(found)
