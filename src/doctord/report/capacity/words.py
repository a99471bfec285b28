"""What the capacity report says in sentences: when, by when to begin, what it rests on."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from doctord.report.wording import percent
from doctord.units import duration, quantity

Item = Mapping[str, Any]
DAY_S = 86_400
LITTLE = 0.005  # of the limit in a month: less is no growth worth a word


def when(item: Item, now: datetime) -> str:
    """When the limit is passed, in a few words."""
    if item["verdict"] == "violated":
        since = item["violated_since"]
        longer = " or longer" if since and since == item["history"]["since"] else ""
        return f"violated for {_days(moment(since), now)}{longer}" if since else "violated now"
    if item["verdict"] == "date":
        return f"{item['date'][:10]}, {until(item['date'], now)}"
    if item["verdict"] == "perhaps":
        return f"perhaps from {item['earliest'][:10]}"
    return str(item["verdict"])


def is_beyond(item: Item) -> bool:
    """Whether the newest value alone is beyond the limit."""
    newest, limit = item["newest"], item["limit"]
    return bool(newest > limit if item["worse"] == "above" else newest < limit)


def while_within(item: Item) -> str:
    """What to say of a violated figure whose newest value alone is good again."""
    is_odd = item["verdict"] == "violated" and not is_beyond(item)
    return "; most of its last values were beyond it" if is_odd else ""


def between(item: Item) -> str:
    """From which day to which the limit will be passed; empty where no day can be told."""
    earliest = item["earliest"] or item["date"]
    if earliest is None:
        return ""
    return f"{earliest[:10]} to {item['latest'][:10]}" if item["latest"] else f"{earliest[:10]} or later"


def begin(item: Item, now: datetime) -> str:
    """By when to begin with the plan; empty where that is not known."""
    if item["plan"] is None:
        return "write a plan"
    if item["verdict"] == "violated":
        return "now"
    if not item["begin_by"] or not item["is_late"]:
        return (item["begin_by"] or "")[:10]
    ago = now - moment(item["begin_by"])
    return "now: today is the last day" if ago.days < 1 else f"now: {item['begin_by'][:10]} was {ago.days} d ago"


def careful(item: Item, now: datetime) -> str:
    """By when to begin if the limit is passed as early as it may be; empty where that says nothing new."""
    early = item["begin_by_earliest"]
    if not early or item["is_late"] or early == item["begin_by"]:
        return ""
    return str(early)[:10] if moment(early) > now else "now: it may come as early as the plan takes, or earlier"


def used(item: Item) -> dict[str, Any] | None:
    """How much of the limit is taken, in percent, now and where the forecast ends; null of a limit of zero."""
    limit, newest, then = item["limit"], item["newest"], item["at_horizon"]["mean"]
    if limit <= 0 or newest <= 0 or then <= 0:
        return None
    parts = (newest / limit, then / limit) if item["worse"] == "above" else (limit / newest, limit / then)
    shares = [100 * min(part, 1.0) for part in parts]
    return {"now": shares[0], "then": shares[1], "text": f"{shares[0]:.0f} % now, {shares[1]:.0f} % at the horizon"}


def too_late(item: Item, now: datetime) -> str:
    """How much too late the plan comes, even if it begins now; empty where it does not."""
    plan = item["plan"]
    if plan is None or plan["lead_s"] is None or not item["is_late"]:
        return ""
    takes = duration(plan["lead_s"])
    if item["verdict"] == "violated":
        return f"It is too late to prevent it: the plan takes {takes}."
    over_s = plan["lead_s"] - (moment(item["date"]) - now).total_seconds()
    return f"It is too late to begin in time: the plan takes {takes}, and helps {duration(over_s)} after the date."


def growth(item: Item) -> str:
    """How fast the figure goes where it goes."""
    per_day, limit = item["growth_per_day"], abs(item["limit"]) or abs(item["newest"])
    if per_day is None:
        return "not known"
    if abs(per_day) * 30 < LITTLE * limit:
        return "hardly any"
    sign = "+" if per_day > 0 else "\u2212"
    return f"{sign}{quantity(abs(per_day), item['unit'])} a day"


def severity(item: Item) -> str:
    """What comes of a violation: work stops or takes longer, and the share of database time that it is, where known."""
    does = "work stops or fails" if item["severity"] == "stops" else "work takes longer"
    share = item["share_of_time"]
    return does if share is None else f"{does}: {percent(share)} of database time"


def evidence(item: Item) -> Iterator[tuple[str, str]]:
    """What the forecast rests on: a word and a sentence each."""
    yield "History", _history(item["history"])
    yield from _model(item)
    changes = [("level shift", item["change_points"]), ("outlier", item["outliers"])]
    found = [f"{len(at)} {what}{'' if len(at) == 1 else 's'}, last {max(at)[:10]}" for what, at in changes if at]
    if found:
        yield "Changes", f"{'; '.join(found)}."
    if item["notes"]:
        yield "Notes", " ".join(f"{note[:1].upper()}{note[1:]}." for note in item["notes"])
    if item["reason"]:
        yield "Reason", item["reason"]
    if item["source"]:
        yield "Source", item["source"]


def _history(history: Mapping[str, Any]) -> str:
    since, until = moment(history["since"]), moment(history["until"])
    length, step = duration((until - since).total_seconds()), duration(history["step_s"])
    gaps = history["longest_gap_s"]
    holes = f"{percent(history['measured'])} of it measured, longest gap {duration(gaps)}" if gaps else "without a gap"
    return f"{length} to {until:%Y-%m-%d %H:%M}, a value every {step}, {holes}."


def _model(item: Item) -> Iterator[tuple[str, str]]:
    if not item["model"]:
        yield "Forecast", f"none: {item['why']}."
        return
    tested = item["backtest"]
    if tested["error"] is None:
        yield "Model", f"{item['model']}, without a backtest: the history is too short for one, or never changes."
        return
    unit = item["unit"]
    error, naive = quantity(tested["error"], unit), quantity(tested["naive_error"], unit)
    beside = f"seasonal naive's {naive}" if tested["naive_error"] is not None else "no seasonal naive to compare with"
    model = "" if item["model"] == "seasonal naive" else f", {beside}"
    yield "Model", f"{item['model']}: mean error {error} on parts of the history that it had not seen{model}."
    if tested["covered"] is not None:
        yield "Interval", f"made to hold 95 % of what comes; it held {percent(tested['covered'])} in that test."


def until(text: str, now: datetime) -> str:
    """How far a moment of the document lies ahead, or behind."""
    later = moment(text) > now
    return f"in {_days(now, moment(text))}" if later else f"{_days(moment(text), now)} ago"


def moment(text: str) -> datetime:
    """A time of the document (ISO 8601) as datetime."""
    return datetime.fromisoformat(text)


def _days(since: datetime, until: datetime) -> str:
    seconds = (until - since).total_seconds()
    return f"{round(seconds / DAY_S)} d" if seconds >= 3 * DAY_S else duration(max(seconds, 60))
