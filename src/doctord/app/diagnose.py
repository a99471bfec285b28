"""Diagnose what a source tells."""

from dataclasses import dataclass
from datetime import datetime

from doctord.app.source import DAY_S, Seen, Source
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
        return self.seen.chart.frame("statistic")["db"].drop_nulls().n_unique()


def diagnose(
    source: Source,
    since: datetime | None = None,
    until: datetime | None = None,
    past_s: float = DAY_S,
    watcher: Watcher = SILENT,
) -> Examination:
    """Diagnose an interval.

    Args:
        source: Where the measurements come from.
        since: Its beginning; what null means, the source says.
        until: Its end, likewise.
        past_s: How many seconds before it to look at for what is usual.
        watcher: Who is told how it goes on.

    Raises:
        Refusal: the source cannot be read, or tells nothing of that time.
    """
    seen = source.seen(since, until, past_s, watcher)
    return Examination(seen, engine.diagnose(seen.chart, seen.earlier, seen.trace))
