"""Who blocked whom."""

from typing import Any

from typing_extensions import TypedDict

from doctord.app.over_time.blocking import blocking_found
from doctord.report.over_time.blocking import document
from doctord.serve.api.documents import OfBuckets
from doctord.serve.lakes import Asked
from doctord.serve.parameters import Buckets, OfTime


class BlockingParameters(OfTime):
    """A time, and how finely."""

    buckets: Buckets = 120


class Blocked(TypedDict):
    """A session, and `below` it those that waited for it.

    `behind_s`: seconds that others waited behind it, directly or through others; `values`: how many stood behind it in
    each bucket, null where none ever did. What it was is null where it was not sampled; session 0 is a prepared
    transaction.
    """

    server: str
    session: int
    user: str | None
    program: str | None
    client: str | None
    kind: str | None
    state: str | None
    event: str | None
    statement_id: str | None
    waited_s: float
    behind_s: float
    values: list[float | None] | None
    below: list[dict[str, Any]]
    left_out: int


class Blocking(OfBuckets):
    """The trees, the one behind whose root others waited longest first."""

    trees: list[Blocked]
    left_out: int


def blocking(asked: Asked, given: BlockingParameters) -> dict[str, Any]:
    """Who blocked whom: a tree for each session that blocked others and waited for none, with its history."""
    return asked.span() | document(blocking_found(asked.recorded, asked.since, asked.until, given.buckets))
