"""A period of a lake: no more of it is read than a study looks at."""

from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import polars as pl

from doctord.analyse.study.needs import NEEDS, SESSIONS
from doctord.analyse.time import SAMPLED
from doctord.app.asked import Interval
from doctord.app.source import AN_HOUR, Recorded
from doctord.app.watcher import SILENT, Watcher
from doctord.dataset.dataset import Dataset
from doctord.errors import UserError
from doctord.lake.place import default_lake, is_lake
from doctord.lake.query import Lake

PARTED_BY = ".."
HINT = "write --before 2026-11-20T10:00Z..2026-11-20T11:00Z --after 2026-11-21T10:00Z..2026-11-21T11:00Z"


@dataclass(frozen=True, slots=True)
class Span:
    """A period of a lake: when it began and ended, and what was measured in it."""

    since: datetime
    until: datetime
    dataset: Dataset


def span_of(recorded: Recorded, text: str, watcher: Watcher = SILENT) -> Span:
    """A period that is written FROM..TO.

    Raises:
        UserError: it is no such period, or nothing was recorded in it.
    """
    lake = Lake(recorded.lake or default_lake())
    since, until = interval_of(text).of_lake(lake, AN_HOUR, watcher)
    return Span(since, until, _dataset(recorded, lake, since, until, watcher))


def twin_spans(recorded: Recorded, twin: str, own: tuple[Span, Span], watcher: Watcher = SILENT) -> tuple[Span, Span]:
    """The same two times of a server that was not changed: another lake, or another host of the same one.

    Raises:
        UserError: it is the server itself, or nothing was recorded of it.
    """
    is_lake_of_its_own = is_lake(Path(twin))
    other = Recorded(Path(twin)) if is_lake_of_its_own else Recorded(recorded.lake, twin)
    lake = Lake(other.lake or default_lake())
    if lake.path.resolve() == Lake(recorded.lake or default_lake()).path.resolve() and own[0].dataset.hosts == {twin}:
        raise UserError(f"{twin} is the server itself", "name as its twin a server that was not changed")
    old, new = (replace(one, dataset=_dataset(other, lake, one.since, one.until, watcher)) for one in own)
    return old, new


def _dataset(recorded: Recorded, lake: Lake, since: datetime, until: datetime, watcher: Watcher) -> Dataset:
    found = recorded.seen(Interval(since, until, past_s=0.0), watcher, NEEDS).dataset
    if not found.frame("wait").filter(pl.sql_expr(SAMPLED)).is_empty():
        return found
    return Dataset({**found.tables, **recorded.rows(lake.dataset(since, until, SESSIONS)).tables})


def interval_of(text: str) -> Interval:
    """A period as it is written, FROM..TO.

    Raises:
        UserError: it is no such period.
    """
    since, parted, until = text.partition(PARTED_BY)
    if not (since.strip() and parted and until.strip()):
        raise UserError(f"{text!r} is no period", HINT)
    return Interval.asked(since.strip(), until.strip())


def check_apart(before: Span, after: Span) -> None:
    """Refuse periods of which each has a part of the other's time.

    Raises:
        UserError: they are such.
    """
    if before.since < after.until and after.since < before.until:
        told = " and ".join(f"{one.since:%F %T} to {one.until:%F %T} UTC" for one in (before, after))
        raise UserError(f"the periods overlap: {told}", "end the one before where the other begins")
