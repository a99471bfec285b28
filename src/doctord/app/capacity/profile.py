"""The profile of a host: each figure today, and 7, 30 and 90 days ago."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import polars as pl

from doctord.analyse.capacity.contradictions import CONTRADICTS, contradictions
from doctord.analyse.capacity.percentiles import percentiles_of
from doctord.analyse.capacity.profile import NEEDS_DAYS, Profile, days_to
from doctord.analyse.capacity.profile import profile as made
from doctord.analyse.capacity.series import Series, series_of
from doctord.analyse.capacity.thresholds.threshold import Rules, Threshold
from doctord.app.asked import placed
from doctord.app.capacity.history import data_quality_in, data_quality_of, renewed, series_in, span_of, spread_in
from doctord.app.capacity.rules import figures_of, rules_of
from doctord.app.source import Files, Recorded
from doctord.app.sources.hosts import Hosts
from doctord.app.watcher import SILENT, Watcher
from doctord.dataset.dataset import Dataset
from doctord.dataset.figure import Figure
from doctord.errors import UserError
from doctord.lake.place import default_lake
from doctord.lake.query import Lake
from doctord.moments import Moment

DOUBTED = timedelta(days=8)  # rows of today, and of the same day a week ago


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user wants: the moment, files of figures and of thresholds, and which view."""

    at: Moment | None
    figures: Path | None
    thresholds: Path | None
    busy_hour: bool

    @property
    def all_figures(self) -> tuple[Figure, ...]:
        """The figures that Doctor D keeps, the user's own, and those that the user's thresholds bring."""
        known = {figure.name: figure for figure in figures_of(self.figures)}
        return tuple((dict(self._rules.figures) | known).values())

    @property
    def all_thresholds(self) -> Sequence[Threshold]:
        """The user's thresholds, or else Doctor D's own."""
        return self._rules.thresholds

    @property
    def _rules(self) -> Rules:
        return rules_of(self.thresholds)


def profile(source: Files | Recorded, asked: Asked, watcher: Watcher = SILENT) -> Hosts[Profile]:
    """The profile of each host that files tell of, or of a lake, of which what is new is summed up on the way.

    Raises:
        UserError: nothing can be used, there is no lake, or no figure in it.
    """
    if isinstance(source, Recorded):
        return Hosts.of([("", _of_lake(source, asked, watcher))])
    found, refused = list[tuple[str, Profile]](), list[tuple[str, UserError]]()
    for seen in source.hosts(watcher=watcher):
        try:
            found.append((seen.host, _of_rows(seen.dataset, asked, watcher)))
        except UserError as error:
            refused.append((seen.host, error))
    if not found:
        raise refused[0][1]
    for host, why in refused:
        watcher.note(f"{host or 'no host named'}: {why}")
    return Hosts.of(found)


def _of_rows(dataset: Dataset, asked: Asked, watcher: Watcher) -> Profile:
    """The profile of what files tell of a host.

    Raises:
        UserError: no figure is in it, or it begins later.
    """
    figures = asked.all_figures
    series = list(series_of(dataset, figures))
    if not series:
        raise UserError(
            "none of the figures is in these files", "doctord read says what is; --figures FILE names others"
        )
    waits, span = dataset.frame("wait"), span_of(dataset, series)
    at = _moment(asked.at, max(one.end for one in series), series, watcher)
    if span and span[0] < at - timedelta(days=NEEDS_DAYS):
        told = f"what is older than {NEEDS_DAYS} d before {at:%F %T} UTC is not in the profile"
        watcher.note(f"{told}: these figures begin {span[0]:%F %T} UTC\nhint: --at shows an earlier day")
    return made(
        series,
        figures,
        at,
        busy_hour=asked.busy_hour,
        thresholds=asked.all_thresholds,
        classes=_classes_of(waits),
        contradictions=contradictions(waits),
        spread=percentiles_of(dataset, figures),
        data_quality=list(data_quality_of(dataset, figures)),
        measured_s=(span[1] - span[0]).total_seconds() if span else None,
    )


def _of_lake(recorded: Recorded, asked: Asked, watcher: Watcher) -> Profile:
    figures, lake = asked.all_figures, Lake(recorded.lake or default_lake())
    renewed(lake, figures, watcher)
    told = recorded.history(lake, figures)
    last = told.until
    if last is None:
        raise UserError(
            f"{lake.path}: none of the figures was recorded", "record first: doctord record, or doctord read"
        )
    end = placed(asked.at, last, watcher) or last
    series = series_in(told, figures, end - timedelta(days=NEEDS_DAYS), end)
    rows = recorded.rows(lake.dataset(end - timedelta(days=NEEDS_DAYS), end, {"wait": CONTRADICTS})).frame("wait")
    for problem in lake.problems:
        watcher.note(problem)
    if not series:
        raise UserError(
            f"nothing was recorded in the {NEEDS_DAYS} days to {end:%F %T} UTC", f"the last is of {last:%F %T}"
        )
    span = recorded.span(lake, series)
    return made(
        series,
        figures,
        end,
        busy_hour=asked.busy_hour,
        thresholds=asked.all_thresholds,
        classes=_classes_in(lake),
        contradictions=contradictions(rows),
        spread=spread_in(told, figures, days_to(end), whole_days=not asked.busy_hour),
        data_quality=list(data_quality_in(lake, told, figures, end - DOUBTED, end)),
        measured_s=(min(span[1], end) - span[0]).total_seconds() if span else None,
    )


def _moment(at: Moment | None, last: datetime, series: Sequence[Series], watcher: Watcher) -> datetime:
    moment = placed(at, last, watcher) or last
    first = min(one.start for one in series)
    if moment < first:
        raise UserError(f"nothing in these files is of {moment:%F %T} UTC or before", f"they begin at {first:%F %T}")
    return moment


def _classes_in(lake: Lake) -> dict[str, str]:
    with lake.connect(["wait"]) as connection:
        found = connection.execute("SELECT DISTINCT event, wait_class FROM wait WHERE wait_class IS NOT NULL")
        return dict(found.fetchall())


def _classes_of(waits: pl.DataFrame) -> dict[str, str]:
    return dict(waits.select("event", "wait_class").drop_nulls().unique(maintain_order=True).iter_rows())
