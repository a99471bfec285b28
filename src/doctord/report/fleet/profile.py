"""The profile of a fleet: what is beyond its limit on which host, and each figure over all of them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rich.text import Text

from doctord.analyse.capacity.profile import DAYS_AGO
from doctord.app.fleet.hosts import Host
from doctord.app.fleet.profile import FleetProfile, Held, HostProfile, OverHosts
from doctord.report.capacity.profile import BESIDE, shown
from doctord.report.fleet.hosts import SCHEMA_VERSION, beside, counted, failures, left_out, not_told
from doctord.report.lines import hanging, heading, one_line, printed, table
from doctord.report.plain import clean
from doctord.units import quantity

# What fits on a screen; --json has all.
MOST: Final = 20


def document(found: FleetProfile) -> dict[str, Any]:
    """What `doctord fleet profile --json` gives."""
    return {
        "schema_version": SCHEMA_VERSION,
        "place": found.place,
        "healthy": found.healthy,
        "figures": [_over(one) for one in found.figures],
        "hosts": [_host(host, one) for host, one in found.hosts],
        "failed": failures(found.failed),
    }


def _over(one: OverHosts) -> dict[str, Any]:
    return {
        "figure": one.figure,
        "title": one.title,
        "unit": one.unit,
        "hosts": one.hosts,
        "median_days_ago": _by_days(one.values),
        "lowest": {"host": one.lowest[0], "value": one.lowest[1]},
        "highest": {"host": one.highest[0], "value": one.highest[1]},
        "violated": list(one.violated),
    }


def _by_days(values: Mapping[int, float | None]) -> dict[str, float | None]:
    return {str(days): value for days, value in values.items()}


def _host(host: Host, one: HostProfile) -> dict[str, Any]:
    return {
        "host": host.name,
        "labels": dict(host.labels),
        "at": one.at.isoformat(),
        "healthy": one.healthy,
        "figures": [_line(line) for line in one.lines],
        "contradictions": one.contradictions,
        "notes": list(one.notes),
    }


def _line(one: Held) -> dict[str, Any]:
    return {
        "figure": one.figure,
        "title": one.title,
        "unit": one.unit,
        "db": one.labels.db,
        "entity": one.labels.entity,
        "days_ago": _by_days(one.values),
        "limit": one.limit,
        "worse": one.worse,
        "threshold": one.threshold,
        "verdict": one.verdict,
    }


def render(found: FleetProfile) -> str:
    """The same, to be read on a terminal."""
    return printed(lambda width: _page(found, width), None, colour=None)


def _page(found: FleetProfile, width: int) -> Iterator[Text]:
    yield one_line(verdict(found), "bold", width)
    yield from hanging("", found.place, width)
    yield from _violated(found.violated, width)
    if found.figures:
        yield from heading("Over all hosts", width, "medians; lowest and highest host today")
        names = ("90 d ago", "30 d", "7 d", "today", "lowest", "highest", "hosts", "")
        yield from table(names, [_row(one) for one in found.figures[:MOST]], width)
        yield from left_out(len(found.figures) - MOST, width)
    contradicted = [(host.name, f"{one.contradictions} waits contradict themselves") for host, one in found.hosts
                    if one.contradictions]  # fmt: skip
    yield from not_told("Contradictions", contradicted, width)
    old = [(host.name, f"its last row is of {at:%F %H:%M} UTC") for host, at in found.behind]
    yield from not_told("Of an earlier day", old, width)
    yield from not_told("Nothing to show", [(host.name, one.reason) for host, one in found.failed], width)
    yield from beside(((host.name, one.notes) for host, one in found.hosts if one.notes), width)


def verdict(found: FleetProfile) -> str:
    """What is beyond its limit, in one line."""
    hosts, bad = len(found.hosts) + len(found.failed), len({host.name for host, _ in found.violated})
    if bad:
        return f"{bad} of {counted(hosts)} {'is' if bad == 1 else 'are'} beyond a limit today"
    if found.healthy is False:
        return f"No limit is passed today, but figures contradict each other on some of {counted(hosts)}"
    if not found.hosts:
        return f"There is nothing to show of {counted(hosts)}"
    of = f"{len(found.hosts)} of {counted(hosts)}" if found.failed else counted(hosts)
    return f"No limit is passed today on {of}"


def _violated(some: Sequence[tuple[Host, Held]], width: int) -> Iterator[Text]:
    if not some:
        return
    yield from heading("Beyond their limits today", width)
    size = min(max(len(host.name) for host, _ in some[:MOST]), 30)
    for host, one in some[:MOST]:
        yield from hanging(f"{clean(host.name):<{size}}  ", clean(said_of(one)), width)
    yield from left_out(len(some) - MOST, width)


def said_of(one: Held) -> str:
    """What is beyond its limit, in one sentence."""
    whose = ", ".join(part for part in (one.labels.db, one.labels.entity) if part)
    month = f", {quantity(one.values[30], one.unit)} 30 days ago" if one.values[30] is not None else ""
    now = f"{quantity(one.values[0], one.unit)}, limit {quantity(one.limit, one.unit)}{month}"
    return f"{one.title}{f' ({whose})' if whose else ''}: {now}"


def _row(one: OverHosts) -> Sequence[str]:
    unit = BESIDE.get(one.unit, f", {one.unit.replace('_', ' ')}")
    beyond = f"{len(one.violated)} BEYOND LIMIT: " if one.violated else ""
    ends = f" ({clean(one.lowest[0])} to {clean(one.highest[0])})"
    return (
        *(shown(one.values[days], one.unit) for days in DAYS_AGO),
        shown(one.lowest[1], one.unit),
        shown(one.highest[1], one.unit),
        str(one.hosts),
        f"{beyond}{one.title}{unit}{ends}",
    )
