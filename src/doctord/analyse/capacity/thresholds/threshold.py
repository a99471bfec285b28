"""Thresholds as data: which figure of whom, the limit, how long it must last, why it is that, and what to do then.

`thresholds.toml` beside this file holds a few that are right nearly everywhere; `doctord thresholds init` proposes the
others from a time when all was well. The form, a threshold with its reason and its action, is that of PCP's pmieconf.
"""

import difflib
import math
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from typing import Any, Literal

from doctord.analyse.capacity.percentiles import share_of
from doctord.analyse.capacity.series import Labels, Series
from doctord.analyse.capacity.thresholds.plan import NO_PLAN, Plan, plan_of
from doctord.analyse.capacity.thresholds.service_level import ServiceLevel, service_level_of
from doctord.dataset.figure import Figure
from doctord.dataset.figure import parsed as parsed_figures
from doctord.errors import UserError
from doctord.units import parse_duration

HOURS_OF_WEEK = 168
FORM = "docs/how-to/set-thresholds.md shows the form"


@dataclass(frozen=True, slots=True)
class Threshold:
    """One threshold.

    Attributes:
        name: Its own, for people.
        figure: Name of the figure that it holds for.
        limit: In the figure's unit; a value at the limit is still good. With `by_hour` the most lenient of them.
        worse: Whether values above or below the limit are the bad ones.
        hold_s: Seconds that they must last.
        of: A percentile of the rows of each hour (`p95`) in place of the figure's own sum; empty: that.
        host, db, entity: Patterns (`*`, `?`, `[abc]`) of whom it holds for; empty: each.
        by_hour: A limit for each hour of the week, Monday 00:00 UTC first; empty: one limit always.
        reason: Why the limit is that.
        source: Who says so.
        severity: Whether a violation `stops` work or `slows` it; empty: as its component does.
        plan: What to do when it is violated, decided while all is well.
    """

    name: str
    figure: str
    limit: float
    worse: Literal["above", "below"] = "above"
    hold_s: float = 0.0
    of: str = ""
    host: str = ""
    db: str = ""
    entity: str = ""
    by_hour: tuple[float, ...] = ()
    reason: str = ""
    source: str = ""
    severity: Literal["", "stops", "slows"] = ""
    plan: Plan = NO_PLAN

    def concerns(self, series: Series) -> bool:
        """Whether it holds for that series."""
        return self.of == series.of and self.is_about(series)

    def is_about(self, series: Series) -> bool:
        """Whether it holds for the figure of that series, of it or of a percentile of it."""
        return self.figure == series.figure.name and self.holds_for(series.labels)

    def holds_for(self, labels: Labels) -> bool:
        """Whether it holds for whom that is."""
        return all(
            not pattern or fnmatchcase(name or "", pattern)
            for pattern, name in ((self.host, labels.host), (self.db, labels.db), (self.entity, labels.entity))
        )


@dataclass(frozen=True, slots=True)
class Rules:
    """What a file holds: thresholds, service levels, and every figure that they may speak of, by name."""

    thresholds: tuple[Threshold, ...]
    levels: tuple[ServiceLevel, ...]
    figures: Mapping[str, Figure]

    def percentiles_used(self) -> list[tuple[str, str]]:
        """Names of figures, and the percentiles of them that a threshold speaks of."""
        return list(dict.fromkeys((one.figure, one.of) for one in self.thresholds if one.of))

    def figures_used(self) -> list[Figure]:
        """The figures that a threshold speaks of."""
        return [self.figures[name] for name in dict.fromkeys(threshold.figure for threshold in self.thresholds)]


