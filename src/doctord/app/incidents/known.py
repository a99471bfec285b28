"""What an interval resembles, of the incidents that somebody keeps."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from pathlib import Path
from typing import Final

from doctord.analyse.incidents.figures import NEEDS, Figures, figures_of
from doctord.analyse.incidents.likeness import ALIKE, likeness, mixture
from doctord.analyse.incidents.scan import bad_intervals
from doctord.analyse.incidents.signature import FEWEST, Signature, mean_of, signature_of
from doctord.app.asked import Interval
from doctord.app.incidents.library import Incident, incidents_in, named
from doctord.app.source import Recorded, Source
from doctord.app.watcher import SILENT, Watcher
from doctord.dataset.dataset import Dataset
from doctord.errors import UserError
from doctord.lake.query import Lake

# So many times its length, before and after, tells what is usual: at least so long, and at most so long.
AROUND: Final = 10
LEAST_AROUND, MOST_AROUND = timedelta(minutes=10), timedelta(days=1)
SHORTEST: Final = timedelta(seconds=5)
MOST_TOLD: Final = 3


@dataclass(frozen=True, slots=True)
class Resembled:
    """A known incident, and how alike it is (0 to 1), by how many figures that both tell."""

    incident: Incident
    alike: float
    shared: int


@dataclass(frozen=True, slots=True)
class Resemblance:
    """What an interval resembles.

    Attributes:
        known: How many incidents it was held against.
        nearest: The most alike of them, the best first; they resemble it where they are alike enough.
        several: Causes of which it may be the sum, each with its share (0 to 1); empty where one is enough.
    """

    known: int
    nearest: tuple[Resembled, ...]
    several: tuple[tuple[str, float], ...] = ()

    @property
    def alike(self) -> tuple[Resembled, ...]:
        """Those that it resembles; empty: it is none that is known."""
        return tuple(one for one in self.nearest if one.alike >= ALIKE)


def resemblance(signature: Signature, incidents: Sequence[Incident]) -> Resemblance:
    """What a signature resembles: at most three incidents, and several causes at once where no single one is alike."""
    ranked = likeness(signature, [one.signature for one in incidents])[:MOST_TOLD]
    nearest = tuple(Resembled(incidents[one.place], one.alike, one.shared) for one in ranked)
    if not nearest or nearest[0].alike >= ALIKE:
        return Resemblance(len(incidents), nearest)
    causes = dict[str, list[Signature]]()
    for one in incidents:
        causes.setdefault(one.cause, []).append(one.signature)
    mixed = mixture(signature, [mean_of(own) for own in causes.values()])
    if len(mixed.parts) < 2 or mixed.alike < ALIKE:
        return Resemblance(len(incidents), nearest)
    names = list(causes)
    return Resemblance(len(incidents), nearest, tuple((names[part.place], part.share) for part in mixed.parts))


def incident_of(
    source: Source,
    since: datetime,
    until: datetime,
    cause: str,
    *,
    name: str | None = None,
    note: str = "",
    watcher: Watcher = SILENT,
) -> Incident:
    """The incident of an interval, with its signature against the time around it.

    Raises:
        UserError: too little is told of the interval or of the time around it; or a name is none.
    """
    called, told = named(cause, since, name)
    host, figures = figures_around(source, since, until, watcher)
    return Incident(
        called,
        told,
        note.strip(),
        host,
        since,
        until,
        datetime.now(UTC).replace(microsecond=0),
        version("doctord"),
        signature_in(figures, since, until),
    )


def resembled(source: Source, since: datetime, until: datetime, library: Path, watcher: Watcher) -> Resemblance | None:
    """What an interval resembles; null where no incident is kept, or it cannot be told: the watcher is told why."""
    return _resembled(lambda: figures_around(source, since, until, SILENT)[1], since, until, library, watcher)


def resembled_now(measured: Dataset, lake: Path, library: Path, watcher: Watcher) -> Resemblance | None:
    """The same of what was measured just now, against what a lake tells of the time before."""
    since, until = measured.since, measured.until
    if since is None or until is None or not lake.is_dir():
        return None

    def figures() -> Figures:
        past = Lake(lake).dataset(since - _around(since, until), since, NEEDS)
        now = Dataset({name: measured.tables[name] for name in measured.tables if name in NEEDS})
        return _told(figures_of(Dataset.joined([past, now])), since, until)

    return _resembled(figures, since, until, library, watcher)


def _resembled(
    figures: Callable[[], Figures], since: datetime, until: datetime, library: Path, watcher: Watcher
) -> Resemblance | None:
    try:
        incidents = incidents_in(library, watcher)
        return resemblance(signature_in(figures(), since, until), incidents) if incidents else None
    except UserError as error:  # it costs the memory, and never the diagnosis
        watcher.note(f"not held against the incidents that are kept: {error}")
        return None


def figures_around(source: Source, since: datetime, until: datetime, watcher: Watcher) -> tuple[str, Figures]:
    """The host, and the figures of an interval and of the time around it, as far as that is told.

    Raises:
        UserError: nothing is told of it.
    """
    asked = Interval(since - _around(since, until), until + _around(since, until), 0.0)
    seen = source.seen(asked, watcher, NEEDS) if isinstance(source, Recorded) else source.seen(asked, watcher)
    return seen.host or next(iter(seen.dataset.hosts), ""), _told(figures_of(seen.dataset), since, until)


def _around(since: datetime, until: datetime) -> timedelta:
    return min(max(AROUND * (until - since), LEAST_AROUND), MOST_AROUND)


def _told(figures: Figures | None, since: datetime, until: datetime) -> Figures:
    if figures is None:
        raise UserError(
            f"nothing of {since:%F %T} to {until:%F %T} UTC tells how a server did",
            "doctord record measures waits, statistics and the host",
        )
    return figures


def signature_in(figures: Figures, since: datetime, until: datetime) -> Signature:
    """The signature of an interval against the rest, other intervals left out in which clients suffered.

    Raises:
        UserError: the interval is too short, or nothing of it or of the rest was measured.
    """
    if until - since < SHORTEST:
        raise UserError(
            f"an incident of {(until - since).total_seconds():.0f} s is too short to be known again",
            f"name {SHORTEST.total_seconds():.0f} s and more",
        )
    begin, end = (figures.place(moment.timestamp()) for moment in (since, until))
    if end - begin < FEWEST:
        raise UserError(
            f"nothing was measured from {since:%F %T} to {until:%F %T} UTC", "doctord verify tells what is there"
        )
    others = [(one.begin, one.end) for one in bad_intervals(figures) if one.end <= begin or one.begin >= end]
    found = signature_of(figures, begin, end, others)
    if not found:
        raise UserError(
            f"nothing tells what is usual beside {since:%F %T} to {until:%F %T} UTC",
            "an incident is held against the time before and after it: record for longer than it lasts",
        )
    return found
