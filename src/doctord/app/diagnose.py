"""Diagnose what a source tells: each server and time of it for itself, the worst first."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from doctord.analyse.bad_times import bad_times
from doctord.app.asked import ALL, Interval
from doctord.app.incidents.known import Resemblance, resembled
from doctord.app.source import AN_HOUR, Recorded, Seen, Source
from doctord.app.watcher import SILENT, Watcher
from doctord.diagnose import engine
from doctord.diagnose.finding import SEVERITIES, Diagnosis


@dataclass(frozen=True)
class Examination:
    """What was seen, and what follows from it.

    Attributes:
        seen: What was seen.
        diagnosis: What follows from it.
        others: What was judged apart from it, and is no worse.
        resemblance: What it resembles of the incidents that are kept; null where none is kept, or it was not asked.
    """

    seen: Seen
    diagnosis: Diagnosis
    others: tuple["Examination", ...] = ()
    resemblance: Resemblance | None = None

    @property
    def healthy(self) -> bool | None:
        """Whether nothing above a note was found; null where nothing was judged: nobody should take that for health."""
        return {"healthy": True, "not_healthy": False, "not_judged": None}[self.diagnosis.health]

    @property
    def order(self) -> tuple[int, int, float, str]:
        """By which the worst comes first: health, the severity of the first finding, its share; else by name."""
        worst = next(iter(self.diagnosis.findings), None)
        severity = SEVERITIES.index(worst.severity) if worst else len(SEVERITIES)
        share = (worst.impact.share if worst else None) or 0.0
        return (
            ("not_healthy", "healthy", "not_judged").index(self.diagnosis.health),
            severity,
            -share,
            self.diagnosis.host,
        )


def diagnose(
    source: Source,
    asked: Interval = ALL,
    watcher: Watcher = SILENT,
    servers: int = 0,
    library: Path | None = None,
) -> Examination:
    """Diagnose an interval; of files of several servers or times the worst, with the others.

    Minutes in which a server suffered are judged for themselves too, where they tell what the whole averages away.

    Args:
        source: Where the measurements come from.
        asked: The interval, and how far back to look for what is usual.
        watcher: Who is told how it goes on.
        servers: How many database servers the user named: where fewer answer there is no verdict of health.
        library: The folder of the incidents that are kept, which a recorded interval is held against; null: none.

    Raises:
        UserError: the source cannot be read, or tells nothing of that time.
    """
    if isinstance(source, Recorded):
        asked = source.placed(asked, AN_HOUR, watcher)
    whole = [
        Examination(seen, engine.diagnose(seen.dataset, seen.earlier, seen.trace, servers, seen.period))
        for seen in source.each(asked, watcher)
    ]
    apart = [part for one in whole for part in _bad_times(one, servers)]
    worst, *others = sorted((*whole, *apart), key=lambda one: one.order)
    like = None
    if library and isinstance(source, Recorded):
        like = resembled(source, *asked.moments, library, watcher)
    return replace(worst, others=tuple(others), resemblance=like)


def _bad_times(whole: Examination, servers: int) -> Iterator[Examination]:
    """The times in which something is found that the verdict on the whole does not have, or only as a note."""
    seen = whole.seen
    known = _serious(whole)
    for bad in bad_times(seen.dataset):
        before = seen.dataset.between(seen.dataset.since or bad.since, bad.since)
        part = replace(seen, dataset=seen.dataset.between(bad.since, bad.until), earlier=before)
        found = Examination(part, engine.diagnose(part.dataset, part.earlier, servers=servers))
        if _serious(found) - known:
            yield found


def _serious(examined: Examination) -> set[str]:
    """The causes found that nothing else explains, above a note."""
    findings = examined.diagnosis.findings
    return {one.cause for one in findings if one.severity != "note" and one.explained_by is None}
