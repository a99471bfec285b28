"""Lint many hosts by the settings that were recorded of them: which rules are broken, on how many."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from doctord.app.asked import Interval
from doctord.app.fleet.each import Listener, Task, each_host, placed
from doctord.app.fleet.engine import Engine, Failed
from doctord.app.fleet.hosts import Host
from doctord.app.lint import lint
from doctord.app.source import Recorded
from doctord.app.watcher import SILENT, Watcher
from doctord.lint.violation import Severity, Violation

ABOVE_A_NOTE: Final = Severity.WARNING


@dataclass(frozen=True, slots=True)
class HostLint:
    """What the settings of one host get wrong.

    Attributes:
        violations: The worst first, without their evidence.
        settings: How many settings were seen, by whose they are.
        notes: What of its lake could not be read, say.
    """

    violations: tuple[Violation, ...]
    settings: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def healthy(self) -> bool:
        """Whether nothing is worse than a note."""
        return all(one.severity < ABOVE_A_NOTE for one in self.violations)


@dataclass(frozen=True, slots=True)
class Broken:
    """A rule that is broken on some hosts.

    Attributes:
        rule: Its name.
        severity: The worst of theirs.
        first: The violation on the host that it is worst on.
        hosts: Their names.
    """

    rule: str
    severity: Severity
    first: Violation
    hosts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FleetLint:
    """What the settings of a fleet get wrong.

    Attributes:
        place: Where it is kept.
        hosts: Each host whose settings were recorded, by name.
        failed: Each other with why nothing can be told.
    """

    place: str
    hosts: tuple[tuple[Host, HostLint], ...]
    failed: tuple[tuple[Host, Failed], ...]

    @property
    def broken(self) -> list[Broken]:
        """The rules that are broken, the worst first, of these those of most hosts."""
        having = dict[str, list[tuple[str, Violation]]]()
        for host, each in self.hosts:
            for violation in each.violations:
                having.setdefault(violation.rule, []).append((host.name, violation))
        found = [_broken(rule, theirs) for rule, theirs in having.items()]
        return sorted(found, key=lambda one: (-one.severity, -len(one.hosts), one.rule))

    @property
    def healthy(self) -> bool | None:
        """Whether nothing is worse than a note on any; null where of some host that cannot be told."""
        if not all(each.healthy for _, each in self.hosts):
            return False
        return None if self.failed else True


def _broken(rule: str, theirs: Sequence[tuple[str, Violation]]) -> Broken:
    worst = max((one for _, one in theirs), key=lambda one: (one.severity, one.impact or 0.0))
    return Broken(rule, worst.severity, worst, tuple(dict.fromkeys(name for name, _ in theirs)))


def lint_fleet(
    place: str, hosts: Sequence[Host], asked: Interval, engine: Engine, watcher: Watcher = SILENT
) -> FleetLint:
    """Examine the settings that were recorded of each host, by its workload of that time.

    Args:
        place: What to call the fleet.
        hosts: At least one.
        asked: The time, as for a diagnosis.
        engine: What it runs on.
        watcher: Who is told how it goes on.

    Raises:
        UserError: the time ends before it begins.
    """
    when = placed(hosts, asked, watcher)
    each = each_host("Linting", examine, [Task(host, when) for host in hosts], engine, watcher)
    return FleetLint(place, tuple(each.found), tuple(each.failed))


def examine(task: Task) -> HostLint:
    """What the settings of one host get wrong.

    Raises:
        UserError: its lake cannot be read, or no setting was recorded.
    """
    listener = Listener()
    with task.host.opened() as lake:
        found = lint(Recorded(lake).joined(task.asked, listener), watcher=listener)
    return HostLint(
        violations=tuple(replace(one, evidence=(), not_measured=()) for one in found.violations),
        settings=found.looked_at,
        notes=tuple(listener.notes),
    )
