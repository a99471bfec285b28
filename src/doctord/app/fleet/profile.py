"""The profile of many hosts: each figure today and 7, 30 and 90 days ago, and who is beyond a limit."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median
from typing import Final

from doctord.analyse.capacity.profile import DAYS_AGO, Line, Verdict
from doctord.analyse.capacity.series import Labels
from doctord.app.capacity import profile as profiling
from doctord.app.capacity.profile import Asked
from doctord.app.fleet.each import Listener, each_host
from doctord.app.fleet.engine import Engine, Failed
from doctord.app.fleet.hosts import Host
from doctord.app.source import Recorded
from doctord.app.watcher import SILENT, Watcher
from doctord.errors import UserError

A_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Task:
    """What is asked of one host."""

    host: Host
    asked: Asked


@dataclass(frozen=True, slots=True)
class Held:
    """A figure of a host against its limit.

    Attributes:
        figure, title, unit: Which one.
        labels: Of what: database, file system, disk.
        values: By days ago (90, 30, 7, 0), in that unit; null where it was not measured.
        threshold: Name of what it is held against; null: nothing.
        limit: Its limit; null: none.
        worse: On which side of it it is violated: `above`, `below`; null: none.
        verdict: Of today's value.
    """

    figure: str
    title: str
    unit: str
    labels: Labels
    values: Mapping[int, float | None]
    threshold: str | None
    limit: float | None
    worse: str | None
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class HostProfile:
    """The profile of one host.

    Attributes:
        at: End of its today.
        lines: Its figures.
        contradictions: How many waits contradict themselves.
        notes: What of its lake could not be read, say.
    """

    at: datetime
    lines: tuple[Held, ...]
    contradictions: int
    notes: tuple[str, ...]

    @property
    def violated(self) -> list[Held]:
        """What is beyond its limit today."""
        return [one for one in self.lines if one.verdict == "violated"]

    @property
    def healthy(self) -> bool:
        """As of a profile: nothing is violated, and nothing contradicts itself."""
        return not (self.violated or self.contradictions)


@dataclass(frozen=True, slots=True)
class OverHosts:
    """A figure over all hosts.

    Attributes:
        figure, title, unit: Which one.
        values: By days ago the median over hosts, each with the mean of what it has of it (disks, databases).
        lowest, highest: The hosts at both ends today, with their values.
        hosts: How many have it today.
        violated: The hosts on which it is beyond its limit.
    """

    figure: str
    title: str
    unit: str
    values: Mapping[int, float | None]
    lowest: tuple[str, float]
    highest: tuple[str, float]
    hosts: int
    violated: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FleetProfile:
    """The profile of a fleet.

    Attributes:
        place: Where it is kept.
        hosts: Each host of which something was measured, by name.
        failed: Each other with why there is nothing to show.
    """

    place: str
    hosts: tuple[tuple[Host, HostProfile], ...]
    failed: tuple[tuple[Host, Failed], ...]

    @property
    def violated(self) -> list[tuple[Host, Held]]:
        """What is beyond its limit, what most hosts have in common first."""
        found = [(host, one) for host, each in self.hosts for one in each.violated]
        on = {
            name: {host.name for host, one in found if one.figure == name} for name in {one.figure for _, one in found}
        }
        return sorted(found, key=lambda one: (-len(on[one[1].figure]), one[1].figure, one[0].name))

    @property
    def behind(self) -> list[tuple[Host, datetime]]:
        """The hosts whose last row is a day and more older than the newest of all, and when that was."""
        newest = max((each.at for _, each in self.hosts), default=None)
        return [(host, each.at) for host, each in self.hosts if newest and newest - each.at >= A_DAY]

    @property
    def figures(self) -> list[OverHosts]:
        """The figures that two hosts have today, those that are violated on most of them first."""
        names = dict.fromkeys(one.figure for _, each in self.hosts for one in each.lines)
        found = [over for name in names if (over := self._over(name))]
        return sorted(found, key=lambda one: -len(one.violated))

    @property
    def healthy(self) -> bool | None:
        """Whether nothing is violated; null where of some host nothing can be told, and of none something is."""
        if any(not each.healthy for _, each in self.hosts):
            return False
        return None if self.failed else True

    def _over(self, figure: str) -> OverHosts | None:
        own = {host.name: [one for one in each.lines if one.figure == figure] for host, each in self.hosts}
        by_days = {days: {host: _mean(lines, days) for host, lines in own.items()} for days in DAYS_AGO}
        today = sorted((value, host) for host, value in by_days[0].items() if value is not None)
        if len(today) < 2:  # of one host its own profile tells
            return None
        one = next(one for lines in own.values() for one in lines)
        return OverHosts(
            figure=figure,
            title=one.title,
            unit=one.unit,
            values={days: _median(by_host.values()) for days, by_host in by_days.items()},
            lowest=(today[0][1], today[0][0]),
            highest=(today[-1][1], today[-1][0]),
            hosts=len(today),
            violated=tuple(host for host, lines in own.items() if any(line.verdict == "violated" for line in lines)),
        )


def profile_fleet(
    place: str, hosts: Sequence[Host], asked: Asked, engine: Engine, watcher: Watcher = SILENT
) -> FleetProfile:
    """The profile of each host.

    Args:
        place: What to call the fleet.
        hosts: At least one.
        asked: The moment, figures, thresholds and the view; without a moment each host's own last row.
        engine: What it runs on.
        watcher: Who is told how it goes on.

    Raises:
        UserError: the files of figures or thresholds cannot be used.
    """
    _ = asked.all_figures, asked.all_thresholds
    each = each_host("Profiling", of_host, [Task(host, asked) for host in hosts], engine, watcher)
    return FleetProfile(place, tuple(each.found), tuple(each.failed))


def of_host(task: Task) -> HostProfile:
    """The profile of one host.

    Raises:
        UserError: its lake cannot be read, none of the figures is in it, or it tells of several hosts.
    """
    listener = Listener()
    with task.host.opened() as lake:
        ((_, found),) = profiling.profile(Recorded(lake), task.asked, listener).each
    if len(names := sorted({server.host for server in found.servers if server.host})) > 1:
        raise UserError(f"its lake tells of {len(names)} hosts: {', '.join(names[:3])}", "give each a lake of its own")
    lines = tuple(_held(line) for server in found.servers for line in server.lines)
    return HostProfile(found.at, lines, len(found.contradictions), tuple(listener.notes))


def _held(line: Line) -> Held:
    return Held(
        figure=line.figure.name,
        title=line.figure.title,
        unit=line.figure.unit,
        labels=line.labels,
        values=line.values,
        threshold=line.threshold.name if line.threshold else None,
        limit=line.limit,
        worse=line.threshold.worse if line.threshold else None,
        verdict=line.verdict,
    )


def _mean(lines: Sequence[Held], days: int) -> float | None:
    values = [value for one in lines if (value := one.values[days]) is not None]
    return sum(values) / len(values) if values else None


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None