def parsed(text: str, name: str, known: Iterable[Figure]) -> Rules:
    """The thresholds of a text in TOML, with its levels, and figures of its own beside the known ones.

    Args:
        text: What the file holds.
        name: Of the file, for messages.
        known: Figures that it may speak of.

    Raises:
        UserError: it is not of that form; the message names file, threshold and key.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{name}: no TOML: {error}", FORM) from error
    if unknown := document.keys() - {"threshold", "level", "figure"}:
        hint = "its tables are [[threshold]], [[level]] and [[figure]]"
        raise UserError(f"{name}: there is no table {sorted(unknown)[0]!r}", hint)
    for key, tables in document.items():
        if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            raise UserError(f"{name}: {key} is no array of tables", f"write [[{key}]] above each")
    figures = {figure.name: figure for figure in (*known, *parsed_figures(text, name))}
    thresholds = tuple(_threshold(given, figures, name) for given in document.get("threshold", []))
    levels = tuple(service_level_of(given, name) for given in document.get("level", []))
    _check_names(name, "threshold", (threshold.name for threshold in thresholds))
    _check_names(name, "level", (level.name for level in levels))
    return Rules(thresholds, levels, figures)


def _threshold(given: Mapping[str, Any], figures: Mapping[str, Figure], file: str) -> Threshold:
    where = f"{file}: threshold {str(given.get('name', 'without a name'))!r}"
    known = ["hold" if field.name == "hold_s" else field.name for field in fields(Threshold)]
    if unknown := given.keys() - set(known):
        raise UserError(f"{where}: there is no key {sorted(unknown)[0]!r}", f"keys are {', '.join(known)}")
    for key in ("name", "figure", "host", "db", "entity", "worse", "hold", "of", "reason", "source"):
        if not isinstance(given.get(key, ""), str):
            raise UserError(f"{where}: {key} is {given[key]!r}, no text", f'write {key} = "..."')
    _check_percentile(given.get("of", ""), where)
    for key in ("name", "figure"):
        if not given.get(key):
            raise UserError(f"{where}: without {key!r}", "a threshold has a name, a figure and a limit at least")
    if given["figure"] not in figures:
        near = difflib.get_close_matches(given["figure"], figures, n=1)
        hint = f"did you mean {near[0]}?" if near else f"figures are {', '.join(sorted(figures))}"
        raise UserError(f"{where}: there is no figure {given['figure']!r}", hint)
    worse = given.get("worse", "below" if figures[given["figure"]].worse == "low" else "above")
    if worse not in ("above", "below"):
        raise UserError(f"{where}: worse is {worse!r}", "it is above or below")
    if given.get("severity", "") not in ("", "stops", "slows"):
        raise UserError(f"{where}: severity is {given['severity']!r}", "it is stops or slows")
    by_hour = _by_hour(given.get("by_hour", []), where)
    lenient = (max if worse == "above" else min)(by_hour) if by_hour else None
    rest = {key: value for key, value in given.items() if key not in ("hold", "worse", "plan", "by_hour", "limit")}
    return Threshold(
        **rest,
        limit=_limit(given.get("limit", lenient), where),
        worse=worse,
        hold_s=_hold(given, where),
        by_hour=by_hour,
        plan=plan_of(given.get("plan", {}), where),
    )


def _check_percentile(of: str, where: str) -> None:
    try:
        share_of(of or "p50")
    except ValueError as error:
        raise UserError(f"{where}: of is {of!r}, no percentile", 'write of = "p95", for instance') from error


def _limit(limit: object, where: str) -> float:
    if isinstance(limit, bool) or not isinstance(limit, int | float) or not math.isfinite(limit):
        what = "without 'limit'" if limit is None else f"limit is {limit!r}, no number"
        raise UserError(f"{where}: {what}", "write a number in the figure's unit: limit = 90")
    return float(limit)


def _hold(given: Mapping[str, Any], where: str) -> float:
    try:
        return parse_duration(given.get("hold", "0s"))
    except UserError as refusal:
        raise UserError(f"{where}: hold: {refusal}", refusal.hint) from refusal


def _by_hour(given: object, where: str) -> tuple[float, ...]:
    days: Sequence[Any] = given if isinstance(given, list) else [given]
    hours = [hour for day in days for hour in (day if isinstance(day, list) else [day])]
    if hours and len(hours) != HOURS_OF_WEEK:
        hint = "write seven lists, Monday first, of 24 numbers each"
        raise UserError(f"{where}: by_hour has {len(hours)} numbers, not {HOURS_OF_WEEK}", hint)
    return tuple(_limit(hour, f"{where}: by_hour") for hour in hours)


def _check_names(file: str, kind: str, names: Iterable[str]) -> None:
    seen = set[str]()
    for name in names:
        if name in seen:
            raise UserError(f"{file}: {kind} {name!r}: there are two of that name", "give one of them another")
        seen.add(name)
