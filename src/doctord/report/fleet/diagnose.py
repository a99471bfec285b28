"""The verdict on a fleet: who is ill, what those have in common, who is unlike its peers."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from rich.text import Text

from doctord.analyse.fleet.common import Common
from doctord.analyse.fleet.peers import Outlier
from doctord.app.fleet.diagnose import FleetVerdict, Shared, Verdict
from doctord.app.fleet.hosts import Host
from doctord.diagnose.finding import Finding
from doctord.report import wording
from doctord.report.fleet.hosts import SCHEMA_VERSION, beside, counted, failures, left_out, named, not_told
from doctord.report.lines import hanging, heading, one_line, printed
from doctord.report.phrases import said, says_share, time
from doctord.report.plain import clean
from doctord.report.wording import iso, percent
from doctord.units import number

# What fits on a screen; --json has all.
MOST_HOSTS, MOST_OUTLIERS = 30, 10
STYLES: Final = {False: "bold red", None: "bold yellow", True: "bold green"}


def document(found: FleetVerdict) -> dict[str, Any]:
    """What `doctord fleet diagnose --json` gives."""
    return {
        "schema_version": SCHEMA_VERSION,
        "place": found.place,
        "since": iso(found.since),
        "until": iso(found.until),
        "healthy": found.healthy,
        "shared": [_shared(one) for one in found.shared],
        "outliers": [
            {
                "host": one.host,
                "role": one.role,
                "figure": one.figure,
                "unit": one.unit,
                "value": one.value,
                "median": one.median,
                "above": one.above,
                "peers": one.peers,
            }
            for one in found.outliers
        ],
        "hosts": [_host(host, verdict) for host, verdict in found.hosts],
        "failed": failures(found.failed),
    }


def _shared(one: Shared) -> dict[str, Any]:
    common = one.common
    return {
        "cause": one.cause,
        "severity": one.severity,
        "title": said(one.first.title),
        "hosts": list(one.hosts),
        "common": common
        and {
            "label": common.label,
            "value": common.value,
            "ill": common.ill,
            "hosts": common.hosts,
            "ill_others": common.ill_others,
            "others": common.others,
            "chance": common.chance,
        },
    }


def _host(host: Host, verdict: Verdict) -> dict[str, Any]:
    return {
        "host": host.name,
        "labels": dict(host.labels),
        "since": iso(verdict.since),
        "until": iso(verdict.until),
        "health": verdict.health,
        "findings": [
            {
                "cause": one.cause,
                "severity": one.severity,
                "database": one.database,
                "title": said(one.title),
                "impact": one.impact.share,
                "impact_known": one.impact.known,
                "time_of": one.time_of or verdict.time_of,
                "confidence": one.confidence,
                "explained_by": one.explained_by,
                "since": iso(one.interval[0]) if one.interval else None,
                "until": iso(one.interval[1]) if one.interval else None,
            }
            for one in verdict.findings
        ],
        "figures": verdict.signs,
        "clock": verdict.clock and {"is_kept": verdict.clock.is_kept, "max_error_s": verdict.clock.max_error_s},
        "notes": list(verdict.notes),
    }


def render(found: FleetVerdict) -> str:
    """The same, to be read on a terminal."""
    return printed(lambda width: _page(found, width), None, colour=None)


def verdict(found: FleetVerdict) -> str:
    """How the fleet is, in one line."""
    ill, hosts = len(found.ill), len(found.hosts) + len(found.failed)
    if ill:
        return f"{ill} of {counted(hosts)} {'is' if ill == 1 else 'are'} not healthy"
    if found.unjudged == hosts:
        return f"No verdict on any of {counted(hosts)}"
    if found.unjudged:
        return f"No finding above a note, and no verdict on {found.unjudged} of {counted(hosts)}"
    return f"No finding above a note on {counted(hosts)}"


def _page(found: FleetVerdict, width: int) -> Iterator[Text]:
    yield one_line(verdict(found), STYLES[found.healthy], width)
    unjudged = f"; no verdict on {found.unjudged}" if found.ill and found.unjudged else ""
    yield from hanging("", f"{found.place}, {wording.interval(found.since, found.until)}{unjudged}", width)
    yield from _what_is_shared(found.shared, width)
    yield from _who_is_ill(found, width)
    told = {host.name for host, _ in found.ill}
    yield from _who_is_unlike([one for one in found.outliers if one.host not in told], width)
    yield from _whose_clock_is_not_kept(found.not_kept, width)
    partly = [(name, f"{wording.interval(one.since, one.until)} alone was recorded") for name, one in found.partly]
    yield from not_told("Of less than that time", partly, width)
    yield from not_told("No verdict", _not_judged(found), width)
    yield from beside(((host.name, verdict.notes) for host, verdict in found.hosts if verdict.notes), width)


def _what_is_shared(shared: Sequence[Shared], width: int) -> Iterator[Text]:
    if not shared:
        return
    yield from heading("What hosts have in common", width)
    for one in shared:
        title = Text.assemble(f"{one.cause}, {one.severity}", style="bold")
        yield from hanging(f"{counted(len(one.hosts)):>10}  ", title, width)
        indent = " " * 12
        if one.common:
            yield from hanging(indent, clean(in_common(one.common)), width)
        yield from hanging(indent, clean(f"{named(one.hosts)}: {said(one.first.title)}"), width)


def in_common(common: Common) -> str:
    """Whom a label tells apart.

    >>> in_common(Common("array", "ams-3", 40, 40, 0, 960, 1e-70))
    'array ams-3: all 40 hosts of it, and none of the 960 others'
    """
    inside = f"all {common.ill}" if common.ill == common.hosts else f"{common.ill} of the {common.hosts}"
    outside = f"none of the {common.others:,} others"
    if common.ill_others:
        outside = f"{common.ill_others} of the {common.others:,} others"
    return f"{common.label} {common.value}: {inside} hosts of it, and {outside}"


def _who_is_ill(found: FleetVerdict, width: int) -> Iterator[Text]:
    """The hosts that are ill of what is not told already as common to several."""
    shared = {one.cause for one in found.shared}
    own = [(host, verdict) for host, verdict in found.ill if {one.cause for one in verdict.causes} - shared]
    if own:
        yield from heading("Other hosts" if shared else "Hosts", width, "the worst first")
    size = min(max((len(host.name) for host, _ in own[:MOST_HOSTS]), default=0), 30)
    for host, verdict in own[:MOST_HOSTS]:
        first, *others = [one for one in verdict.causes if one.cause not in shared]
        more = f"; {len(others)} more" if others else ""
        label = f"{first.severity:<8}  {clean(host.name):<{size}}  "
        yield from hanging(label, clean(f"{told(first, verdict)}{more}"), width)
    yield from left_out(len(own) - MOST_HOSTS, width)
    if found.ill:
        yield Text()
        yield from hanging("Evidence ", clean(evidence(found)), width)


def evidence(found: FleetVerdict) -> str:
    """The command that shows the evidence on the worst host."""
    worst = found.hosts[0][0] if found.hosts else found.failed[0][0]
    whose = f" --host {worst.name}" if worst.is_shipped else ""
    return f"doctord diagnose --lake {worst.lake}{whose} --from {found.since:%FT%TZ} --to {found.until:%FT%TZ}"


def told(finding: Finding, verdict: Verdict) -> str:
    """A finding in one sentence, with its share once."""
    of, title = finding.time_of or verdict.time_of, said(finding.title)
    if finding.impact.share is None or says_share(finding.title, of):
        return title
    most = "at most " if finding.impact.known == "at_most" else ""
    return f"{title} ({most}{percent(finding.impact.share)} of {time(of)})"


def _who_is_unlike(outliers: Sequence[Outlier], width: int) -> Iterator[Text]:
    if not outliers:
        return
    yield from heading("Unlike their peers, without a finding", width, "of one role and load")
    for one in outliers[:MOST_OUTLIERS]:
        yield from hanging(f"{clean(one.host)}  ", clean(unlike(one)), width)
    yield from left_out(len(outliers) - MOST_OUTLIERS, width)


def unlike(one: Outlier) -> str:
    """How far somebody is above the peers, in one sentence."""
    role = f" of role {one.role}" if one.role else ""
    above = "all" if one.above == 1 else f"{percent(one.above)} of"
    return (
        f"{one.figure} {number(one.value)} {one.unit}, above {above} its {one.peers:,} peers{role} "
        f"(median {number(one.median)} {one.unit})"
    )


def _whose_clock_is_not_kept(names: Sequence[str], width: int) -> Iterator[Text]:
    if names:
        yield from heading("Clocks that nobody keeps", width)
        told = f"{counted(len(names))}: what happened first there, and what on others, cannot be told"
        yield from hanging("", clean(f"{told}: {named(names)}"), width)


def _not_judged(found: FleetVerdict) -> list[tuple[str, str]]:
    unjudged = [(host.name, failed.reason) for host, failed in found.failed]
    return unjudged + [
        (host.name, "too little was measured") for host, one in found.hosts if one.health == "not_judged"
    ]
