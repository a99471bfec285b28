"""One statement in a time of a lake: its texts, its plans, and what it did in each stretch of time."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

import polars as pl

from doctord.analyse.over_time.buckets import Buckets
from doctord.analyse.over_time.envelopes import Enveloped, envelopes, rows_of, spacing_s
from doctord.app.over_time.load_history import history_of, literal
from doctord.app.source import Recorded
from doctord.dataset.dataset import Dataset
from doctord.dataset.figure import Figure
from doctord.errors import UserError
from doctord.lake.place import default_lake
from doctord.lake.query import Lake

# What of a statement is shown over time, with its unit; the mean time of a call is made of two columns.
SHOWN: Final = {
    "calls_per_s": ("calls_per_s", "per_s", "interval_s"),
    "elapsed_ms_per_call": ("elapsed_s_per_s / calls_per_s * 1000", "ms", "calls_per_s"),
    "elapsed_s_per_s": ("elapsed_s_per_s", "s_per_s", "interval_s"),
    "cpu_s_per_s": ("cpu_s_per_s", "s_per_s", "interval_s"),
    "rows_per_s": ("rows_per_s", "per_s", "interval_s"),
    "read_blocks_per_s": ("read_blocks_per_s", "per_s", "interval_s"),
    "hit_blocks_per_s": ("hit_blocks_per_s", "per_s", "interval_s"),
    "temp_bytes_per_s": ("temp_bytes_per_s", "bytes_per_s", "interval_s"),
    "wal_bytes_per_s": ("wal_bytes_per_s", "bytes_per_s", "interval_s"),
}


@dataclass(frozen=True, slots=True)
class Told:
    """In which database of which server it was seen, by which plan, and from when to when."""

    db: str | None
    database: str | None
    plan: str | None
    first: datetime
    last: datetime


@dataclass(frozen=True, slots=True)
class StatementFound:
    """A statement.

    Attributes:
        statement: Its identifier.
        texts: Its normalised texts, the last seen first; mostly one.
        told: Where it was seen.
        buckets: The stretches of time.
        figures: By name and unit what it did over time, server by server.
    """

    statement: str
    texts: tuple[str, ...]
    told: tuple[Told, ...]
    buckets: Buckets
    figures: dict[tuple[str, str], tuple[Enveloped, ...]]


def statement_found(
    recorded: Recorded, since: datetime, until: datetime, statement: str, buckets: int
) -> StatementFound:
    """A statement in a time.

    Raises:
        UserError: it was not seen then, or the lake cannot be read.
    """
    lake = Lake(recorded.lake or default_lake())
    dataset = lake.dataset(since, until, {"statement": f"statement_id = {literal(statement)}"})
    dataset = recorded.rows(dataset)
    rows = dataset.frame("statement").sort("ts")
    if rows.is_empty() and not _was_sampled(lake.path, since, until, statement):
        raise UserError(f"no statement {statement!r} was seen then", "/load?by=statement names those that were")
    even = _buckets(dataset, since, until, buckets)
    texts = rows["text"].drop_nulls().reverse().unique(maintain_order=True)
    return StatementFound(statement, tuple(map(str, texts)), _told(rows), even, _figures(dataset, even))


def _was_sampled(lake: Path, since: datetime, until: datetime, statement: str) -> bool:
    """Whether a session ran it: in so short a time that no statistics tell of it, say."""
    kinds = history_of(lake).steps(since, until).kinds
    return "statement_id" in kinds.columns and bool((kinds["statement_id"] == statement).any())


def _buckets(dataset: Dataset, since: datetime, until: datetime, most: int) -> Buckets:
    spacing = max(1, round(spacing_s(rows_of(dataset, _figure("calls_per_s")))))
    return Buckets.between(since.timestamp(), until.timestamp(), most, spacing)


def _figures(dataset: Dataset, buckets: Buckets) -> dict[tuple[str, str], tuple[Enveloped, ...]]:
    found = dict[tuple[str, str], tuple[Enveloped, ...]]()
    for name, (_, unit, _) in SHOWN.items():
        if series := tuple(envelopes(rows_of(dataset, _figure(name)), buckets)):
            found[name, unit] = series
    return found


def _figure(name: str) -> Figure:
    value, unit, weight = SHOWN[name]
    return Figure(name, name, "workload", "statement", value, unit, weight=weight)


def _told(rows: pl.DataFrame) -> tuple[Told, ...]:
    groups = rows.group_by("db", "database", "plan_id", maintain_order=True).agg(
        pl.col("ts").min().alias("first"), pl.col("ts").max().alias("last")
    )
    return tuple(Told(*row) for row in groups.iter_rows())
