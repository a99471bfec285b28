"""Faults of the lab, and what came of one: JSON documents, and the same to be read on a terminal."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from doctord.app.lab import Tried
from doctord.lab.effect import Effect
from doctord.lab.fault import Fault
from doctord.lab.host.disk import DiskPace
from doctord.lab.load.workload import Pace
from doctord.lab.mysql.server import own_user
from doctord.lab.run import LabServer
from doctord.lab.server import PrivateServer
from doctord.report.diagnosis import document as diagnoses
from doctord.report.diagnosis import terminal


def listed_document(faults: Sequence[Fault]) -> list[dict[str, Any]]:
    """What `doctord lab list --json` gives."""
    return [
        {
            "fault": fault.name,
            "expected_cause": fault.cause,
            "intensities": list(fault.intensities),
            "needs_root": fault.root_for is not None,
            "description": fault.description,
        }
        for fault in faults
    ]


def listed(faults: Sequence[Fault]) -> str:
    """A line for each fault."""
    width = max(len(fault.name) for fault in faults)
    return "\n".join(f"{fault.name:<{width}}  {fault.summary}{' (root)' if fault.root_for else ''}" for fault in faults)


def invitation(fault: Fault, server: LabServer, seconds: float, *, keep: bool) -> str:
    """What the fault does, how to look at the server while it lasts, and whether the server's folder stays."""
    lines = [fault.description, "", f"Look at it for {seconds:g} s:"]
    lines += [f"  {_client(server)}", f'  doctord checkup --dsn "{server.dsn}"']
    return "\n".join([*lines, *([f"Its folder stays: {server.folder}"] if keep else [])])


def _client(server: LabServer) -> str:
    if isinstance(server, PrivateServer):
        return f'psql "{server.dsn}"'
    return f"mysql --socket={server.socket} --user={own_user()}"


def document(found: Tried) -> dict[str, Any]:
    """What `doctord lab run --json` gives."""
    outcome = found.outcome
    return {
        "fault": outcome.fault.name,
        "intensity": outcome.dose.intensity,
        "expected_cause": outcome.fault.cause,
        "first_cause": found.first_cause,
        "correct": found.correct,
        "skipped": outcome.skipped,
        "throughput": {
            "before": asdict(outcome.before) if outcome.before else None,
            "during": asdict(outcome.during) if outcome.during else None,
        },
        "effect": asdict(outcome.effect) if outcome.effect else None,
        "disk": asdict(outcome.disk) | {"stood_still": outcome.disk.stood_still} if outcome.disk else None,
        "diagnosis": diagnoses.document(outcome.seen) if outcome.seen else None,
    }


def render(found: Tried) -> str:
    """The diagnosis, where there is one, and what became of the light load."""
    outcome, name = found.outcome, found.outcome.fault.name
    during = f"during {outcome.dose.intensity} {name}"
    if outcome.skipped:
        return f"{name} was skipped: {outcome.skipped}"
    lines = [f"The light load before: {_paced(outcome.before)}; {during}: {_paced(outcome.during)}."]
    if outcome.effect:
        lines.append(_effect(outcome.effect))
    if outcome.disk and outcome.disk.stood_still:
        lines.append(_stood_still(outcome.disk))
    if outcome.seen:
        lines.insert(0, terminal.render(outcome.seen))
        lines.append(f"Expected: {outcome.fault.cause or 'no finding'}; found: {found.first_cause or 'no finding'}.")
    return "\n".join(lines)


def _effect(effect: Effect) -> str:
    """What the injection took."""
    before = "not there" if effect.before is None else f"{effect.before:g} {effect.unit}"
    took = "It took effect" if effect.found else "It took no effect, so that there is nothing to diagnose"
    return f"{took}: {effect.what}, before {before}, during {effect.during:g} {effect.unit}."


def _stood_still(disk: DiskPace) -> str:
    """What the machine's own disk did before anything was injected."""
    told = {"before": disk.before_ms, "during the fault": disk.during_ms}
    slowest = " and ".join(f"{ms:.0f} ms {when}" for when, ms in told.items() if ms is not None)
    return f"The disk stood still by itself: the slowest of the lab's own synced writes took {slowest}."


def _paced(pace: Pace | None) -> str:
    if pace is None:
        return "not reported"
    latency = "" if pace.latency_ms is None else f", {pace.latency_ms:g} ms each"
    return f"{pace.tps:g} transactions/s{latency}"
