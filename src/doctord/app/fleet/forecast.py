"""Forecast many hosts: what is violated, and what will be next, on which of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from doctord.analyse.capacity.outlook import Item, reach_s
from doctord.analyse.capacity.series import Labels
from doctord.analyse.capacity.thresholds.threshold import Rules
from doctord.app.capacity.forecast import check_installed, forecast_by
from doctord.app.fleet.each import Listener, each_host
from doctord.app.fleet.engine import Engine, Failed
from doctord.app.fleet.hosts import Host
from doctord.app.source import Recorded
from doctord.app.watcher import SILENT, Watcher
from doctord.errors import UserError

DATED = ("violated", "date")


@dataclass(frozen=True, slots=True)
class Asked:
    """Which thresholds, and how far to look."""

    rules: Rules
    horizon_s: float


@dataclass(frozen=True, slots=True)
class Task:
    """What is asked of one host."""

    host: Host
    asked: Asked


@dataclass(frozen=True, slots=True)
class Ahead:
    """A threshold of a host that is violated, or will be.

    Attributes:
        threshold: Its name.
        title, unit: Of the figure.
        labels: Of what: database, file system, disk.
        limit, newest: In that unit.
        verdict: `violated`, or `date`.
        date, earliest, latest: When it is passed; null where that is now, or not told.
    """

    threshold: str
    title: str
    unit: str
    labels: Labels
    limit: float
    newest: float
    verdict: str
    date: datetime | None
    earliest: datetime | None
    latest: datetime | None


@dataclass(frozen=True, slots=True)
class HostForecast:
    """What is to come of one host.

    Attributes:
        history_s: How long a time was measured.
        reach_s: How far ahead that tells.
        ahead: What is violated, then what will be by its date.
        quiet: How many series stay within their limits as far as can be told.
        untold: Of how many nothing can be told, most often for want of history.
        notes: What of its lake could not be read, say.
    """

    history_s: float
    reach_s: float
    ahead: tuple[Ahead, ...]
    quiet: int
    untold: int
    notes: tuple[str, ...]

    @property
    def healthy(self) -> bool | None:
        """As of a forecast; null where of no series anything can be told."""
        if self.ahead:
            return False
        return True if self.quiet else None


@dataclass(frozen=True, slots=True)
class FleetForecast:
    """What is to come of a fleet.

    Attributes:
        place: Where it is kept.
        horizon_s: How far was to be looked.
        hosts: Each host of which something was measured, by name.
        failed: Each other with why nothing can be told.
    """

    place: str
    horizon_s: float
    hosts: tuple[tuple[Host, HostForecast], ...]
    failed: tuple[tuple[Host, Failed], ...]

    @property
    def ahead(self) -> list[tuple[Host, Ahead]]:
        """What is violated, then what will be, the nearest first."""
        found = [(host, one) for host, each in self.hosts for one in each.ahead]
        return sorted(found, key=lambda one: (DATED.index(one[1].verdict), _when(one[1]), one[0].name))

    @property
    def untold(self) -> list[str]:
        """The hosts of which nothing can be told."""
        names = [host.name for host, _ in self.failed]
        return sorted(names + [host.name for host, each in self.hosts if each.healthy is None])

    @property
    def short(self) -> list[str]:
        """The hosts of which something can be told, but not as far as was to be looked."""
        return [host.name for host, one in self.hosts if one.healthy is not None and one.reach_s < self.horizon_s]

    @property
    def healthy(self) -> bool | None:
        """Whether nothing is or will be violated; null where of some host that cannot be told, and of none it is."""
        if any(each.ahead for _, each in self.hosts):
            return False
        return None if self.untold else True


def forecast_fleet(
    place: str, hosts: Sequence[Host], asked: Asked, engine: Engine, watcher: Watcher = SILENT
) -> FleetForecast:
    """Hold the thresholds against where each host goes.

    Args:
        place: What to call the fleet.
        hosts: At least one.
        asked: Which thresholds, and how far to look.
        engine: What it runs on.
        watcher: Who is told how it goes on.

    Raises:
        UserError: the libraries that forecast are not installed.
    """
    check_installed()
    each = each_host("Forecasting", foretell, [Task(host, asked) for host in hosts], engine, watcher)
    return FleetForecast(place, asked.horizon_s, tuple(each.found), tuple(each.failed))


def foretell(task: Task) -> HostForecast:
    """What is to come of one host.

    Raises:
        UserError: its lake cannot be read, or tells of several hosts.
    """
    listener = Listener()
    with task.host.opened() as lake:
        ((_, found),) = forecast_by(Recorded(lake), task.asked.rules, task.asked.horizon_s, (), listener).each
    if len(names := sorted({item.series.labels.host for item in found.items if item.series.labels.host})) > 1:
        raise UserError(f"its lake tells of {len(names)} hosts: {', '.join(names[:3])}", "give each a lake of its own")
    verdicts = [item.when.verdict for item in found.items]
    return HostForecast(
        history_s=found.history_s,
        reach_s=reach_s(found.history_s, task.asked.horizon_s),
        ahead=tuple(_ahead(item) for item in found.items if item.when.verdict in DATED),
        quiet=verdicts.count("not within the horizon"),
        untold=verdicts.count("cannot be told"),
        notes=tuple(listener.notes),
    )


def _ahead(item: Item) -> Ahead:
    figure, when = item.series.figure, item.when
    return Ahead(
        threshold=item.threshold.name,
        title=figure.title,
        unit=figure.unit,
        labels=item.series.labels,
        limit=item.threshold.limit,
        newest=item.newest,
        verdict=when.verdict,
        date=when.date,
        earliest=when.earliest,
        latest=when.latest,
    )


def _when(one: Ahead) -> float:
    return one.date.timestamp() if one.date else 0.0
