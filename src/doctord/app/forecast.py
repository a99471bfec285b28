"""Forecast: which thresholds will be violated, and when."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from doctord.analyse.capacity import alert
from doctord.analyse.capacity.interval import at_its_interval, series_at_interval
from doctord.analyse.capacity.outlook import Item, outlook
from doctord.analyse.capacity.responses import with_loads
from doctord.analyse.capacity.series import HOUR_S, Series
from doctord.analyse.capacity.threshold import Rules
from doctord.analyse.capacity.whatif import Change
from doctord.app import read
from doctord.app.history import history, renewed
from doctord.app.rules import rules_of
from doctord.app.source import Files, Recorded
from doctord.app.watcher import SILENT, Watcher
from doctord.dataset.figure import Figure, own_figures
from doctord.errors import UserError
from doctord.lake.history import until_of
from doctord.lake.place import default_lake
from doctord.lake.query import Lake

LOOKED_BACK = timedelta(days=2 * 365)
HINT_EXTRA = "pip install 'doctord[forecast]' brings statsforecast and ruptures"


@dataclass(frozen=True, eq=False)
class Forecast:
    """Every threshold with every series that it concerns, and when it is passed."""

    items: list[Item]

    @property
    def healthy(self) -> bool | None:
        """Whether nothing is or will be violated within the horizon; null when nothing can be told."""
        verdicts = {item.when.verdict for item in self.items}
        if verdicts & {"violated", "date"}:
            return False
        return True if "not within the horizon" in verdicts else None

    def alerts(self, form: alert.Form) -> str:
        """What is to come, as alerts."""
        now = max((item.series.end for item in self.items), default=None)
        made = [alert.foreseen(item.threshold, item.series, item.when, now) for item in self.items if now]
        return alert.written([one for one in made if one is not None], form, now)


def forecast(
    source: Files | Recorded,
    file: Path | None,
    horizon_s: float,
    changes: Sequence[Change],
    watcher: Watcher = SILENT,
) -> Forecast:
    """Every threshold of a file, or of Doctor D, with every series that it concerns, and when it is passed.

    Raises:
        UserError: nothing was measured, or the libraries that forecast are not installed.
    """
    rules = rules_of(file)
    figures = with_loads(rules.figures_used(), own_figures()) if changes else rules.figures_used()
    return Forecast(foreseen(histories(source, figures, watcher), rules, horizon_s, changes, watcher))


def histories(source: Files | Recorded, figures: Sequence[Figure], watcher: Watcher = SILENT) -> list[Series]:
    """Figures over the time that files tell of, or over the last years of a lake."""
    if isinstance(source, Files):
        return list(series_at_interval(read.dataset_of(source.paths, source.options, watcher), figures, HOUR_S))
    place = Lake(source.lake or default_lake())
    renewed(place, figures, watcher)
    last = until_of(place, figures)
    hours = history(place, figures, last - LOOKED_BACK, last) if last else []
    return [at_its_interval(series) for series in hours]


def foreseen(
    measured: Sequence[Series], rules: Rules, horizon_s: float, changes: Sequence[Change], watcher: Watcher = SILENT
) -> list[Item]:
    """The thresholds held against where the figures go.

    Raises:
        UserError: the libraries that forecast are not installed.
    """
    if left := [one.name for one in rules.thresholds if one.of]:
        watcher.note(f"percentiles are not forecast, so these thresholds are left out: {', '.join(left)}")
    try:
        return outlook(measured, rules.thresholds, horizon_s, changes)
    except ModuleNotFoundError as error:
        raise UserError(f"forecasts need {error.name}, which is not installed", HINT_EXTRA) from error
