"""A fleet on one HTML page that needs nothing else: who is ill, of what together, what runs out next, who is well."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, Final

from doctord.app.fleet.diagnose import FleetVerdict, Verdict
from doctord.app.fleet.forecast import Ahead, FleetForecast
from doctord.app.fleet.hosts import Host
from doctord.report import wording
from doctord.report.diagnosis.html import environment
from doctord.report.fleet import diagnose as verdicts
from doctord.report.fleet import forecast as forecasts
from doctord.report.fleet.hosts import counted
from doctord.units import duration

# A page of more is too large to open quickly.
MOST_ROWS: Final = 500
OPEN: Final = 60
HEALTH: Final = {"healthy": "well", "not_healthy": "ill", "not_judged": "no verdict"}


@dataclass(frozen=True, slots=True)
class Row:
    """A host of the page.

    `health` as a verdict has it; `what`: its first cause, or why there is no verdict; `share` (0 to 1) of its database
    time, null where that is not known; `next`: what runs out first, with its date.
    """

    host: Host
    health: str
    severity: str
    what: str
    share: float | None
    next: Ahead | None


def render(found: FleetVerdict, ahead: FleetForecast) -> str:
    """The page of a verdict and a forecast of the same hosts."""
    rows = list(_rows(found, {host.name: one.ahead[0] for host, one in ahead.hosts if one.ahead}))
    names = sorted({name for row in rows for name in row.host.labels})
    ill = [row for row in rows if row.health == "not_healthy"]
    told = [row for row in rows if row.what or row.next]
    beside = _beside(found, ahead)
    known = {*ahead.untold, *(name for name, _ in beside)}
    facts = {
        "hosts": f"{len(rows):,}",
        "ill": f"{len(ill):,}",
        "no verdict": f"{found.unjudged:,}",
        "violate a threshold now": f"{len({host.name for host, one in ahead.ahead if one.verdict == 'violated'}):,}",
        f"will within {duration(ahead.horizon_s)}": f"{len({host.name for host, one in ahead.ahead if one.date}):,}",
    }
    page = environment().get_template("fleet/page.html.j2")
    return page.render(
        found=found,
        ahead=ahead,
        healthy={True: "healthy", False: "not-healthy", None: "not-judged"}[found.healthy],
        facts=facts,
        rows=told[:MOST_ROWS],
        labels=names,
        hidden=len(told) - MOST_ROWS,
        well=[row.host.name for row in rows if not row.what and not row.next and row.host.name not in known],
        beside=beside,
        opened=OPEN,
        said_health=HEALTH,
        counted=counted,
        verdicts=verdicts,
        forecasts=forecasts,
        wording=wording,
    )


def document(found: FleetVerdict, ahead: FleetForecast) -> dict[str, Any]:
    """What `doctord fleet report --json` gives: the documents of both."""
    return {**verdicts.document(found), "forecast": forecasts.document(ahead)}


def _beside(found: FleetVerdict, ahead: FleetForecast) -> list[tuple[str, str]]:
    """What is to be known beside the verdicts: hosts of which less was measured, or could be read."""
    told = [(name, "its clock is kept by nobody") for name in found.not_kept]
    told += [(name, f"{wording.interval(one.since, one.until)} alone was recorded") for name, one in found.partly]
    told += [(host.name, note) for host, one in found.hosts for note in one.notes]
    told += [(host.name, note) for host, one in ahead.hosts for note in one.notes]
    told += [(host.name, f"no forecast: {one.reason}") for host, one in ahead.failed]
    told += [
        (host.name, "no forecast: too little history")
        for host, one in ahead.hosts
        if one.healthy is None and one.untold
    ]
    return list(dict.fromkeys(told))


def _rows(found: FleetVerdict, ahead: dict[str, Ahead]) -> Iterator[Row]:
    """The hosts, those that are ill first, then those that nothing is known of: a clean bill comes last."""
    shared = {one.cause for one in found.shared}
    judged = {health: [one for one in found.hosts if one[1].health == health] for health in HEALTH}
    for host, verdict in judged["not_healthy"]:
        first = verdict.causes[0]
        yield Row(
            host, verdict.health, first.severity, _what(verdict, shared), first.impact.share, ahead.get(host.name)
        )
    for host, failed in found.failed:
        yield Row(host, "not_judged", "", failed.reason, None, ahead.get(host.name))
    for host, _ in judged["not_judged"]:
        yield Row(host, "not_judged", "", "too little was measured", None, ahead.get(host.name))
    for host, _ in judged["healthy"]:
        yield Row(host, "healthy", "", "", None, ahead.get(host.name))


def _what(verdict: Verdict, shared: Collection[str]) -> str:
    """Its first cause; one that is told above for all who have it, by its name."""
    first, *others = verdict.causes
    told = f"{first.cause}, as above" if first.cause in shared else verdicts.told(first, verdict)
    return told + (f"; {len(others)} more" if others else "")
