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
    def servers(self) -> int:
        """How many database servers answered."""
        return self.seen.dataset.frame("statistic")["db"].drop_nulls().n_unique()

    def healthy(self, servers: int = 0) -> bool | None:
        """False with findings; null where nothing was judged, or fewer database servers answered than were named.

        Nobody should take that for health.
        """
        if not self.diagnosis.healthy:
            return False
        return True if self.diagnosis.is_judged and self.servers >= servers else None


def diagnose(source: Source, asked: Interval = ALL, watcher: Watcher = SILENT) -> Examination:
    """Diagnose an interval.

    Args:
        source: Where the measurements come from.
        asked: The interval, and how far back to look for what is usual.
        watcher: Who is told how it goes on.

    Raises:
        UserError: the source cannot be read, or tells nothing of that time.
    """
    seen = source.seen(asked, watcher)
    return Examination(seen, engine.diagnose(seen.dataset, seen.earlier, seen.trace))
