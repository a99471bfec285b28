"""Hold histories of a lake or of files against thresholds, and propose thresholds from a good time."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
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
from doctord.app.asked import A_DAY, Interval
from doctord.app.capacity.history import (
    CHECKED_STEP_S,
    data_quality_in,
    data_quality_of,
    finest_in,
    series_in,
    span_of,
    spread_between,
)
from doctord.app.capacity.rules import rules_of
from doctord.app.source import Files, Recorded
from doctord.app.sources.hosts import Hosts
from doctord.app.watcher import SILENT, Watcher
from doctord.dataset.dataset import Dataset
from doctord.dataset.figure import own_figures
from doctord.errors import UserError
from doctord.lake.place import default_lake
from doctord.lake.query import Lake

Span: TypeAlias = tuple[datetime, datetime]
USUAL, GOOD = A_DAY, 28 * A_DAY  # how far back a lake is looked at to check, and to propose, where it is not said
SILENT_S = 2 * HOUR_S  # figures of an hour may be one hour old


@dataclass(frozen=True, eq=False)
class _Measured:
    """What thresholds speak of, in steps of five minutes or longer; the tables of service levels; its time."""

    series: list[Series]
    dataset: Dataset
    span: Span | None


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


def alerts(found: Hosts[Found], form: alert.Form) -> str:
    """The violations of all hosts, as alerts."""
    checked = [one.checked for _, one in found.each]
    made = [alert.violated(one) for held in checked for one in held.violations if one.is_now]
    made += [alert.broken(one) for _, held in found.each for one in held.judged if one.is_violated]
    return alert.written(made, form, max((held.now for held in checked if held.now), default=None))


def check(source: Files | Recorded, interval: Interval, file: Path | None, watcher: Watcher = SILENT) -> Hosts[Found]:
    """Hold the thresholds and levels of a file, or the built-in ones, against the history of each host.

    Of files that is all their time, of a lake the last day, by one clock.
    """
    rules = rules_of(file)
    if not rules.thresholds and not rules.levels:
        raise UserError(f"{file}: there is no threshold in it", threshold.FORM)
    if isinstance(source, Files):
        seen = source.hosts(interval, watcher)
        return Hosts.of((one.host, _held(_of_rows(one.dataset, rules, watcher), rules, file)) for one in seen)
    lake = Lake(source.lake or default_lake())
    since, until = interval.of_lake(lake, USUAL, watcher)
    found = _held(_of_lake(source, lake, (since, until), rules, watcher), rules, file)
    if (now := found.checked.now) and (until - now).total_seconds() > SILENT_S:  # nobody fills it any more
        watcher.note(f"nothing was measured after {now:%F %T} UTC; that is taken for now")
    return Hosts.of([("", found)])


def _held(measured: _Measured, rules: Rules, file: Path | None) -> Found:
    judged = list(service_level.judged(rules.levels, measured.dataset))
    known = {one.level.name for one in judged}
    checked = check_thresholds(rules.thresholds, measured.series, measured.span)
    return Found(checked, judged, [one.name for one in rules.levels if one.name not in known], str(file or "Doctor D"))


def _of_rows(dataset: Dataset, rules: Rules, watcher: Watcher) -> _Measured:
    figures, wanted = rules.figures_used(), rules.percentiles_used()
    _tell(watcher, data_quality_of(dataset, figures))
    spread = percentiles_of(dataset, [rules.figures[name] for name in dict(wanted)])
    series = list(series_at_interval(dataset, figures, CHECKED_STEP_S))
    return _Measured([*series, *spread.series(wanted)], dataset, span_of(dataset, series))


def _of_lake(recorded: Recorded, lake: Lake, between: Span, rules: Rules, watcher: Watcher) -> _Measured:
    """The histories of a lake, of its minutes or, where only hours are kept, of these."""
    figures, wanted = rules.figures_used(), rules.percentiles_used()
    since, until = between
    told = recorded.history(lake, figures, between)
    _tell(watcher, data_quality_in(lake, told, figures, since, until))
    if told.finest_s(since, until) > CHECKED_STEP_S:
        _tell(watcher, [f"hours are all that is kept since {since:%F %T} UTC: they are judged"])
    series = finest_in(told, figures, since, until)
    percentiles = spread_between(told, figures, since, until).series(wanted) if wanted else ()
    span = recorded.span(lake, series)
    dataset = lake.dataset(since, until, dict.fromkeys(sorted({known.table for known in rules.levels}), "true"))
    _tell(watcher, lake.problems)
    return _Measured(
        [*series, *percentiles], recorded.rows(dataset), (max(span[0], since), min(span[1], until)) if span else None
    )


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
    histories = _good_time(source, interval, watcher)
    if not histories:
        raise UserError("no figure was measured in that time", "docs/how-to/set-thresholds.md says what is needed")
    return Proposed(list(propose(histories, hold_s)), *_span(histories))


def _good_time(source: Files | Recorded, interval: Interval, watcher: Watcher) -> list[Series]:
    """The histories of a time in hours; of a lake from what it keeps for years, when the rows are long gone."""
    figures = own_figures()
    if isinstance(source, Files):
        return list(series_at_interval(source.joined(interval, watcher), figures, HOUR_S))
    lake = Lake(source.lake or default_lake())
    between = interval.of_lake(lake, GOOD, watcher)
    histories = series_in(source.history(lake, figures), figures, *between)
    _tell(watcher, lake.problems)
    return [at_its_interval(series) for series in histories]


def _span(histories: list[Series]) -> tuple[datetime, datetime]:
    return min(series.at(-1) for series in histories), max(series.end for series in histories)


def _tell(watcher: Watcher, remarks: Iterable[str]) -> None:
    for remark in remarks:
        watcher.note(remark)
