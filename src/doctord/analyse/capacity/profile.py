"""The host on one page: each figure 90, 30 and 7 days ago and today, the waits that cost most, week and busy hour.

A day is the 24 hours that end at the moment of the profile, or so many days before it: a day that has only begun is not
held against whole ones. Which figures allow a decision, and the form of the page: K. Manoharan's notes of 2008 on the
capacity of data warehouses.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final, Literal

import numpy as np

from doctord.analyse.capacity.contradictions import Contradiction
from doctord.analyse.capacity.percentiles import SHOWN, Key, Percentiles, share_of
from doctord.analyse.capacity.series import DAY_S, HOUR_S, Labels, Numbers, Series
from doctord.analyse.capacity.thresholds.check import beyond, is_too_short
from doctord.analyse.capacity.thresholds.threshold import Threshold
from doctord.analyse.capacity.top_waits import CLASSES, WAITED, Wait, top_waits
from doctord.dataset.figure import Figure

DAYS_AGO: Final = (90, 30, 7, 0)
PATTERN_DAYS: Final = 28  # four of each weekday
NEEDS_DAYS: Final = DAYS_AGO[0] + 1
HOURS: Final = 24
WEEKDAYS: Final = 7
# What tells how busy a server is, the best first.
LEADING: Final = ("db_time_s_per_s", CLASSES, WAITED, "executions_per_s", "commits_per_s", "cpu_used_pct")

Verdict = Literal["kept", "violated", "no limit", "not measured", "cannot be told", "contradicted"]


@dataclass(frozen=True, slots=True)
class Line:
    """One figure of one entity.

    Attributes:
        figure: What it is.
        labels: Whom it is about.
        values: By days ago (90, 30, 7, 0): its value that day; null where it was not measured.
        threshold: What it is held against, the first that is violated where there are several; null: nothing.
        limit: Its limit, that of the busy hour where values are of it; null: none.
        verdict: Of today's value; `cannot be told`: less was measured than a violation must last.
        percentiles: By days ago: `p50`, `p95`, `p99`, and how many `rows` they come of; null where that is not kept.
    """

    figure: Figure
    labels: Labels
    values: Mapping[int, float | None]
    threshold: Threshold | None
    limit: float | None
    verdict: Verdict
    percentiles: Mapping[int, Mapping[str, float] | None]

    @property
    def today(self) -> float | None:
        """The figure's value on the last day, in its unit; null where it was not measured then."""
        return self.values[0]

    def change_pct(self, days: int) -> float | None:
        """By how much today differs from then, % of then; null where either was not measured, or then was nothing."""
        then, now = self.values[days], self.values[0]
        return None if not then or now is None else 100 * (now - then) / abs(then)


@dataclass(frozen=True, slots=True)
class Rhythm:
    """When a server is busy, by the figure that tells it best, over the last four weeks (UTC).

    Attributes:
        figure: Which one that is.
        by_hour: Its mean in each hour of the day, from midnight; null where not measured.
        by_weekday: Its mean on each day of the week, from Monday.
    """

    figure: Figure
    by_hour: Sequence[float | None]
    by_weekday: Sequence[float | None]

    @property
    def busy_hour(self) -> int:
        """The hour of the day (its start) with the highest mean."""
        return max(range(HOURS), key=lambda hour: -np.inf if (mean := self.by_hour[hour]) is None else mean)


@dataclass(frozen=True, slots=True)
class Measured:
    """What the profile of a server rests on.

    Attributes:
        since: Start of the first hour in which anything was measured, of the 91 days that are looked at.
        hours: Hours since then.
        measured: Those in which anything was.
        today: Those of today.
    """

    since: datetime
    hours: int
    measured: int
    today: int


@dataclass(frozen=True, slots=True)
class ServerProfile:
    """The profile of one host, or of one database server on it, and what it rests on."""

    host: str | None
    db: str | None
    rhythm: Rhythm | None
    lines: Sequence[Line]
    waits: Sequence[Wait]
    measured: Measured


