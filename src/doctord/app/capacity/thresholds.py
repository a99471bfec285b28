"""Hold histories of a lake or of files against thresholds, and propose thresholds from a good time."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeAlias

from doctord.analyse.capacity.interval import at_its_interval, series_at_interval
from doctord.analyse.capacity.percentiles import percentiles_of
from doctord.analyse.capacity.series import HOUR_S, Series
from doctord.analyse.capacity.thresholds import alert, service_level, threshold
from doctord.analyse.capacity.thresholds.check import Checked
from doctord.analyse.capacity.thresholds.check import check as check_thresholds
from doctord.analyse.capacity.thresholds.propose import Proposal, propose
from doctord.analyse.capacity.thresholds.service_level import Judged
from doctord.analyse.capacity.thresholds.threshold import Rules
from doctord.app import read
from doctord.app.capacity.history import (
    CHECKED_STEP_S,
    data_quality_in,
    data_quality_of,
    finest_in,
    history,
    span_in,
    span_of,
    spread_between,
)
from doctord.app.capacity.rules import rules_of
from doctord.app.source import DAY_S, Files, Interval, Recorded
from doctord.app.watcher import SILENT, Watcher
from doctord.dataset.dataset import Dataset
from doctord.dataset.figure import own_figures
from doctord.errors import UserError
from doctord.lake.history import History
from doctord.lake.place import default_lake
from doctord.lake.query import Lake

Span: TypeAlias = tuple[datetime, datetime]
USUAL_S, GOOD_S = DAY_S, 28 * DAY_S  # how far back a lake is looked at to check, and to propose, where it is not said
SILENT_S = 2 * HOUR_S  # figures of an hour may be one hour old


@dataclass(frozen=True, slots=True)
class _Asked:
    """A history: of files, or else of a lake, between two moments; null means all of files."""

    source: Files | Recorded
    since: datetime | None
    until: datetime | None
    usual_s: float  # how far back a lake is looked at, where `since` is not said


@dataclass(frozen=True, eq=False)
class Found:
    """What a check found, and what of it could not be judged."""

    checked: Checked
    judged: list[Judged]
    unjudged: list[str]
    file: str

    @property
    def healthy(self) -> bool | None:
        """Whether nothing is violated now, and every service level was kept; null when nothing was measured to tell."""
        if not self.checked.held and all(one.is_violated is None for one in self.judged):
            return None
        violated = any(one.is_now for one in self.checked.violations) or any(one.is_violated for one in self.judged)
        return not violated

    def alerts(self, form: alert.Form) -> str:
        """The violations as alerts."""
        made = [alert.violated(one) for one in self.checked.violations if one.is_now]
        made += [alert.broken(one) for one in self.judged if one.is_violated]
        return alert.written(made, form, self.checked.now)


def check(source: Files | Recorded, interval: Interval, file: Path | None, watcher: Watcher = SILENT) -> Found:
    """Hold the thresholds and levels of a file, or the built-in ones, against a history: of a lake the last day."""
    asked = _Asked(source, interval.since, interval.until, USUAL_S)
    rules = rules_of(file)
    if not rules.thresholds and not rules.levels:
        raise UserError(f"{file}: there is no threshold in it", threshold.FORM)
    histories, dataset, span = _measured(asked, rules, watcher)
    judged = list(service_level.judged(rules.levels, dataset))
    known = {one.level.name for one in judged}
    checked = check_thresholds(rules.thresholds, histories, span)
    _tell_silence(asked, checked, watcher)
    return Found(checked, judged, [one.name for one in rules.levels if one.name not in known], str(file or "Doctor D"))


def _measured(asked: _Asked, rules: Rules, watcher: Watcher) -> tuple[list[Series], Dataset, Span | None]:
    """What thresholds speak of, in steps of five minutes or longer; the tables of service levels; its time."""
    figures, tables = rules.figures_used(), {known.table for known in rules.levels}
    wanted = rules.percentiles_used()
    if isinstance(asked.source, Files):
        dataset = _dataset(asked, watcher, {used.table for used in figures} | tables)
        _tell(watcher, data_quality_of(dataset, figures))
        spread = percentiles_of(dataset, [rules.figures[name] for name in dict(wanted)])
        series = list(series_at_interval(dataset, figures, CHECKED_STEP_S))
        return [*series, *spread.series(wanted)], dataset, span_of(dataset, series)
    series, span = _kept(asked.source, asked, rules, watcher)
    return series, _dataset(asked, watcher, set(tables)) if tables else Dataset(), span


def _kept(recorded: Recorded, asked: _Asked, rules: Rules, watcher: Watcher) -> tuple[list[Series], Span | None]:
    """The histories of a lake, of its minutes or, where only hours are kept, of these; their time."""
    lake, (since, until) = Lake(recorded.lake or default_lake()), _between(asked)
    figures, wanted = rules.figures_used(), rules.percentiles_used()
    told = History(lake, figures, (since, until))
    _tell(watcher, lake.problems)
    _tell(watcher, data_quality_in(lake, told, figures, since, until))
    if told.finest_s(since, until) > CHECKED_STEP_S:
        _tell(watcher, [f"hours are all that is kept since {since:%F %T} UTC: they are judged"])
    series = finest_in(told, figures, since, until)
    percentiles = spread_between(told, figures, since, until).series(wanted) if wanted else ()
    span = span_in(lake, series)
    return [*series, *percentiles], (max(span[0], since), min(span[1], until)) if span else None


def _tell_silence(asked: _Asked, checked: Checked, watcher: Watcher) -> None:
    """Say so where "now" is long ago, as of a lake that nobody fills any more."""
    until = asked.until or datetime.now(UTC)
    if not isinstance(asked.source, Files) and checked.now and (until - checked.now).total_seconds() > SILENT_S:
        watcher.note(f"nothing was measured after {checked.now:%F %T} UTC; that is taken for now")


@dataclass(frozen=True, eq=False)
class Proposed:
    """Thresholds that a good time proposes, and from when to when that was."""

    proposals: list[Proposal]
    since: datetime
    until: datetime


def proposed(source: Files | Recorded, interval: Interval, hold_s: float, watcher: Watcher = SILENT) -> Proposed:
    """Propose thresholds from a time that was good: of a lake the last four weeks where no other is said.

    Raises:
        UserError: nothing was measured.
    """
    histories = _good_time(_Asked(source, interval.since, interval.until, GOOD_S), watcher)
    if not histories:
        raise UserError("no figure was measured in that time", "docs/how-to/set-thresholds.md says what is needed")
    return Proposed(list(propose(histories, hold_s)), *_span(histories))


def _good_time(asked: _Asked, watcher: Watcher) -> list[Series]:
    """The histories of a time in hours; of a lake from what it keeps for years, when the rows are long gone."""
    if isinstance(asked.source, Files):
        figures = own_figures()
        return list(series_at_interval(_dataset(asked, watcher, {used.table for used in figures}), figures, HOUR_S))
    lake = Lake(asked.source.lake or default_lake())
    histories = [at_its_interval(series) for series in history(lake, own_figures(), *_between(asked))]
    _tell(watcher, lake.problems)
    return histories


def _span(histories: list[Series]) -> tuple[datetime, datetime]:
    return min(series.at(-1) for series in histories), max(series.end for series in histories)


def _dataset(asked: _Asked, watcher: Watcher, tables: set[str]) -> Dataset:
    """What was measured between two moments, of some tables."""
    if isinstance(asked.source, Files):
        return _within(read.dataset_of(asked.source.paths, asked.source.options, watcher), asked)
    since, until = _between(asked)
    lake = Lake(asked.source.lake or default_lake())
    dataset = lake.dataset(since, until, dict.fromkeys(sorted(tables), "true"))
    _tell(watcher, lake.problems)
    return dataset


def _tell(watcher: Watcher, remarks: Iterable[str]) -> None:
    for remark in remarks:
        watcher.note(remark)


def _between(asked: _Asked) -> tuple[datetime, datetime]:
    """From when to when a lake is to be read."""
    now = datetime.now(UTC)
    since, until = asked.since or now - timedelta(seconds=asked.usual_s), asked.until or now
    if since >= until:
        raise UserError(f"{since:%F %T} UTC is not before {until:%F %T}", "give --from a moment before --to")
    return since, until


def _within(dataset: Dataset, asked: _Asked) -> Dataset:
    """What of files lies between the two moments, where they are said."""
    if dataset.since is None or dataset.until is None or (asked.since is None and asked.until is None):
        return dataset
    return dataset.between(asked.since or dataset.since - timedelta(microseconds=1), asked.until or dataset.until)
