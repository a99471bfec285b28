"""What a change did to a fleet: the verdict, how the hosts moved, and what else is different on them."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from rich.text import Text

from doctord.analyse.study.difference import Difference
from doctord.app.fleet.hosts import Host
from doctord.app.fleet.study import FleetStudy, HostChange
from doctord.report.fleet.hosts import SCHEMA_VERSION, beside, counted, failures, left_out, not_told
from doctord.report.lines import hanging, heading, printed
from doctord.report.plain import clean
from doctord.report.study.words import ratio_told
from doctord.units import quantity

# What fits on a screen; --json has all.
MOST_HOSTS, MOST_CHANGES = 20, 10
VERDICTS: Final = {
    "better": "Better where it was changed",
    "worse": "Worse where it was changed",
    "no difference": "No difference that can be told",
    "not comparable": "Not comparable",
}


def document(found: FleetStudy) -> dict[str, Any]:
    """What `doctord fleet study --json` gives."""
    did = found.rollout
    return {
        "schema_version": SCHEMA_VERSION,
        "place": found.place,
        "before": found.asked.before,
        "after": found.asked.after,
        "unit": found.asked.unit,
        "verdict": did.verdict,
        "why": did.why or None,
        "net": did.net and _ratio(did.net),
        "changed_ratio": did.net and did.net.after and did.net.after.value,
        "others_ratio": did.net and did.net.before and did.net.before.value,
        "load_ratios": list(did.loads),
        "changes": [
            {"name": name, "changed_hosts": ours, "other_hosts": others} for name, ours, others in found.changes
        ],
        "hosts": [
            _host(host, one, is_changed=is_changed)
            for is_changed, group in ((True, found.changed), (False, found.others))
            for host, one in group
        ],
        "failed": failures(found.failed),
    }


def _ratio(one: Difference) -> dict[str, Any]:
    return {"ratio": one.ratio, "low": one.low, "high": one.high, "p": one.p}


def _host(host: Host, one: HostChange, *, is_changed: bool) -> dict[str, Any]:
    return {
        "host": host.name,
        "labels": dict(host.labels),
        "is_changed": is_changed,
        "before_s": one.row.before,
        "after_s": one.row.after,
        **_ratio(one.row.difference),
        "loads": one.loads and [one.loads.before, one.loads.after],
        "changes": list(one.changes),
        "notes": list(one.notes),
    }


def render(found: FleetStudy) -> str:
    """The same, to be read on a terminal."""
    return printed(lambda width: _page(found, width), None, colour=None)


def _page(found: FleetStudy, width: int) -> Iterator[Text]:
    did = found.rollout
    told = VERDICTS[did.verdict] + (f": {did.why}" if did.why else "")
    if did.verdict in {"better", "worse", "no difference"} and did.net:
        told += f": {ratio_told(did.net.ratio, did.net.low, did.net.high)} of database time a {found.asked.unit}"
    yield from hanging("", Text(told, "bold"), width)
    if found.lost:
        lost = f"Of the changed hosts {found.lost} could not be compared: see below"
        yield from hanging("", Text(lost, "bold yellow"), width)
    periods = f"{found.asked.before} against {found.asked.after}"
    yield from hanging("", f"{found.place}, {periods}", width)
    for name, group, mean in (
        ("changed", found.changed, did.net and did.net.after),
        ("others", found.others, did.net and did.net.before),
    ):
        moved = f": {ratio_told(mean.value)} on the mean" if mean else ""
        yield from hanging(f"  {name:<8}", f"{counted(len(group))}{moved}", width)
    yield from _hosts("Changed hosts", found.changed, width)
    yield from _against(found, width)
    if found.changes:
        yield from heading("What is different afterwards", width)
    for name, ours, others in found.changes[:MOST_CHANGES]:
        on = f"on {ours} of {len(found.changed)} changed hosts, {others} of {len(found.others)} others"
        yield from hanging(f"{clean(name)}  ", on, width)
    yield from left_out(len(found.changes) - MOST_CHANGES, width)
    yield from not_told("Not compared", [(host.name, one.reason) for host, one in found.failed], width)
    yield from beside(((host.name, one.notes) for host, one in (*found.changed, *found.others) if one.notes), width)


def _hosts(title: str, hosts: Sequence[tuple[Host, HostChange]], width: int) -> Iterator[Text]:
    """Hosts and how they moved, the worst first."""
    if not hosts:
        return
    yield from heading(title, width, "the worst first")
    some = sorted(hosts, key=lambda one: -(one[1].row.difference.ratio or 0.0))
    size = min(max(len(host.name) for host, _ in some[:MOST_HOSTS]), 30)
    for host, one in some[:MOST_HOSTS]:
        yield from hanging(f"{clean(host.name):<{size}}  ", _moved(one), width)
    yield from left_out(len(some) - MOST_HOSTS, width)


def _moved(one: HostChange) -> str:
    """How a host moved, in one sentence."""
    before, after = (quantity(value or 0.0, "s") for value in (one.row.before, one.row.after))
    difference = one.row.difference
    return f"{before} to {after} a {one.unit}, {ratio_told(difference.ratio, difference.low, difference.high)}"


def _against(found: FleetStudy, width: int) -> Iterator[Text]:
    """Which hosts got worse by themselves though the change is for the better."""
    worse = [host.name for host, one in found.changed if one.row.outcome == "worse"]
    if found.rollout.verdict == "better" and worse:
        yield from hanging("", clean(f"Worse all the same: {', '.join(worse)}"), width)