@dataclass(frozen=True, slots=True)
class Profile:
    """The profile of all that was given.

    Attributes:
        at: End of today.
        busy_hour: Whether values are of each server's busy hour; else of whole days.
        servers: By host and database server.
        contradictions: Rows whose columns contradict each other.
        missing: Components of which nothing was measured.
        data_quality: What is to be known of the history before anybody relies on it.
        measured_s: How long a time was measured in all, seconds; null: not known.
    """

    at: datetime
    busy_hour: bool
    servers: Sequence[ServerProfile]
    contradictions: Sequence[Contradiction] = ()
    missing: Sequence[str] = field(default=())
    data_quality: Sequence[str] = ()
    measured_s: float | None = None

    @property
    def violations(self) -> list[Line]:
        """The lines of all servers whose value of today is beyond its limit."""
        return [line for server in self.servers for line in server.lines if line.verdict == "violated"]

    @property
    def healthy(self) -> bool:
        """Whether nothing is beyond its limit, and no figure contradicts another."""
        return not (self.violations or self.contradictions)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What holds for all servers of a profile."""

    at: datetime
    thresholds: Sequence[Threshold]
    classes: Mapping[str, str]
    doubted: Collection[tuple[str | None, str | None, str]]
    hours: Mapping[Key, int | None]
    percentiles: Mapping[int, Mapping[Key, Mapping[str, float]]]
    measured_s: float | None


def profile(
    series: Iterable[Series],
    figures: Iterable[Figure],
    at: datetime,
    *,
    busy_hour: bool = False,
    thresholds: Sequence[Threshold] = (),
    classes: Mapping[str, str] | None = None,
    contradictions: Sequence[Contradiction] = (),
    spread: Percentiles | None = None,
    data_quality: Sequence[str] = (),
    measured_s: float | None = None,
) -> Profile:
    """The profile at a moment.

    Args:
        series: By hour.
        figures: What was looked for.
        at: End of today; the hour in which it lies counts whole.
        busy_hour: Values of the busy hour of each server instead of whole days.
        thresholds: What today's values are held against, where so much was measured as a violation must last.
        classes: Wait class of each event.
        contradictions: What must not be used: its figures are not judged.
        spread: How the rows are spread, for percentiles.
        data_quality: What is to be said of them.
        measured_s: How long a time was measured in all; null: as long as a violation must last.
    """
    ends = days_to(at)
    end = ends[-1]
    by_server = dict[tuple[str | None, str | None], list[Series]]()
    for one in series:
        by_server.setdefault((one.labels.host, one.labels.db), []).append(one)
    rhythms = {server: _rhythm(own, end) for server, own in by_server.items()}
    hours = {
        (one.figure.name, one.labels): rhythm.busy_hour if busy_hour and (rhythm := rhythms[server]) else None
        for server, own in by_server.items()
        for one in own
    }
    shares = SHOWN | {one.of: share_of(one.of) for one in thresholds if one.of}
    percentiles = {
        days: spread.of_day(then, hours, shares) if spread else {} for days, then in zip(DAYS_AGO, ends, strict=True)
    }
    doubted = {(of.host, of.db, of.entity) for of in contradictions}
    asked = _Asked(end, thresholds, classes or {}, doubted, hours, percentiles, measured_s)
    servers = [
        _server(server, by_server[server], rhythms[server], asked)
        for server in sorted(by_server, key=lambda server: tuple(name or "" for name in server))
    ]
    seen = {line.figure.component for server in servers for line in server.lines if line.today is not None}
    missing = dict.fromkeys(figure.component for figure in figures if figure.component not in seen)
    return Profile(end, busy_hour, servers, contradictions, list(missing), data_quality, measured_s)


def days_to(at: datetime) -> list[datetime]:
    """The ends of the days that a profile shows, today's last; the hour in which the moment lies counts whole."""
    end = at + timedelta(seconds=-at.timestamp() % HOUR_S)
    return [end - timedelta(days=days) for days in DAYS_AGO]


def _server(
    server: tuple[str | None, str | None], series: Sequence[Series], rhythm: Rhythm | None, asked: _Asked
) -> ServerProfile:
    lines = sorted((_line(one, asked) for one in series), key=_order)
    sound = {
        (line.figure.name, line.labels.entity or ""): line.today
        for line in lines
        if line.today is not None and line.verdict != "contradicted"
    }
    return ServerProfile(*server, rhythm, lines, top_waits(sound, asked.classes), _measured(series, asked.at))


def _measured(series: Sequence[Series], at: datetime) -> Measured:
    hours = np.zeros(NEEDS_DAYS * HOURS, dtype=bool)
    for one in series:
        hours |= np.isfinite(_last_hours(one, at, hours.size))
    first = int(np.argmax(hours)) if hours.any() else hours.size
    since = at - timedelta(hours=hours.size - first)
    return Measured(since, hours.size - first, int(hours.sum()), int(hours[-HOURS:].sum()))


