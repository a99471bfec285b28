"""What is to be done about violations, in order: how urgent each is, how severe, and when its plan must begin."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from doctord.analyse.capacity.basis import Basis, basis_of
from doctord.analyse.capacity.outlook import Item
from doctord.analyse.capacity.series import DAY_S, Series
from doctord.analyse.capacity.thresholds.check import breaches_of
from doctord.analyse.capacity.thresholds.severity import Severity, severity_of
from doctord.analyse.capacity.thresholds.threshold import Threshold

Verdict = Literal[
    "violated", "date", "perhaps", "not within the horizon", "cannot be told", "not measured any more"
]  # fmt: skip
ORDER: tuple[Verdict, ...] = (
    "violated", "date", "perhaps", "not within the horizon", "cannot be told", "not measured any more",
)  # fmt: skip
RANKING = (
    "What is violated now comes first, then the rest by week of its date. Within a week, and among what is violated, "
    "what stops work comes before what slows it, then the larger share of database time, then the earlier date (of "
    "what is violated, that of its beginning)."
)
SILENT_S = 2 * DAY_S  # a figure of a day is up to a day older than one of an hour, and may be late once
WEEK = timedelta(days=7)


@dataclass(frozen=True, eq=False)
class Entry:
    """One threshold of one series, with what follows from it.

    Attributes:
        item: Threshold, history, forecast and date.
        verdict: That of the date; `perhaps` where only the interval reaches the limit within the horizon, `not measured
            any more` where the newest value is long past.
        severity: What a violation does.
        basis: What the forecast rests on.
        since: Since when it is violated; null where it is not, or not yet for as long as the threshold asks.
        begin_by: The latest moment to begin with the plan: the date, less what it takes; null without both.
        careful: The same, reckoned from the earliest date.
        is_late: Whether that moment is past, or the limit is violated already.
    """

    item: Item
    verdict: Verdict
    severity: Severity
    basis: Basis
    since: datetime | None
    begin_by: datetime | None
    careful: datetime | None
    is_late: bool


@dataclass(frozen=True, eq=False)
class ActionPlan:
    """Everything that a threshold speaks of, the most urgent first.

    Attributes:
        now: The moment from which it is seen: the newest value of all; null where nothing was measured.
        history_s: How long a time was measured before it, seconds.
        entries: In the order that `RANKING` says.
        never: Thresholds that concern nothing that was measured.
        unlimited: Series without a threshold.
    """

    now: datetime | None
    history_s: float
    entries: tuple[Entry, ...]
    never: tuple[Threshold, ...]
    unlimited: tuple[Series, ...]


def action_plan(
    items: Sequence[Item],
    histories: Sequence[Series],
    thresholds: Iterable[Threshold],
    span: tuple[datetime, datetime] | None = None,
) -> ActionPlan:
    """Put items in order.

    Args:
        items: What `outlook` found.
        histories: All that was measured, also what no threshold concerns.
        thresholds: All of them.
        span: From when to when was measured, where that is known better than by the steps of histories.
    """
    since, now = span or (min((one.at(-1) for one in histories), default=None), _now(histories))
    held = {item.threshold.name for item in items}
    limited = {id(item.series) for item in items}
    entries = [_entry(item, histories, now, since) for item in items if now]
    return ActionPlan(
        now,
        (now - since).total_seconds() if now and since else 0.0,
        tuple(sorted(entries, key=lambda entry: _urgency(entry, now) if now else ())),
        tuple(threshold for threshold in thresholds if threshold.name not in held),
        tuple(series for series in histories if id(series) not in limited),
    )


def _now(histories: Sequence[Series]) -> datetime | None:
    """The newest moment that is known to be measured: a day that has begun counts by its beginning, not by its end."""
    finest_s = min((series.step_s for series in histories), default=0)
    return max((series.end - timedelta(seconds=series.step_s - finest_s) for series in histories), default=None)


def _entry(item: Item, histories: Sequence[Series], now: datetime, first: datetime | None) -> Entry:
    lead_s = item.threshold.plan.lead_s
    since = _violated_since(item, now, first)
    verdict = _verdict(item, now)
    is_foreseen = verdict in {"date", "perhaps"} and lead_s is not None
    begin_by, careful = (
        date - timedelta(seconds=lead_s) if is_foreseen and date and lead_s is not None else None
        for date in (item.when.date, item.when.earliest)
    )
    return Entry(
        item,
        verdict,
        severity_of(item.threshold, item.series, histories),
        basis_of(item.series, item.forecast),
        since if verdict == "violated" else None,
        begin_by,
        careful,
        is_late=verdict == "violated" or (begin_by is not None and begin_by <= now),
    )


def _verdict(item: Item, now: datetime) -> Verdict:
    silent_s = (now - item.series.end).total_seconds()
    if silent_s > max(SILENT_S, 3 * item.series.step_s):
        return "not measured any more"
    if item.when.verdict == "not within the horizon" and item.when.earliest:
        return "perhaps"
    return item.when.verdict


def _violated_since(item: Item, now: datetime, first: datetime | None) -> datetime | None:
    """Since when it is violated: the newest steps tell of the last day only, and the history in hours of all before."""
    if item.violation is None:
        return None
    lasting = [one.since for one in breaches_of(item.threshold, item.series, now) if one.is_now]
    older = lasting[-1:] if item.violation.is_older else []
    since = min([item.violation.since, *older])
    return max(since, first) if first else since


def _urgency(entry: Entry, now: datetime) -> tuple[float | str | bool, ...]:
    when = entry.item.when
    first = {"violated": entry.since, "date": when.date, "perhaps": when.earliest}.get(entry.verdict) or now
    return (
        ORDER.index(entry.verdict),
        max(0, (first - now) // WEEK),
        not entry.severity.stops,
        -(entry.severity.share_of_time or 0.0),
        first.timestamp(),
        entry.item.series.name,
    )
