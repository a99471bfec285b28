"""How thresholds and service levels were kept: a JSON document, and the same to be read on a terminal."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from rich.text import Text

from doctord.analyse.capacity.thresholds.check import Breach
from doctord.analyse.capacity.thresholds.plan import Plan
from doctord.analyse.capacity.thresholds.service_level import Judged
from doctord.app.capacity.thresholds import Found
from doctord.app.sources.hosts import Hosts
from doctord.report.capacity import hosts
from doctord.report.lines import hanging, heading, one_line, printed
from doctord.report.wording import iso
from doctord.units import duration, number, quantity

SHOWN = 20  # of the past: a page of them says what there is


def document(found: Hosts[Found]) -> dict[str, Any]:
    """What `doctord thresholds check --json` gives: docs/reference/thresholds.md."""
    return hosts.document(found, _document)


def render(found: Hosts[Found]) -> str:
    """The same as lines of text."""
    return hosts.render(found, _printed)


def _document(found: Found) -> dict[str, Any]:
    """The document of one host."""
    checked = found.checked
    return {
        "schema_version": 1,
        "file": found.file,
        "as_of": iso(checked.now),
        "healthy": found.healthy,
        "violations": [_violation(one) for one in checked.violations],
        "levels": [_level(one) for one in found.judged],
        "held": len(checked.held),
        "short": [{"threshold": threshold.name, **asdict(series.labels)} for threshold, series in checked.short],
        "measured_s": checked.measured_s,
        "unmeasured": [{"threshold": one.name, "figure": one.figure} for one in checked.unmeasured]
        + [{"threshold": name, "figure": None} for name in found.unjudged],
    }


def _violation(violation: Breach) -> dict[str, Any]:
    threshold, series = violation.threshold, violation.series
    return {
        "threshold": threshold.name,
        "figure": series.figure.name,
        "title": series.figure.title,
        "of": series.of or series.figure.sum,
        "unit": series.figure.unit,
        **asdict(series.labels),
        "is_now": violation.is_now,
        "step_s": series.step_s,
        "since": iso(violation.since),
        "until": iso(violation.until),
        "duration_s": violation.duration_s,
        "gap_s": violation.gap_s,
        "lost": violation.lost,
        "is_older": violation.is_older,
        "worst": violation.worst,
        "limit": violation.limit,
        "worse": threshold.worse,
        "hold_s": threshold.hold_s,
        "reason": threshold.reason,
        "source": threshold.source,
        "plan": _plan(threshold.plan),
    }


def _level(judged: Judged) -> dict[str, Any]:
    return {
        "level": judged.level.name,
        "host": judged.host,
        "subject": judged.subject,
        "is_violated": judged.is_violated,
        "value": judged.value,
        "limit": judged.limit,
        "unit": "per_24h" if judged.is_per_day else "%",
        "low": judged.low,
        "high": judged.high,
        "slow": judged.slow,
        "slow_most": judged.slow_most,
        "requests": judged.requests,
        "measured_s": judged.measured_s,
        "scaling": judged.scaling,
        "reason": judged.level.reason,
        "source": judged.level.source,
        "plan": _plan(judged.level.plan),
    }


def _plan(plan: Plan) -> dict[str, Any] | None:
    return asdict(plan) if plan.text else None


def _printed(found: Found) -> str:
    """The page of one host."""
    document = _document(found)
    return printed(lambda columns: _page(document, columns), None, colour=None)


def _page(document: Mapping[str, Any], width: int) -> Iterator[Text]:
    now = [one for one in document["violations"] if one["is_now"]]
    past = [one for one in document["violations"] if not one["is_now"]]
    broken = sum(one["is_violated"] is True for one in document["levels"])
    yield one_line(_verdict(document, len(now), broken), "bold", width)
    yield from hanging("", f"Thresholds of {document['file']}, held against {document['held']} series", width)
    for title, violations in (("Violated now", now), ("Violated before", past[:SHOWN])):
        if violations:
            yield from heading(title, width)
        for violation in violations:
            yield from _said(violation, width)
    if len(past) > SHOWN:
        yield from hanging("", f"and {len(past) - SHOWN} more: --json has all", width)
    if document["levels"]:
        yield from heading("Service levels", width)
    for level in document["levels"]:
        yield from _level_said(level, width)
    if document["unmeasured"]:
        yield from heading("Never measured", width)
        names = [
            f"{one['threshold']} ({one['figure']})" if one["figure"] else one["threshold"]
            for one in document["unmeasured"]
        ]
        yield from hanging("", "; ".join(names), width)


def _verdict(document: Mapping[str, Any], now: int, broken: int) -> str:
    short, measured_s = len(document["short"]), document["measured_s"]
    if not document["held"] and not document["levels"]:
        if short and measured_s is not None:
            return f"Cannot tell: {duration(measured_s)} of history"
        return "No verdict: nothing was measured that a threshold speaks of"
    open_ = sum(one["is_violated"] is None for one in document["levels"])
    counts = [(now, "threshold", "violated"), (broken, "service level", "violated"), (open_, "service level", "open")]
    parts = [f"{count} {what}{'' if count == 1 else 's'} {how}" for count, what, how in counts if count]
    as_of = f" at {document['as_of'][:16].replace('T', ' ')} UTC" if document["as_of"] else ""
    untold = f" ({short} cannot be told: {duration(measured_s or 0.0)} of history)" if short else ""
    return (", ".join(parts) or "No threshold is violated") + as_of + untold


def _said(violation: Mapping[str, Any], width: int) -> Iterator[Text]:
    whom = ", ".join(violation[key] for key in ("host", "db", "entity") if violation[key])
    yield from hanging("", f"{violation['threshold']}{f' ({whom})' if whom else ''}", width)
    worst, limit = (quantity(violation[key], violation["unit"], 4) for key in ("worst", "limit"))
    of = f", {violation['of']}," if violation["of"].startswith("p") else ""
    bad = f"{violation['title']}{of} {worst} at worst, limit {limit}"
    yield from hanging("  ", f"{bad}, for {duration(violation['duration_s'])}", width)
    since, until = (violation[end][:16].replace("T", " ") for end in ("since", "until"))
    gap = f"; {duration(violation['gap_s'])} between was not measured" if violation["gap_s"] else ""
    lost = "; nothing was measured after that, so its end is not known" if violation["lost"] else ""
    older = " or longer" if violation["is_older"] else ""
    yield from hanging(
        "  ", f"since {since} UTC{older}{'' if violation['is_now'] else f' until {until}'}{gap}{lost}", width
    )
    yield from _why(violation, width)


def _level_said(level: Mapping[str, Any], width: int) -> Iterator[Text]:
    verdict = {True: "violated", False: "kept", None: "cannot be told"}[level["is_violated"]]
    whom = ", ".join(level[key] for key in ("host", "subject") if level[key])
    yield from hanging("", f"{level['level']}{f' ({whom})' if whom else ''}: {verdict}", width)
    unit = "in 24 h" if level["unit"] == "per_24h" else "%"
    chance = f"; by chance alone {number(level['low'])} to {number(level['high'])}" if level["low"] is not None else ""
    yield from hanging(
        "  ", f"{number(level['value'])} {unit}, limit {number(level['limit'], 4)}: {level['scaling']}{chance}", width
    )
    if level["is_violated"] is None:
        most = f"up to {level['slow_most']} may be: the limit lies within a bucket"
        yield from hanging("  ", f"{level['slow']} are slow for certain, {most}", width)
    if level["is_violated"]:
        yield from _why(level, width)


def _why(of: Mapping[str, Any], width: int) -> Iterator[Text]:
    if of["reason"]:
        yield from hanging("  why: ", of["reason"], width)
    if of["plan"]:
        plan = of["plan"]
        lead = f"takes {duration(plan['lead_s'])}" if plan["lead_s"] is not None else ""
        who = ", ".join(part for part in (plan["owner"], lead) if part)
        yield from hanging("  plan: ", plan["text"] + (f" ({who})" if who else ""), width)
