"""A change rolled out over hosts: was it better there than on the hosts that were left as they were."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from doctord.analyse.fleet.rollout import Moved, Rollout, rollout
from doctord.analyse.study.compare import Row
from doctord.analyse.study.load import Loads
from doctord.app.fleet.each import Listener, each_host, placed
from doctord.app.fleet.engine import Engine, Failed
from doctord.app.fleet.hosts import Chosen, Host
from doctord.app.source import Recorded
from doctord.app.study.recorded import interval_of
from doctord.app.study.study import Question, of_lake
from doctord.app.watcher import SILENT, Watcher
from doctord.errors import UserError

NO_COST = "no database time of a unit of load is told of both periods, at a load that both had"


@dataclass(frozen=True, slots=True)
class Asked:
    """What is compared.

    Attributes:
        before, after: Two times, each written FROM..TO.
        changed: The hosts that were changed between them: all that one of these holds.
        unit: The unit of load; null: the best that both tell.
    """

    before: str
    after: str
    changed: tuple[Chosen, ...]
    unit: str | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """What is asked of one host."""

    host: Host
    asked: Asked


@dataclass(frozen=True, slots=True)
class HostChange:
    """How one host moved.

    Attributes:
        row: Database time of a unit of load, before and after.
        unit: That unit.
        loads: Units a second.
        changes: What is different on it afterwards: settings, versions, plans, relations.
        notes: What of its lake could not be read, say.
    """

    row: Row
    unit: str
    loads: Loads | None
    changes: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def moved(self) -> Moved | None:
        """The ratios; null where there was no cost before or after, or no load that both had."""
        if not self.row.difference.ratio or (self.loads and self.loads.overlap is False):
            return None
        load = self.loads.after / self.loads.before if self.loads and self.loads.before else None
        return Moved(self.row.difference.ratio, load or None)


@dataclass(frozen=True, slots=True)
class FleetStudy:
    """What a change did to a fleet.

    Attributes:
        place: Where it is kept.
        asked: What was compared, by the unit of load that was taken.
        rollout: What the change did.
        changed: The hosts that were changed, by name, each with how it moved.
        others: Those that were not, likewise.
        failed: Each other with why it could not be compared.
        lost: How many of these were changed: they may be what the change did.
    """

    place: str
    asked: Asked
    rollout: Rollout
    changed: tuple[tuple[Host, HostChange], ...]
    others: tuple[tuple[Host, HostChange], ...]
    failed: tuple[tuple[Host, Failed], ...]
    lost: int = 0

    @property
    def changes(self) -> list[tuple[str, int, int]]:
        """What is different afterwards, and on how many of the changed and of the other hosts, the former's first."""
        counts = [Counter(name for _, one in group for name in one.changes) for group in (self.changed, self.others)]
        names = sorted({*counts[0], *counts[1]}, key=lambda name: (-counts[0][name], counts[1][name], name))
        return [(name, counts[0][name], counts[1][name]) for name in names]

    @property
    def healthy(self) -> bool | None:
        """False where it is worse; null where nothing can be compared, or not all that were changed."""
        if self.rollout.verdict == "worse":
            return False
        return None if self.rollout.verdict == "not comparable" or self.lost else True


def study_fleet(
    place: str, hosts: Sequence[Host], asked: Asked, engine: Engine, watcher: Watcher = SILENT
) -> FleetStudy:
    """Hold two times of each host against each other, and the hosts that were changed against the others.

    Args:
        place: What to call the fleet.
        hosts: All of them.
        asked: The two times, and who was changed.
        engine: What it runs on.
        watcher: Who is told how it goes on.

    Raises:
        UserError: none of them was changed, or all were.
    """
    for one in asked.changed:
        if not any(one.holds(host) for host in hosts):
            named = ", ".join((*one.names, *(f"{name}={value}" for name, value in one.labels.items())))
            raise UserError(f"no host is {named}", "--changed names hosts that take part: a pattern, or NAME=VALUE")
    are_changed = {host.name: any(one.holds(host) for one in asked.changed) for host in hosts}
    if len({*are_changed.values()}) != 2:
        count = "every one" if any(are_changed.values()) else "none"
        raise UserError(
            f"{count} of the {len(hosts)} hosts was changed", "--changed names some: a pattern of names, or NAME=VALUE"
        )
    asked = replace(asked, before=_moments(hosts, asked.before, watcher), after=_moments(hosts, asked.after, watcher))
    each = each_host("Comparing", compare, [Task(host, asked) for host in hosts], engine, watcher)
    most = _unit([one for _, one in each.found])
    told = [(host, one) for host, one in each.found if one.unit == most and one.moved]
    failed = [*each.failed, *((host, _untold(one, most)) for host, one in each.found if (host, one) not in told)]
    ours = tuple((host, one) for host, one in told if are_changed[host.name])
    others = tuple((host, one) for host, one in told if not are_changed[host.name])
    lost = sum(are_changed[host.name] for host, _ in failed)
    found = rollout(*([one.moved for _, one in group if one.moved] for group in (ours, others)))
    in_order = tuple(sorted(failed, key=lambda one: one[0].name))
    return FleetStudy(place, replace(asked, unit=most), found, ours, others, in_order, lost)


def _moments(hosts: Sequence[Host], text: str, watcher: Watcher) -> str:
    """The same time for all hosts: a time of day is that of the newest lake, and now is now."""
    since, until = placed(hosts, interval_of(text), watcher).moments
    return "..".join(moment.isoformat().replace("+00:00", "Z") for moment in (since, until))


def compare(task: Task) -> HostChange:
    """How one host moved.

    Raises:
        UserError: its lake cannot be read, tells nothing of one of the times, or no cost of a unit of load.
    """
    listener, asked = Listener(), task.asked
    with task.host.opened() as lake:
        found = of_lake(Recorded(lake), asked.before, asked.after, Question(unit=asked.unit), listener)
    comparison = found.parts[0].last
    if not comparison.time or comparison.unit is None:
        raise UserError(NO_COST, "what does the lake hold? doctord profile --lake tells")
    changes = comparison.changes
    return HostChange(
        row=comparison.time[0],
        unit=comparison.unit,
        loads=comparison.loads,
        changes=tuple(sorted({one.name for one in changes.found})) if changes else (),
        notes=tuple(listener.notes),
    )


def _unit(found: Sequence[HostChange]) -> str | None:
    """The unit of load that most hosts are told by: costs of different units are not held against each other."""
    units = [one.unit for one in found]
    return max(sorted(set(units)), key=units.count, default=None)


def _untold(one: HostChange, most: str | None) -> Failed:
    return Failed(NO_COST if one.unit == most else f"its database time is told by {one.unit}, that of most by {most}")
