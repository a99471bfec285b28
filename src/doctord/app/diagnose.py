"""Diagnose what a source tells."""

from dataclasses import dataclass

from doctord.app.source import ALL, Interval, Seen, Source
from doctord.app.watcher import SILENT, Watcher
from doctord.diagnose import engine
from doctord.diagnose.finding import Diagnosis


@dataclass(frozen=True)
class Examination:
    """What was seen, and what follows from it."""

    seen: Seen
    diagnosis: Diagnosis

    @property
    def healthy(self) -> bool | None:
        """Whether nothing above a note was found; null where nothing was judged: nobody should take that for health."""
        return {"healthy": True, "not_healthy": False, "not_judged": None}[self.diagnosis.health]


def diagnose(source: Source, asked: Interval = ALL, watcher: Watcher = SILENT, servers: int = 0) -> Examination:
    """Diagnose an interval.

    Args:
        source: Where the measurements come from.
        asked: The interval, and how far back to look for what is usual.
        watcher: Who is told how it goes on.
        servers: How many database servers the user named: where fewer answer there is no verdict of health.

    Raises:
        UserError: the source cannot be read, or tells nothing of that time.
    """
    seen = source.seen(asked, watcher)
    return Examination(seen, engine.diagnose(seen.dataset, seen.earlier, seen.trace, servers))
