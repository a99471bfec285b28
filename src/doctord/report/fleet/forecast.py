"""What is violated and what will be, over a fleet: what comes next on which host."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, Final

from rich.text import Text

from doctord.app.fleet.forecast import Ahead, FleetForecast, HostForecast
from doctord.app.fleet.hosts import Host
from doctord.report.fleet.hosts import SCHEMA_VERSION, beside, counted, failures, left_out, not_told
from doctord.report.lines import hanging, heading, printed
from doctord.report.plain import clean
from doctord.report.wording import iso
from doctord.units import duration, quantity

# What fits on a screen; --json has all.
MOST: Final = 20


def document(found: FleetForecast) -> dict[str, Any]:
    """What `doctord fleet forecast --json` gives."""
    return {
        "schema_version": SCHEMA_VERSION,
        "place": found.place,
        "horizon_s": found.horizon_s,
        "healthy": found.healthy,
        "hosts": [_host(host, one) for host, one in found.hosts],
        "failed": failures(found.failed),
    }


def _host(host: Host, one: HostForecast) -> dict[str, Any]:
    return {
        "host": host.name,
        "labels": dict(host.labels),
        "history_s": one.history_s,
        "reach_s": one.reach_s,
        "healthy": one.healthy,
        "ahead": [_ahead(item) for item in one.ahead],
        "not_within_the_horizon": one.quiet,
        "cannot_be_told": one.untold,
        "notes": list(one.notes),
    }


def _ahead(item: Ahead) -> dict[str, Any]:
    dates = {name: iso(getattr(item, name)) for name in ("date", "earliest", "latest")}
    return {**asdict(item), "labels": {"db": item.labels.db, "entity": item.labels.entity}, **dates}


def render(found: FleetForecast) -> str:
    """The same, to be read on a terminal."""
    return printed(lambda width: _page(found, width), None, colour=None)


def _page(found: FleetForecast, width: int) -> Iterator[Text]:
    yield from hanging("", Text(verdict(found), "bold"), width)
    short = f"; {counted(len(found.short))} {_has(len(found.short))} too short a history to look so far"
    within = f"{found.place}, within {duration(found.horizon_s)}{short if found.short else ''}"
    yield from hanging("", within, width)
    now = [one for one in found.ahead if one[1].verdict == "violated"]
    yield from _listed("Violated now", now, width)
    yield from _listed("To come", found.ahead[len(now) :], width)
    untold = [(host.name, _untold(one)) for host, one in found.hosts if one.healthy is None]
    yield from not_told("Cannot be told", [(host.name, one.reason) for host, one in found.failed] + untold, width)
    yield from beside(((host.name, one.notes) for host, one in found.hosts if one.notes), width)


def verdict(found: FleetForecast) -> str:
    """What is to come, in one line."""
    hosts = len(found.hosts) + len(found.failed)
    now = {host.name for host, one in found.ahead if one.verdict == "violated"}
    later = {host.name for host, one in found.ahead if one.verdict == "date"}
    parts = [f"{len(now)} of {counted(hosts)} violate{'s' if len(now) == 1 else ''} a threshold now"] if now else []
    if later:
        first = next(one for one in found.ahead if one[1].verdict == "date")
        parts.append(f"{counted(len(later))} will, the first about {first[1].date:%F}: {clean(first[0].name)}")
    if not parts:
        told = hosts - len(found.untold)
        parts = [f"No threshold will be violated on {told} of {counted(hosts)}" if told else "Nothing can be told yet"]
    elif found.untold:
        parts.append(f"of {len(found.untold)} nothing can be told")
    return "; ".join(parts)


def _has(many: int) -> str:
    return "has" if many == 1 else "have"


def _untold(one: HostForecast) -> str:
    if not one.untold:
        return "nothing was measured that a threshold speaks of"
    return f"{duration(one.history_s)} of history"


def _listed(title: str, some: Sequence[tuple[Host, Ahead]], width: int) -> Iterator[Text]:
    if not some:
        return
    yield from heading(title, width)
    size = min(max(len(host.name) for host, _ in some[:MOST]), 30)
    for host, one in some[:MOST]:
        date = f"{one.date:%F}  " if one.date else ""
        yield from hanging(f"{date}{clean(host.name):<{size}}  ", clean(said_of(one)), width)
    yield from left_out(len(some) - MOST, width)


def said_of(one: Ahead) -> str:
    """What of a threshold is to come, in one sentence, without its date.

    >>> from doctord.analyse.capacity.series import Labels
    >>> said_of(Ahead("disk", "Space left", "bytes", Labels(None, None, "/data"), 100, 50, "violated", *[None] * 3))
    'Space left (/data): 50 B now, limit 100 B'
    """
    whose = ", ".join(part for part in (one.labels.db, one.labels.entity) if part)
    told = f"{one.title}{f' ({whose})' if whose else ''}: {quantity(one.newest, one.unit)} now"
    limit = f"{told}, limit {quantity(one.limit, one.unit)}"
    if one.verdict != "date":
        return limit
    until = f"to {one.latest:%F}" if one.latest else "or later"
    return f"{limit}; from {one.earliest or one.date:%F} {until}"
