"""What will be violated, with the plans against it: a JSON document, and the same as CSV and as a few lines."""

import csv
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from doctord.analyse.capacity.action_plan import RANKING, ActionPlan, Entry
from doctord.analyse.capacity.outlook import reach_s
from doctord.app.capacity.action_plan import Ahead
from doctord.report.capacity.forecast import item_of
from doctord.report.capacity.words import moment, until
from doctord.report.plain import clean
from doctord.report.wording import iso
from doctord.units import duration

COLUMNS = (
    "rank", "verdict", "figure", "title", "host", "db", "entity", "date", "earliest", "latest", "violated_since", "now",
    "threshold", "limit", "unit", "growth_per_day", "severity", "share_of_time", "why", "plan", "owner", "lead_days",
    "begin_by", "is_late", "as_of",
)  # fmt: skip
BY_HOUR = "the limit differs by hour of the week: the most lenient one is the limit here"
FORMULA = ("=", "+", "-", "@")  # a cell that begins so is worked out by spreadsheets


def document(found: Ahead) -> dict[str, Any]:
    """What `doctord report --capacity --json` gives: docs/reference/capacity-report.md."""
    said = [change.text for change in found.changes]
    return document_of(found.action_plan, found.horizon_s, said, found.levels)


def document_of(
    action_plan: ActionPlan, within_s: float, changes: Sequence[str], levels: Sequence[str] = ()
) -> dict[str, Any]:
    """The document of a plan.

    Args:
        action_plan: What is to be done.
        within_s: How far was looked, seconds.
        changes: What-ifs, in the user's words.
        levels: Names of service levels, which are not forecast.
    """
    return {
        "schema_version": 1,
        "as_of": iso(action_plan.now),
        "within_s": within_s,
        "history_s": action_plan.history_s,
        "reach_s": reach_s(action_plan.history_s, within_s),
        "changes": list(changes),
        "counts": dict(Counter(entry.verdict for entry in action_plan.entries)),
        "ranking": RANKING,
        "items": [_entry(entry, rank, within_s, action_plan.now) for rank, entry in enumerate(action_plan.entries, 1)],
        "levels": list(levels),
        "never_measured": [
            {"threshold": one.name, "figure": one.figure, "plan": asdict(one.plan) if one.plan.text else None}
            for one in action_plan.never
        ],
        "without_threshold": [
            {"figure": name, "title": title, "series": count}
            for (name, title), count in Counter(
                (series.figure.name, series.figure.title) for series in action_plan.unlimited
            ).items()
        ],
    }


def _entry(entry: Entry, rank: int, within_s: float, now: datetime | None) -> dict[str, Any]:
    basis, path = entry.basis, entry.item.forecast
    last = min(len(path.mean), max(1, round(within_s / path.step_s))) - 1
    return {
        "rank": rank,
        **item_of(entry.item, now),
        "verdict": entry.verdict,
        "why": _why(entry),
        "notes": [*path.notes, *([BY_HOUR] if entry.item.threshold.by_hour else [])],
        "violated_since": iso(entry.since),
        "severity": "stops" if entry.severity.stops else "slows",
        "share_of_time": entry.severity.share_of_time,
        "begin_by": iso(entry.begin_by),
        "begin_by_earliest": iso(entry.careful),
        "is_late": entry.is_late,
        "growth_per_day": basis.growth_per_day,
        "at_horizon": {
            "mean": float(path.mean[last]), "low": float(path.low[last]), "high": float(path.high[last]),
        } if last >= 0 else None,
        "history": {
            "since": iso(basis.since), "until": iso(basis.until), "step_s": entry.item.series.step_s,
            "measured": basis.measured, "longest_gap_s": basis.longest_gap_s,
        },
        "backtest": {"error": basis.error, "naive_error": basis.naive_error, "covered": path.covered},
    }  # fmt: skip


def _why(entry: Entry) -> str:
    if entry.verdict == "not measured any more":
        return f"nothing was measured after {entry.item.series.end:%Y-%m-%d %H:%M} UTC"
    return entry.item.when.why


def verdict(document: Mapping[str, Any]) -> str:
    """The report in one line."""
    counts, horizon = document["counts"], duration(document["reach_s"])
    if not document["items"]:
        return "No verdict: nothing was measured that a threshold speaks of"
    parts = []
    if now := counts.get("violated"):
        parts.append(f"{_limits(now)} {'is' if now == 1 else 'are'} violated now")
    if soon := counts.get("date"):
        first = min((item for item in document["items"] if item["verdict"] == "date"), key=lambda item: item["date"])
        ahead = until(first["date"], moment(document["as_of"]))
        what = f"{soon} more will be" if now else f"{_limits(soon)} will be violated"
        which = "" if soon == 1 else "the first is "
        parts.append(f"{what} within {horizon}: {which}{name(first)}, about {first['date'][:10]} ({ahead})")
    if parts:
        return "; ".join(parts)
    if not counts.keys() & {"perhaps", "not within the horizon"}:
        return f"Cannot tell: {duration(document['history_s'])} of history"
    maybe = f", {counts['perhaps']} may be" if "perhaps" in counts else ""
    untold = sum(counts.get(verdict, 0) for verdict in ("cannot be told", "not measured any more"))
    known = f", as far as can be told ({untold} cannot)" if untold else ""
    return f"No limit will be violated within {horizon}{maybe}{known}"


def _limits(count: int) -> str:
    return "1 limit" if count == 1 else f"{count} limits"


def name(item: Mapping[str, Any]) -> str:
    """What an item is about: the figure's title with host, database and entity."""
    about = ", ".join(item[key] for key in ("host", "db", "entity") if item[key])
    return clean(f"{item['title']} ({about})" if about else item["title"])


def csv_of(document: Mapping[str, Any]) -> str:
    """One row for each figure of each entity, and one for each threshold that was never measured."""
    out = io.StringIO()
    rows = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    rows.writeheader()
    for item in document["items"]:
        given = {key: item[key] for key in COLUMNS if key in item}
        more = {"now": item["newest"], "lead_days": None, **_plan(item["plan"])}
        rows.writerow({key: _cell(value) for key, value in (given | more).items()})
    for one in document["never_measured"]:
        row = {"verdict": "never measured", "threshold": one["threshold"], "figure": one["figure"]}
        rows.writerow({key: _cell(value) for key, value in (row | _plan(one["plan"])).items()})
    return out.getvalue()


def _plan(plan: Mapping[str, Any] | None) -> dict[str, Any]:
    if plan is None:
        return {"plan": "", "owner": "", "lead_days": None}
    lead_s = plan["lead_s"]
    return {"plan": plan["text"], "owner": plan["owner"], "lead_days": None if lead_s is None else lead_s / 86400}


def _cell(value: object) -> object:
    """A cell that spreadsheets show and do not work out; null is empty."""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return value
    text = clean(value)
    return f"'{text}" if text.startswith(FORMULA) else text