def _line(series: Series, asked: _Asked) -> Line:
    labels, key = series.labels, (series.figure.name, series.labels)
    hour = asked.hours[key]
    values = {days: _value(series, asked.at - timedelta(days=days), hour) for days in DAYS_AGO}
    percentiles = {days: asked.percentiles[days].get(key) for days in DAYS_AGO}
    judged = _judged(series, asked, hour, {**(percentiles[0] or {}), "": values[0]})
    threshold, limit, _ = next((one for one in judged if one[2]), judged[0] if judged else (None, None, None))
    known = [is_beyond for *_, is_beyond in judged if is_beyond is not None]
    verdict: Verdict = "violated" if any(known) else "kept" if known else "no limit"
    if values[0] is None or (judged and not known):
        verdict = "not measured"
    if (
        values[0] is not None
        and judged
        and not known
        and any(is_too_short(asked.measured_s, one) for one, *_ in judged)
    ):
        verdict = "cannot be told"
    if series.figure.component == "waits" and (labels.host, labels.db, labels.entity or "") in asked.doubted:
        verdict = "contradicted"
    return Line(series.figure, labels, values, threshold, limit, verdict, percentiles)


def _judged(
    series: Series, asked: _Asked, hour: int | None, today: Mapping[str, float | None]
) -> list[tuple[Threshold, float, bool | None]]:
    """Each threshold about a series with its limit, and whether today is beyond it; null where that is not known."""
    found = list[tuple[Threshold, float, bool | None]]()
    for threshold in asked.thresholds:
        if threshold.is_about(series):
            value = today.get(threshold.of)
            over, limits = beyond(threshold, _today(series, asked.at, hour, np.nan if value is None else value))
            is_unknown = value is None or is_too_short(asked.measured_s, threshold)
            found.append((threshold, float(limits[0]), None if is_unknown else bool(over[0])))
    return found


def _today(series: Series, at: datetime, hour: int | None, value: float) -> Series:
    """Today, or the busy hour of it, as one step."""
    end = at if hour is None else at - timedelta(hours=(at.hour - hour - 1) % HOURS)
    one = np.array([value])
    return replace(series, step_s=DAY_S if hour is None else HOUR_S, start=end, values=one, low=one, high=one)


def _value(series: Series, end: datetime, hour: int | None) -> float | None:
    """The value of the day that ends at a moment, or of one hour of it; null where nothing was measured."""
    values = _last_hours(series, end, HOURS)
    if hour is not None:
        values = values[(hour - end.hour) % HOURS :][:1]
    measured = values[np.isfinite(values)]
    if not measured.size:
        return None
    day = {"mean": measured.mean(), "max": measured.max(), "min": measured.min(), "last": measured[-1]}
    return float(day[series.figure.sum])


def _last_hours(series: Series, end: datetime, count: int) -> Numbers:
    """The values of the hours before a moment, NaN where there is none."""
    last = round((end - series.start).total_seconds() / HOUR_S)
    there = series.values[max(0, last - count + 1) : max(0, last + 1)]
    whole = np.full(count, np.nan)
    first = max(0, count - 1 - last)
    whole[first : first + there.size] = there
    return whole


def _rhythm(series: Iterable[Series], at: datetime) -> Rhythm | None:
    """By the first of the leading figures that was measured; the sum of its entities."""
    found = dict[str, list[Series]]()
    for one in series:
        if one.figure.name in LEADING:
            found.setdefault(one.figure.name, []).append(one)
    for name in LEADING:
        hours = np.array([_last_hours(one, at, PATTERN_DAYS * HOURS) for one in found.get(name, ())])
        if np.isfinite(hours).any():
            total = np.where(np.isfinite(hours).any(axis=0), np.nansum(hours, axis=0), np.nan)
            begins = int(at.timestamp()) // HOUR_S - PATTERN_DAYS * HOURS + np.arange(total.size)
            weekday = (begins // HOURS + 3) % WEEKDAYS  # 1 January 1970 was a Thursday
            return Rhythm(
                found[name][0].figure,
                [_mean(total[begins % HOURS == hour]) for hour in range(HOURS)],
                [_mean(total[weekday == day]) for day in range(WEEKDAYS)],
            )
    return None


def _mean(values: Numbers) -> float | None:
    measured = values[np.isfinite(values)]
    return float(measured.mean()) if measured.size else None


def _order(line: Line) -> tuple[str, str, str]:
    return line.figure.component, line.figure.name, line.labels.entity or ""
