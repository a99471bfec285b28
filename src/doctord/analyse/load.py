"""Whose the load is: the time of sampled sessions by one of their dimensions, as parts that add up to the whole.

Method: average active sessions by dimension, as in Oracle's active session history (Wood, Shaft: "Method and
apparatus for active session history", 2003). A sample stands for `session.interval_s` seconds.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import polars as pl

from doctord.analyse.time import AT_WORK, seconds_observed, time_model
from doctord.dataset.dataset import Dataset
from doctord.errors import UserError

# The column of `session` that each dimension is told by.
DIMENSIONS: Final = {
    "server": "db",
    "database": "database",
    "user": "user",
    "program": "program",
    "client": "client",
    "statement": "statement_id",
    "wait_class": "wait_class",
    "event": "event",
    "wait_kind": "wait_kind",
    "session": "sid",
    "blocker": "blocker_sid",
}
# What is known of waits where sessions were not sampled: fields of a part of the time model.
OF_WAITS: Final = ("wait_class", "event", "wait_kind")


@dataclass(frozen=True, slots=True)
class Part:
    """One value of the dimension: null where the sessions tell none.

    Attributes:
        name: The value.
        sessions: Average active sessions, seconds a second.
        share: Its part (0 to 1) of the load that is looked at.
        text: Of a statement its normalised text; null where it is not known.
    """

    name: str | None
    sessions: float
    share: float
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Load:
    """The load by a dimension, the largest part first; `sessions` is the sum of the parts."""

    dimension: str
    sessions: float
    seconds: float
    parts: tuple[Part, ...]


def load_by(dataset: Dataset, dimension: str, where: Mapping[str, str] | None = None) -> Load:
    """Average active sessions by a dimension, of the samples in which other dimensions have the values of `where`.

    Raises:
        UserError: there is no such dimension, or no session was sampled that would tell it.
    """
    for name in (dimension, *(where or ())):
        if name not in DIMENSIONS:
            raise UserError(f"there is no dimension {name!r}", f"dimensions are {', '.join(DIMENSIONS)}")
    if dataset.frame("session").is_empty():
        return _of_waits(dataset, dimension, where or {})
    column = DIMENSIONS[dimension]
    chosen = AT_WORK
    for name, value in (where or {}).items():
        chosen &= pl.col(DIMENSIONS[name]).cast(pl.String) == value
    rows = (
        dataset.rows("session", chosen, "interval_s", column)
        .group_by(column, maintain_order=True)
        .agg(pl.col("interval_s").sum())
    )
    spent = {None if name is None else str(name): float(seconds) for name, seconds in rows.iter_rows()}
    texts = _texts(dataset) if dimension == "statement" else {}
    return _load(dimension, spent, seconds_observed(dataset), texts)


def _of_waits(dataset: Dataset, dimension: str, where: Mapping[str, str]) -> Load:
    """The parts of the time model, which sums of waits tell too."""
    model = time_model(dataset)
    if model.of != "database" or not model.shares or {dimension, *where} - {*OF_WAITS}:
        raise UserError(
            f"no session was sampled then that would tell of a {dimension}",
            f"where waits are known in sum: {', '.join(OF_WAITS)}",
        )
    spent = dict[str | None, float]()
    for part in model.shares:
        if all(getattr(part, name) == value for name, value in where.items()):
            name = getattr(part, dimension)
            spent[name] = spent.get(name, 0.0) + part.seconds_per_second
    return _load(dimension, spent, 1.0, {})


def _load(dimension: str, spent: Mapping[str | None, float], seconds: float, texts: Mapping[str, str]) -> Load:
    total = sum(spent.values())
    if not total or not seconds:
        return Load(dimension, 0.0, seconds, ())
    parts = tuple(
        Part(name, value / seconds, value / total, texts.get(name or ""))
        for name, value in sorted(spent.items(), key=lambda one: (-one[1], str(one[0])))
    )
    return Load(dimension, total / seconds, seconds, parts)


def _texts(dataset: Dataset) -> dict[str, str]:
    known = dataset.frame("statement").select("statement_id", "text").drop_nulls().unique(maintain_order=True)
    return {str(name): str(text) for name, text in known.iter_rows()}
