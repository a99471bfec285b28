"""What the settings of a fleet get wrong: the rules that are broken, and on how many hosts."""

from collections.abc import Iterator
from typing import Any, Final

from rich.text import Text

from doctord.app.fleet.hosts import Host
from doctord.app.fleet.lint import ABOVE_A_NOTE, Broken, FleetLint, HostLint
from doctord.report.fleet.hosts import SCHEMA_VERSION, beside, counted, failures, left_out, named, not_told
from doctord.report.lines import hanging, heading, one_line, printed
from doctord.report.phrases import said
from doctord.report.plain import clean

# What fits on a screen; --json has all.
MOST: Final = 20


def document(found: FleetLint) -> dict[str, Any]:
    """What `doctord fleet lint --json` gives."""
    return {
        "schema_version": SCHEMA_VERSION,
        "place": found.place,
        "healthy": found.healthy,
        "rules": [
            {
                "rule": one.rule,
                "severity": one.severity.word,
                "title": said(one.first.title),
                "fix": said(one.first.fix),
                "hosts": list(one.hosts),
            }
            for one in found.broken
        ],
        "hosts": [_host(host, one) for host, one in found.hosts],
        "failed": failures(found.failed),
    }


def _host(host: Host, one: HostLint) -> dict[str, Any]:
    return {
        "host": host.name,
        "labels": dict(host.labels),
        "healthy": one.healthy,
        "violations": [
            {
                "rule": violation.rule,
                "subject": violation.subject,
                "severity": violation.severity.word,
                "title": said(violation.title),
                "cost": said(violation.cost),
                "impact": violation.impact,
            }
            for violation in one.violations
        ],
        "settings": list(one.settings),
        "notes": list(one.notes),
    }


def render(found: FleetLint) -> str:
    """The same, to be read on a terminal."""
    return printed(lambda width: _page(found, width), None, colour=None)


def _page(found: FleetLint, width: int) -> Iterator[Text]:
    broken = found.broken
    bad = [one for one in broken if one.severity >= ABOVE_A_NOTE]
    yield one_line(_verdict(found), "bold", width)
    yield from hanging("", found.place, width)
    yield from _listed("Above a note", bad, width)
    yield from _listed("Notes", broken[len(bad) :], width)
    yield from not_told("No setting is known", [(host.name, one.reason) for host, one in found.failed], width)
    yield from beside(((host.name, one.notes) for host, one in found.hosts if one.notes), width)


def _verdict(found: FleetLint) -> str:
    hosts, bad = len(found.hosts) + len(found.failed), sum(not one.healthy for _, one in found.hosts)
    if bad:
        return f"{bad} of {counted(hosts)} {'has' if bad == 1 else 'have'} settings that are wrong"
    if not found.hosts:
        return f"No setting is known of {counted(hosts)}"
    unknown = f", and none is known of {len(found.failed)}" if found.failed else ""
    return f"No setting is worse than a note on {counted(len(found.hosts))}{unknown}"


def _listed(title: str, broken: list[Broken], width: int) -> Iterator[Text]:
    if not broken:
        return
    yield from heading(title, width)
    for one in broken[:MOST]:
        yield from hanging(f"{counted(len(one.hosts)):>10}  ", Text(f"{one.rule}, {one.severity.word}", "bold"), width)
        yield from hanging(" " * 12, clean(f"{named(one.hosts)}: {said(one.first.title)}"), width)
        if one.severity >= ABOVE_A_NOTE and (fix := said(one.first.fix)):
            yield from hanging(" " * 12 + "Fix  ", clean(fix), width)
    yield from left_out(len(broken) - MOST, width)
