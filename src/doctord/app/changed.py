"""What changed: settings, plans, relations, events and who the load is of, in a time against another."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import polars as pl

from doctord.analyse.load import load_by
from doctord.analyse.study.changes import Changes, changes_of
from doctord.app.asked import Interval
from doctord.app.source import AN_HOUR, Recorded
from doctord.app.watcher import SILENT, Watcher
from doctord.dataset.dataset import Dataset
from doctord.errors import UserError
from doctord.lake.place import default_lake
from doctord.lake.query import Lake

# Dimensions of which each value is held against itself: few and telling.
MOVING: Final = ("program", "user", "statement", "event", "blocker")
LEAST_SESSIONS: Final = 0.1  # as for findings: a tenth of a session is the resting state of a quiet server


@dataclass(frozen=True, slots=True)
class Moved:
    """One value of a dimension whose load changed: average active sessions before and after."""

    dimension: str
    name: str | None
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Changed:
    """What changed; the events are those of the time after, as (moment, kind, text)."""

    before: tuple[datetime, datetime]
    after: tuple[datetime, datetime]
    changes: Changes
    moved: tuple[Moved, ...]
    events: tuple[tuple[datetime, str, str], ...]


def changed(recorded: Recorded, after: Interval, before: Interval | None = None, watcher: Watcher = SILENT) -> Changed:
    """What is different after from before; where no time before is named it is as long a one right before.

    Raises:
        UserError: nothing was recorded in one of the two.
    """
    lake = Lake(recorded.lake or default_lake())
    since, until = after.of_lake(lake, AN_HOUR, watcher)
    start, end = before.of_lake(lake, AN_HOUR, watcher) if before else (since - (until - since), since)
    new = recorded.seen(Interval(since, until, 0.0), watcher).dataset
    try:
        old = recorded.seen(Interval(start, end, 0.0), watcher).dataset
    except UserError as error:
        raise UserError(f"there is no time before to hold it against: {error}", error.hint) from error
    moved = sorted(_moved(old, new), key=lambda one: -abs(one.after - one.before))
    return Changed((start, end), (since, until), changes_of(old, new), tuple(moved), tuple(_events(new, since)))


def _moved(old: Dataset, new: Dataset) -> Iterator[Moved]:
    for dimension in MOVING:
        try:
            before, after = ({part.name: part.sessions for part in load_by(one, dimension).parts} for one in (old, new))
        except UserError:  # sessions were not sampled: nobody knows whose the load was
            continue
        for name in dict.fromkeys((*after, *before)):
            one = Moved(dimension, name, before.get(name, 0.0), after.get(name, 0.0))
            if abs(one.after - one.before) >= LEAST_SESSIONS:
                yield one


def _events(dataset: Dataset, since: datetime) -> Iterator[tuple[datetime, str, str]]:
    events = dataset.frame("event").filter(pl.col("ts") > since).sort("ts", maintain_order=True)
    for moment, kind, text in events.select("ts", "kind", "text").iter_rows():
        if kind != "not measured":
            yield moment, str(kind), str(text or "")
