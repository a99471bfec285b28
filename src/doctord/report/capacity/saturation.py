"""How far resources are from saturation: a JSON document, and the same to be read on a terminal."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rich.text import Text

from doctord.analyse.capacity.load.estimate import Estimate
from doctord.analyse.capacity.load.queue_fit import FAR
from doctord.analyse.capacity.load.saturation import FAST_S, Database, Grown, Resource, Saturation
from doctord.app.capacity.saturation import Saturated
from doctord.report.lines import hanging, heading, one_line, printed
from doctord.report.wording import iso

UNITS = {"cpu": ("% of the CPUs", "times its own time"), "disk": ("requests/s", "ms"), "wait": ("waits/s", "ms")}
SHOWN = 20
DONE = {"commits_per_s": "commits/s", "executions_per_s": "executions/s", "throughput": ""}


def document(found: Saturated) -> dict[str, Any]:
    """What `doctord forecast --saturation --json` gives: docs/reference/saturation.md."""
    return {
        "schema_version": 1,
        "horizon_s": found.horizon_s,
        "changes": [change.text for change in found.changes],
        "resources": [_resource(one) for one in found.resources],
        "scaling": [_scaling(one) for one in found.databases],
    }


def _resource(one: Saturation) -> dict[str, Any]:
    resource, queue = one.resource, one.resource.queue
    load_unit, response_unit = UNITS[resource.kind]
    load, response = _scales(resource)
    return {
        "kind": resource.kind,
        **asdict(resource.labels),
        "cpus": resource.cpus,
        "load_unit": load_unit,
        "response_unit": response_unit,
        "load": None if one.load is None else one.load * load,
        "response": _estimate(one.response, response),
        "service": _estimate(queue.service if queue.curves else None, response),
        "knee": _estimate(one.knee, load),
        "saturation": _estimate(queue.saturation if queue.curves else None, load),
        "headroom_pct": one.headroom_pct,
        "verdict": one.when.verdict,
        "date": iso(one.when.date),
        "earliest": iso(one.when.earliest),
        "latest": iso(one.when.latest),
        "why": one.when.why,
        "curves": [curve.name for curve in queue.curves],
        "points": queue.points,
        "lowest": _known(queue.lowest * load),
        "highest": _known(queue.highest * load),
        "passed": [
            {"threshold": at.threshold.name, "limit": at.threshold.limit, "load": _estimate(at.load, load)}
            for at in one.passed
        ],
        "grown": [_grown(grown, load, response) for grown in one.grown],
    }


def _grown(grown: Grown, load: float, response: float) -> dict[str, Any]:
    return {
        "change": grown.change.text,
        "load": grown.load * load,
        "response": _estimate(grown.response, response),
        "is_extrapolated": grown.is_far,
    }


def _scaling(one: Database) -> dict[str, Any]:
    law = one.scaling
    coefficients = {} if law.why else {"gamma": law.gamma, "sigma": law.sigma, "kappa": law.kappa}
    told = {"gamma": None, "sigma": None, "kappa": None} | coefficients
    told |= {"users_at_peak": law.users, "peak": law.peak, "limit": law.limit}
    return {
        **asdict(one.labels),
        "done": one.done,
        "users": _known(one.users),
        **{name: _estimate(estimate, 1.0) for name, estimate in told.items()},
        "points": law.points,
        "highest": _known(law.highest),
        "residual": _known(law.residual),
        "why": law.why,
    }


def _estimate(estimate: Estimate | None, scale: float) -> dict[str, float | None] | None:
    """An estimate in the unit of the document; what has no end is null."""
    if estimate is None:
        return None
    ends = {"value": estimate.value, "low": estimate.low, "high": estimate.high}
    return {name: None if end is None else _known(end * scale) for name, end in ends.items()}


def _known(value: float) -> float | None:
    return value if abs(value) < float("inf") else None


def _scales(resource: Resource) -> tuple[float, float]:
    """What loads and responses are multiplied by for people: % of all CPUs, ms."""
    return (100 / resource.cpus, 1.0) if resource.kind == "cpu" and resource.cpus else (1.0, 1000.0)


def render(found: Saturated, width: int | None = None, *, colour: bool | None = None) -> str:
    """The same as lines of text."""
    told = document(found)
    return printed(lambda columns: _page(told, columns), width, colour=colour)


def _page(document: Mapping[str, Any], width: int) -> Iterator[Text]:
    told = [one for one in document["resources"] if one["knee"]]
    untold = [one for one in document["resources"] if not one["knee"]]
    yield one_line(_verdict(told, document), "bold", width)
    if told:
        yield from heading("Response doubles at", width)
    for one in told[:SHOWN]:
        yield from _told(one, width)
    yield from _more(told, width)
    laws = [one for one in document["scaling"] if not one["why"]]
    if laws:
        yield from heading("Throughput by active sessions, or users", width)
    for one in laws[:SHOWN]:
        yield from _law(one, width)
    yield from _more(laws, width)
    untold += [one for one in document["scaling"] if one["why"]]
    if untold:
        yield from heading("Cannot be told", width)
    for one in untold[:SHOWN]:
        yield from hanging("  ", f"{_name(one)}: {one['why']}", width)
    yield from _more(untold, width)


def _more(found: Sequence[object], width: int) -> Iterator[Text]:
    if len(found) > SHOWN:
        yield from hanging("  ", f"and {len(found) - SHOWN} more: --json has all", width)


def _verdict(told: Sequence[Mapping[str, Any]], document: Mapping[str, Any]) -> str:
    if told and told[0]["headroom_pct"] is not None:
        first = told[0]  # those of which it is not known stand last
        room = first["headroom_pct"]
        if room <= 0:
            is_sure = first["knee"]["high"] is not None and first["load"] > first["knee"]["high"]
            how = (
                "has more than doubled in the busy hour" if is_sure else "has doubled in the busy hour, or is about to"
            )
            return f"{_name(first)}: response {how}"
        return f"Least headroom: {_name(first)}, {room:.0f} % until response doubles"
    peaks = [one for one in document["scaling"] if one["users_at_peak"]]
    if peaks:
        return f"{_about(peaks[0])}: throughput peaks at {peaks[0]['users_at_peak']['value']:.3g}"
    if all(one["why"] for one in document["scaling"]):
        return "How far it is to saturation cannot be told"
    return "No peak of throughput in sight"


def _told(one: Mapping[str, Any], width: int) -> Iterator[Text]:
    unit = one["load_unit"]
    room = (
        ""
        if one["headroom_pct"] is None
        else f", {one['headroom_pct']:+.0f} % from the busy hour's {_digits(one['load'])}"
    )
    yield from hanging("", f"{_name(one)}: {_range(one['knee'])} {unit}{room}", width)
    yield from hanging("   ", _when(one), width)
    most = _range(one["saturation"])
    full = f"never more than {most} {unit}; " if one["kind"] != "cpu" else ""
    fast = " (a cache's or flash's time)" if one["kind"] != "cpu" and one["service"]["value"] <= 1000 * FAST_S else ""
    now = f", {_range(one['response'])} in the busy hour" if one["response"] else ""
    yield from hanging(
        "   ", f"{full}{_range(one['service'])} {one['response_unit']} without a queue{fast}{now}", width
    )
    seen = f"{one['points']} points, {_digits(one['lowest'])} to {_digits(one['highest'])} {unit}"
    yield from hanging("   ", f"by {' and '.join(one['curves'])} through {seen}{_beyond(one)}", width)
    for at in one["passed"]:
        load = f"at {_range(at['load'])} {unit}" if at["load"] else "without any load"
        yield from hanging("   ", f"{at['limit']:g} ms ({at['threshold']}) is passed {load}", width)
    for grown in one["grown"]:
        response = grown["response"]
        what = "saturated" if response["value"] is None else f"{_range(response)} {one['response_unit']}"
        far = f"; more than {FAR:g} times what was seen: a guess" if grown["is_extrapolated"] else ""
        yield from hanging("   ", f"with {grown['change']}, {_digits(grown['load'])}: {what}{far}", width)


def _when(one: Mapping[str, Any]) -> str:
    if one["verdict"] != "date":
        perhaps = f"; perhaps from {one['earliest'][:10]}" if one["earliest"] and one["verdict"][0] == "n" else ""
        return f"{one['verdict']}: {one['why']}{perhaps}" if one["verdict"] != "violated" else "now, in the busy hour"
    latest = f"to {one['latest'][:10]}" if one["latest"] else "or later"
    return f"about {one['date'][:10]}, from {(one['earliest'] or one['date'])[:10]} {latest}"


def _beyond(one: Mapping[str, Any]) -> str:
    if one["knee"]["value"] <= one["highest"]:
        return ""
    far = f", more than {FAR:g} times what was seen: a guess" if one["knee"]["value"] > FAR * one["highest"] else ""
    return f": beyond what was seen{far}"


def _law(one: Mapping[str, Any], width: int) -> Iterator[Text]:
    unit = DONE[one["done"]]
    if one["users_at_peak"]:
        what = f"peaks at {_range(one['users_at_peak'])}, with {_range(one['peak'])} {unit}".rstrip()
    elif one["limit"]:
        what = f"no peak in sight; it approaches {_range(one['limit'])} {unit}".rstrip()
    else:
        what = "neither a peak nor a limit in sight: it grows in proportion, as far as can be told"
    yield from hanging("", f"{_about(one)}: {what}", width)
    if one["users_at_peak"] and one["db"] and one["users"] > one["users_at_peak"]["value"]:
        beyond = (
            f"beyond it in one minute of twenty, with {_digits(one['users'])} and more: fewer sessions would do more"
        )
        yield from hanging("   ", beyond, width)
    costs = f"sigma {_range(one['sigma'])} (queueing), kappa {_range(one['kappa'])} (coherency)"
    yield from hanging("   ", f"{costs}; {_range(one['gamma'])} {unit}".rstrip() + " for one", width)
    guess = (
        "; the peak is a guess" if one["users_at_peak"] and one["users_at_peak"]["value"] > FAR * one["highest"] else ""
    )
    yield from hanging("   ", f"{one['points']} points up to {one['highest']:.4g}{guess}", width)


def _range(estimate: Mapping[str, float | None]) -> str:
    """A figure with its interval; one of which all ends look alike stands alone."""
    value, low, high = (_digits(estimate[key]) for key in ("value", "low", "high"))
    return value if value == low == high else f"{value} ({low} to {high})"


def _digits(value: float | None) -> str:
    return "no end" if value is None else f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _name(one: Mapping[str, Any]) -> str:
    where = f" of {one['host']}" if one["host"] else ""
    if one.get("kind") == "cpu":
        return f"{one['cpus'] or ''} CPUs{where}".lstrip()
    return f"{one['entity']}{where}" if one.get("kind") == "disk" else _about(one)


def _about(one: Mapping[str, Any]) -> str:
    return ", ".join(part for part in (one["host"], one["db"], one["entity"]) if part) or "the database"
