"""Latency maps of what was recorded: which subject, and how wide a column."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from doctord.analyse.latency.map import LatencyMap, Subject, latency_map, subjects
from doctord.app import read
from doctord.app.asked import Interval
from doctord.app.watcher import SILENT, Watcher
from doctord.dataset.dataset import Dataset
from doctord.errors import UserError
from doctord.lake.place import default_lake, is_lake
from doctord.lake.query import Lake
from doctord.read.source import ReadOptions
from doctord.regex import regex

TABLES = ("latency", "wait", "disk", "session", "event")
BEGINNING, END_OF_TIME = datetime(1970, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)
USUAL = timedelta(hours=1)
# A page of more maps would be slow to open.
MOST_MAPS = 40
_NO_DISK: Final = regex(r"(loop|zram|ram)\d+ (read|write)$")
# Widths that a column is given when there are more intervals than columns on the screen.
WIDTHS_S: Final = (
    *(0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 3, 5, 10, 15, 30),
    *(60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400),
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the user asked for: a subject and where, and how wide a column; null leaves the choice to us."""

    subject: str | None = None
    db: str | None = None
    instance: str | None = None
    host: str | None = None
    column_s: float | None = None

    def map_of(self, dataset: Dataset, room: int | None = None) -> LatencyMap:
        """The map of the subject, or of the one with most waits; columns wide enough for the room where none is said.

        Raises:
            UserError: there is none, or it is not clear which.
        """
        if self.subject is None:
            first = next((one for one in _some(dataset) if self.db in {None, one.db}), _some(dataset)[0])
            return replace(self, subject=first.name, db=self.db or first.db).map_of(dataset, room)
        subject, column_s = self.subject, self.column_s
        if column_s is None and room and dataset.since and dataset.until:
            needed_s = (dataset.until - dataset.since).total_seconds() / room
            known = latency_map(dataset, subject, db=self.db, instance=self.instance, host=self.host)
            if len(known.columns) <= room:
                return known
            column_s = next((width for width in WIDTHS_S if width >= needed_s), needed_s)
        return latency_map(dataset, subject, db=self.db, instance=self.instance, host=self.host, column_s=column_s)

    def maps_of(self, dataset: Dataset, room: int | None = None) -> list[LatencyMap]:
        """The map of the subject; where none is asked for those of all, that of most waits first.

        Raises:
            UserError: there is none, or it is not clear which.
        """
        if self.subject:
            return [self.map_of(dataset, room)]
        found = [subject for subject in _some(dataset) if self.db in {None, subject.db}]
        return [replace(self, subject=one.name, db=one.db).map_of(dataset, room) for one in found[:MOST_MAPS]]


def by_waits(dataset: Dataset) -> list[Subject]:
    """The subjects, that of most waits first, histograms before means.

    Loop devices and those in memory are mapped when they are named: a list of them would hide the disks.
    """
    known = [subject for subject in subjects(dataset) if not (subject.db is None and _NO_DISK.match(subject.name))]
    return sorted(known, key=lambda subject: (subject.kind != "histogram", -subject.count))


def _some(dataset: Dataset) -> list[Subject]:
    known = by_waits(dataset)
    if not known:
        raise UserError(
            "there are no latencies in it", "doctord map-live --record LAKE records some; docs/how-to/draw-a-map.md"
        )
    return known


def recorded(places: Sequence[Path], asked: Interval, options: ReadOptions, watcher: Watcher = SILENT) -> Dataset:
    """The rows of lakes and files that a map can be drawn of, between two moments.

    Where no place is named it is the usual lake, and its last hour, or the hour to the later moment.

    Raises:
        UserError: one of them cannot be read, or holds nothing.
    """
    named = places or [_usual_lake()]
    held = [Lake(place) if is_lake(place) else read.dataset_of([place], options, watcher) for place in named]
    since, until = asked.placed(lambda: max(filter(None, map(_end, held)), default=None), watcher)
    if not places:
        since = since or (until or datetime.now(UTC)) - USUAL
    datasets = (one if isinstance(one, Dataset) else _of_lake(one, since, until, watcher) for one in held)
    return Dataset.joined(datasets).between(since or BEGINNING, until or END_OF_TIME)


def _end(held: Dataset | Lake) -> datetime | None:
    if isinstance(held, Dataset):
        return held.until
    return span[1] if (span := held.span()) else None


def _usual_lake() -> Path:
    lake = default_lake()
    if not lake.is_dir():
        hint = "name a lake or files: doctord map PATH; doctord map-live draws what happens now"
        raise UserError(f"{lake}: no lake here", hint)
    return lake


def _of_lake(lake: Lake, since: datetime | None, until: datetime | None, watcher: Watcher) -> Dataset:
    span = lake.span()
    if span is None:
        raise UserError(f"{lake.path} holds nothing", "record first: doctord map-live --record LAKE, or doctord record")
    dataset = lake.dataset(since or span[0] - timedelta(seconds=1), until or span[1], dict.fromkeys(TABLES, "true"))
    for problem in lake.problems:
        watcher.note(problem)
    return dataset
