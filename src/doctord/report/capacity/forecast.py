"""What will be violated and when: a JSON document, and the same to be read on a terminal."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from rich.text import Text

from doctord.analyse.capacity.outlook import Item, reach_s
from doctord.analyse.capacity.sizes_ahead import SizeAhead
from doctord.app.capacity.forecast import Forecast
from doctord.app.sources.hosts import Hosts
from doctord.report.capacity import hosts
from doctord.report.lines import hanging, heading, one_line, printed
from doctord.report.wording import iso
from doctord.units import duration, quantity

SHOWN = 20


def document(found: Hosts[Forecast]) -> dict[str, Any]:
    """What `doctord forecast --json` gives: docs/reference/forecast.md."""
    return hosts.document(found, _document)


def render(found: Hosts[Forecast]) -> str:
    """The same as lines of text."""
    return hosts.render(found, _printed)


def _document(found: Forecast) -> dict[str, Any]:
    """The document of one host."""
    return {
        "schema_version": 1,
        "horizon_s": found.horizon_s,
        "history_s": found.history_s,
        "reach_s": reach_s(found.history_s, found.horizon_s),
        "changes": [change.text for change in found.changes],
        "items": [item_of(item, found.now) for item in found.items],
        "sizes": [_size_of(size) for size in found.sizes],
    }


def _size_of(size: SizeAhead) -> dict[str, Any]:
    """One size of the document: what is expected at the end of what can be told."""
    series, path = size.series, size.forecast
    last = len(path.mean) - 1
    ahead = {"expected": path.mean, "low": path.low, "high": path.high}
    return {
        "figure": series.figure.name,
        "title": series.figure.title,
        "unit": series.figure.unit,
        **asdict(series.labels),
        "newest": size.newest,
        "per_day": size.per_day,
        "as_of": iso(series.end),
        "date": None if path.why else iso(path.at(last)),
        **{name: None if path.why else max(float(values[last]), 0.0) for name, values in ahead.items()},
        "model": path.model or None,
        "notes": list(path.notes),
        "why": path.why or None,
    }


def item_of(item: Item, now: datetime | None) -> dict[str, Any]:
    """One item of the document; its last step may end after the moment that is now."""
    threshold, series, path, when = item.threshold, item.series, item.forecast, item.when
    return {
        "threshold": threshold.name,
        "figure": series.figure.name,
        "title": series.figure.title,
        "unit": series.figure.unit,
        **asdict(series.labels),
        "limit": threshold.limit,
        "worse": threshold.worse,
        "newest": item.newest,
        "as_of": iso(min(series.end, now) if now else series.end),
        "verdict": when.verdict,
        "date": iso(when.date),
        "earliest": iso(when.earliest),
        "latest": iso(when.latest),
        "why": when.why,
        "model": path.model or None,
        "errors": dict(path.errors),
        "covered": path.covered,
        "change_points": [iso(moment) for moment in path.change_points],
        "outliers": [iso(moment) for moment in path.outliers],
        "notes": list(path.notes),
        "reason": threshold.reason,
        "source": threshold.source,
        "plan": asdict(threshold.plan) if threshold.plan.text else None,
    }


def _printed(found: Forecast) -> str:
    """The page of one host."""
    document = _document(found)
    return printed(lambda columns: _page(document, columns), None, colour=None)


def _page(document: Mapping[str, Any], width: int) -> Iterator[Text]:
    by_verdict = dict[str, list[Mapping[str, Any]]]()
    for item in document["items"]:
        by_verdict.setdefault(item["verdict"], []).append(item)
    yield one_line(_verdict(by_verdict, document), "bold", width)
    for change in document["changes"]:
        yield from hanging("", f"with {change}", width)
    for title, verdict in (("Violated now", "violated"), ("To come", "date"), ("Cannot be told", "cannot be told")):
        found = by_verdict.get(verdict, [])
        if found:
            yield from heading(title, width)
        for item in found[:SHOWN]:
            yield from _said(item, width)
        if len(found) > SHOWN:
            yield from hanging("", f"and {len(found) - SHOWN} more: --json has all", width)
    quiet = by_verdict.get("not within the horizon", [])
    if quiet:
        yield from heading("Not within the horizon", width)
        maybe = [item for item in quiet if item["earliest"]]
        yield from hanging("  ", f"{len(quiet)} series, of {len(maybe)} of them the interval reaches the limit", width)
        for item in maybe[:SHOWN]:
            yield from hanging("  ", f"{_name(item)}: perhaps from {item['earliest'][:10]}", width)
    if document["sizes"]:
        yield from heading("Sizes without a limit", width)
    for size in document["sizes"][:SHOWN]:
        yield from hanging("", f"{_name(size)}: {_ahead(size)}", width)
    if len(document["sizes"]) > SHOWN:
        yield from hanging("", f"and {len(document['sizes']) - SHOWN} more: --json has all", width)


def _ahead(size: Mapping[str, Any]) -> str:
    now = f"{quantity(size['newest'], size['unit'])} now"
    if size["why"]:
        change = size["per_day"]
        more = "more" if change and change > 0 else "less"
        daily = f", {quantity(abs(change), size['unit'])} a day {more} so far" if change else ""
        return f"{now}{daily}; no forecast: {size['why']}"
    if size["low"] == size["high"]:
        return f"{now}, and it did not change of late: nothing tells when it will grow"
    expected, low, high = (quantity(size[name], size["unit"]) for name in ("expected", "low", "high"))
    return f"{now}, {expected} on {size['date'][:10]} ({low} to {high})"


def _verdict(by_verdict: Mapping[str, Sequence[Mapping[str, Any]]], document: Mapping[str, Any]) -> str:
    if not by_verdict:
        sizes = len(document["sizes"])
        told = f": {sizes} {'size' if sizes == 1 else 'sizes'} without a limit" if sizes else ""
        return f"Nothing was measured that a threshold speaks of{told}"
    if by_verdict.keys() == {"cannot be told"}:
        return f"Cannot tell: {duration(document['history_s'])} of history"
    parts = []
    if now := by_verdict.get("violated"):
        parts.append(f"{len(now)} violated now")
    if to_come := by_verdict.get("date"):
        first = to_come[0]
        parts.append(f"{len(to_come)} to come, first {_name(first)} about {first['date'][:10]}")
    untold = len(by_verdict.get("cannot be told", ()))
    known = f"as far as can be told ({untold} cannot)" if untold else "as far as can be told"
    return "; ".join(parts) or f"Nothing will be violated within {duration(document['reach_s'])}, {known}"


def _said(item: Mapping[str, Any], width: int) -> Iterator[Text]:
    limit = f"limit {quantity(item['limit'], item['unit'])}"
    if item["verdict"] == "date":
        latest = f"to {item['latest'][:10]}" if item["latest"] else "or later"
        what = f"about {item['date'][:10]}, from {(item['earliest'] or item['date'])[:10]} {latest}"
    else:
        what = item["why"]
    yield from hanging("", f"{_name(item)}: {what}", width)
    model = f"; by {item['model']}" if item["model"] else ""
    yield from hanging(
        "   ", f"{quantity(item['newest'], item['unit'])} now, {limit} ({item['threshold']}){model}", width
    )
    for note in item["notes"]:
        yield from hanging("   ", note, width)
    if item["plan"]:
        owner = f" ({item['plan']['owner']})" if item["plan"]["owner"] else ""
        yield from hanging("   Plan  ", item["plan"]["text"] + owner, width)


def _name(item: Mapping[str, Any]) -> str:
    about = [part for part in (item["host"], item["db"], item["entity"]) if part]
    return f"{item['title']} ({', '.join(about)})" if about else str(item["title"])
