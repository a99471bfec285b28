"""Forecast: which thresholds will be violated, and when."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib.util import find_spec
from pathlib import Path

from doctord.analyse.capacity.interval import at_its_interval, series_at_interval
from doctord.analyse.capacity.load.responses import with_loads
from doctord.analyse.capacity.outlook import Item, outlook
from doctord.analyse.capacity.series import HOUR_S, Series
from doctord.analyse.capacity.sizes_ahead import SIZE, SizeAhead, sizes_ahead
from doctord.analyse.capacity.thresholds import alert
from doctord.analyse.capacity.thresholds.check import check
from doctord.analyse.capacity.thresholds.threshold import Rules
from doctord.analyse.capacity.whatif import Change
from doctord.app.capacity.history import A_DAY, CHECKED_STEP_S, finest_in, renewed, series_in, span_of
from doctord.app.capacity.rules import rules_of
from doctord.app.source import Files, Recorded
from doctord.app.sources.hosts import Hosts
from doctord.app.watcher import SILENT, Watcher
from doctord.dataset.dataset import Dataset
from doctord.dataset.figure import Figure, own_figures
from doctord.errors import UserError
from doctord.lake.place import default_lake
from doctord.lake.query import Lake

LOOKED_BACK = timedelta(days=2 * 365)
LIBRARIES = ("statsforecast", "ruptures")
HINT_EXTRA = "pip install 'doctord[forecast]' brings statsforecast and ruptures"


@dataclass(frozen=True, eq=False)
class Histories:
    """What was measured.

    Attributes:
        series: Figures over all the time, in hours or longer steps.
        newest: Those that thresholds speak of over the last day, in the steps in which thresholds are checked.
        span: From when to when that is, to the second; null: nothing was measured.
    """

    series: list[Series]
    newest: list[Series]
    span: tuple[datetime, datetime] | None

    @property
    def seconds(self) -> float:
        """Seconds from the first measurement to the last; 0 where nothing was measured."""
        return (self.span[1] - self.span[0]).total_seconds() if self.span else 0.0


@dataclass(frozen=True, eq=False)
class Forecast:
    """Every threshold with every series that it concerns, and when it is passed; and sizes without a limit.

    Attributes:
        items: The thresholds.
        history_s: How long a time was measured.
        now: When that ended.
        sizes: Where sizes go that have no limit.
        horizon_s: How far was to be looked.
        changes: What-ifs that are taken into account.
    """

    items: list[Item]
    history_s: float
    now: datetime | None
    sizes: list[SizeAhead]
    horizon_s: float
    changes: Sequence[Change]

    @property
    def healthy(self) -> bool | None:
        """Whether nothing is or will be violated within the horizon; null when nothing can be told."""
        verdicts = {item.when.verdict for item in self.items}
        if verdicts & {"violated", "date"}:
            return False
        return True if "not within the horizon" in verdicts else None


def alerts(found: Hosts[Forecast], form: alert.Form) -> str:
    """What is to come of all hosts, as alerts."""
    made, moments = list[alert.Alert](), list[datetime]()
    for _, one in found.each:
        if now := one.now:
            moments.append(now)
            foretold = (alert.foreseen(item.threshold, item.series, item.when, now) for item in one.items)
            made += [each for each in foretold if each is not None]
    return alert.written(made, form, max(moments, default=None))


def forecast(
    source: Files | Recorded,
    file: Path | None,
    horizon_s: float,
    changes: Sequence[Change],
    watcher: Watcher = SILENT,
) -> Hosts[Forecast]:
    """Every threshold of a file, or of Doctor D, with every series that it concerns, and when it is passed.

    Raises:
        UserError: nothing was measured, or the libraries that forecast are not installed.
    """
    return forecast_by(source, rules_of(file), horizon_s, changes, watcher)


def forecast_by(
    source: Files | Recorded, rules: Rules, horizon_s: float, changes: Sequence[Change], watcher: Watcher = SILENT
) -> Hosts[Forecast]:
    """The same by thresholds that were read before.

    Raises:
        UserError: nothing was measured, or the libraries that forecast are not installed.
    """
    used, own = rules.figures_used(), own_figures()
    used += [one for one in own if one.name == SIZE and one not in used]
    figures = with_loads(used, own) if changes else used
    check_installed()
    tell_left_out(rules, watcher)
    found = list[tuple[str, Forecast]]()
    for host, one in of_hosts(source, figures, watcher):
        items, now = foreseen(one, rules, horizon_s, changes), one.span[1] if one.span else None
        sizes = sizes_ahead(one.series, rules.thresholds, horizon_s, changes)
        found.append((host, Forecast(items, one.seconds, now, sizes, horizon_s, changes)))
    return Hosts.of(found)


def of_hosts(
    source: Files | Recorded, figures: Sequence[Figure], watcher: Watcher = SILENT
) -> list[tuple[str, Histories]]:
    """Figures over the time that files tell of, by host; or those of a lake over its last years, all by one clock."""
    if isinstance(source, Recorded):
        return [("", in_lake(source, figures, watcher))]
    return [(seen.host, in_files(seen.dataset, figures)) for seen in source.hosts(watcher=watcher)]


def of_one(source: Files | Recorded, figures: Sequence[Figure], watcher: Watcher = SILENT) -> Histories:
    """The same of one host.

    Raises:
        UserError: files tell of several.
    """
    if isinstance(source, Recorded):
        return in_lake(source, figures, watcher)
    return in_files(source.seen(watcher=watcher).dataset, figures)


def in_files(dataset: Dataset, figures: Sequence[Figure]) -> Histories:
    """Figures over all the time that rows tell of."""
    series, newest = (list(series_at_interval(dataset, figures, step_s)) for step_s in (HOUR_S, CHECKED_STEP_S))
    return Histories(series, newest, span_of(dataset, series))


def in_lake(source: Recorded, figures: Sequence[Figure], watcher: Watcher = SILENT) -> Histories:
    """Figures over the last years of a lake."""
    place = Lake(source.lake or default_lake())
    renewed(place, figures, watcher)
    told = source.history(place, figures)
    if (last := told.until) is None:
        return Histories([], [], None)
    hours = series_in(told, figures, last - LOOKED_BACK, last)
    newest = finest_in(told, figures, last - A_DAY, last)
    return Histories([at_its_interval(series) for series in hours], newest, source.span(place, hours))


def check_installed() -> None:
    """Refuse before the work what cannot be done after it.

    Raises:
        UserError: the libraries that forecast are not installed.
    """
    for library in LIBRARIES:
        if find_spec(library) is None:
            raise UserError(f"forecasts need {library}, which is not installed", HINT_EXTRA)


def foreseen(measured: Histories, rules: Rules, horizon_s: float, changes: Sequence[Change]) -> list[Item]:
    """The thresholds held against where the figures go."""
    checked = check(rules.thresholds, measured.newest, measured.span)
    return outlook(measured.series, rules.thresholds, horizon_s, changes, checked)


def tell_left_out(rules: Rules, watcher: Watcher) -> None:
    """Note that percentiles are not forecast."""
    if left := [one.name for one in rules.thresholds if one.of]:
        watcher.note(f"percentiles are not forecast, so these thresholds are left out: {', '.join(left)}")
