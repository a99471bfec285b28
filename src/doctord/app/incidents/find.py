"""When it was bad: the intervals of a recording in which clients waited longer, each diagnosed for itself."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from doctord.analyse.incidents.figures import NEEDS, PER_COMMIT, PER_SECOND, Figures, figures_of
from doctord.analyse.incidents.scan import FEWEST_STEPS, SHORTEST, BadInterval, bad_intervals
from doctord.analyse.incidents.signature import Change, Signature, by_weight, signature_of
from doctord.app.asked import Interval
from doctord.app.diagnose import Examination, diagnose
from doctord.app.incidents.known import Resemblance, resemblance
from doctord.app.incidents.library import incidents_in
from doctord.app.source import Recorded, Source
from doctord.app.watcher import SILENT, Watcher
from doctord.errors import UserError

A_DAY: Final = timedelta(days=1)
MOST_MOVED: Final = 8


@dataclass(frozen=True, slots=True)
class Found:
    """One interval in which clients waited longer.

    Attributes:
        interval: When, and how much longer.
        moved: Figures that moved most and surest, by name.
        examination: What the causes say of it; null where nothing could be judged.
        resemblance: What it resembles; null where no incident is kept.
    """

    interval: BadInterval
    moved: tuple[tuple[str, Change], ...]
    examination: Examination | None
    resemblance: Resemblance | None


@dataclass(frozen=True, slots=True)
class Searched:
    """A recording that was searched.

    Attributes:
        host: Whose it is; empty where that is not known.
        since, until: The time that was searched, UTC.
        step_s: Seconds of a step: what is shorter than eight of them is not found.
        suffers: The figure by which clients suffer; null where none was measured.
        unseen_s: Seconds of which nothing tells how clients did: the server did not answer, or nobody recorded.
        found: The intervals, the longest wait first.
    """

    host: str
    since: datetime
    until: datetime
    step_s: float
    suffers: str | None
    unseen_s: float
    found: tuple[Found, ...]

    @property
    def healthy(self) -> bool | None:
        """Whether there is no such interval; null where one may lie in what nothing tells of."""
        if self.found:
            return False
        return None if self.suffers is None or self.is_unseen else True

    @property
    def is_unseen(self) -> bool:
        """Whether an interval may lie in what nothing tells of."""
        return self.unseen_s >= SHORTEST * self.step_s


def find(source: Source, asked: Interval, library: Path, watcher: Watcher = SILENT) -> Searched:
    """Search a recording: of a lake the last day, where no moment is asked for.

    Raises:
        UserError: nothing is told of that time, or too little; or a library may not be read.
    """
    if isinstance(source, Recorded):
        searched = source.newest(A_DAY) if asked.is_all else source.placed(asked, A_DAY, watcher)
        seen = source.seen(replace(searched, past_s=0.0), watcher, NEEDS)
    else:
        seen = source.seen(asked, watcher)
    figures = figures_of(seen.dataset)
    if figures is None or figures.steps < FEWEST_STEPS:
        raise UserError(
            "less than a minute was measured: nothing in it can stand out",
            "doctord diagnose judges it as a whole",
        )
    incidents = incidents_in(library, watcher)
    intervals = bad_intervals(figures)
    found = list[Found]()
    for one in sorted(intervals, key=lambda bad: -(bad.times or float("inf"))):
        others = [(other.begin, other.end) for other in intervals if other is not one]
        signature = signature_of(figures, one.begin, one.end, others)
        known = resemblance(signature, incidents) if incidents else None
        found.append(Found(one, _moved(signature), _examined(source, one, asked.past_s, watcher), known))
    return Searched(
        seen.host or next(iter(seen.dataset.hosts), ""),
        *_span(figures),
        figures.step_s,
        None if figures.suffers is None else figures.names[figures.suffers],
        figures.unseen_s,
        tuple(found),
    )


def _examined(source: Source, bad: BadInterval, past_s: float, watcher: Watcher) -> Examination | None:
    try:
        return diagnose(source, Interval(bad.since, bad.until, past_s), watcher)
    except UserError as error:
        watcher.note(f"{bad.since:%F %T} to {bad.until:%F %T} UTC is not judged: {error}")
        return None


def _moved(signature: Signature) -> tuple[tuple[str, Change], ...]:
    """What moved most and surest; of what is told by commit and by second the one that moved more."""
    found = dict[str, tuple[str, Change]]()
    for name, change in by_weight(signature):
        if change.higher:
            found.setdefault(name.removesuffix(PER_COMMIT).removesuffix(PER_SECOND), (name, change))
    return tuple(found.values())[:MOST_MOVED]


def _span(figures: Figures) -> tuple[datetime, datetime]:
    first, last = (figures.since_s + step * figures.step_s for step in (0, figures.steps))
    return datetime.fromtimestamp(first, UTC), datetime.fromtimestamp(last, UTC)
