"""Logins that the server has not let in yet, as the kernel shows its backends: how many, how old, and in what."""

from dataclasses import dataclass
from typing import NamedTuple

from doctord.analyse.figures import Statistic, figures
from doctord.dataset.dataset import Dataset

UNDER_WAY, OLDEST, SLOW = "logins.under_way", "logins.oldest_s", "logins.slow"
SLOW_IN, ASKING, LOGGED_IN = "logins.slow_in", "logins.slow_asking", "pg_stat_database.sessions"
HELD, HELD_S, FROM = "logins.held", "logins.held_s", " from "
NO_REQUEST = "no request read"
# Where a backend of PostgreSQL sleeps that waits for its client: in epoll (src/backend/storage/ipc/latch.c), as nothing
# does that asks somebody else.
FOR_ITS_CLIENT = ("ep_poll", "do_epoll_wait", "epoll_wait")


@dataclass(frozen=True, slots=True)
class Held:
    """Logins of one client that were slow at a time: the most, the age of the oldest (s), and in what they were.

    `client` is an address, null where it was not seen.
    """

    phase: str
    client: str | None
    count: float
    oldest_s: float


class LoginsUnderWay(NamedTuple):
    """The logins at a server that took a second and more.

    `slow` is how many there were, of `logins` in all where that is known; `oldest_s` the age of the oldest. `phases`
    says in what they were when a second had passed, `places` where in the kernel, `asked` whom they asked: each by how
    many; what was not granted to see is empty. `mean_s` is how long they took by Little's law, an estimate: backends
    that were under way at a time over slow logins that came in a second.
    """

    db: str
    slow: float
    logins: float | None
    oldest_s: float
    mean_s: float
    phases: dict[str, float]
    places: dict[str, float]
    asked: dict[str, float]

    @property
    def phase(self) -> str:
        """In what most of them were."""
        return max(self.phases, key=lambda phase: self.phases[phase])

    @property
    def is_asleep(self) -> bool:
        """Whether most of them were seen asleep: who waits for a CPU is at no place in the kernel."""
        return sum(self.places.values()) >= self.slow / 2

    @property
    def for_clients(self) -> float | None:
        """The part of them that waited for their client (0 to 1); null where that is not granted to see."""
        told = sum(self.places.values())
        return sum(self.places.get(place, 0.0) for place in FOR_ITS_CLIENT) / told if told else None


def logins_under_way(dataset: Dataset) -> list[LoginsUnderWay]:
    """Of each server at which logins took a second and more, by name."""
    names = {figure.db for figure in figures(dataset, SLOW) if figure.db and figure.mean > 0}
    return [_of(dataset, db) for db in sorted(names)]


def held(dataset: Dataset, db: str | None) -> list[Held]:
    """Whose logins at a server took a second and more, those with most at a time first."""
    ages = {figure.entity: figure.largest for figure in figures(dataset, HELD_S) if figure.db == db}
    found = [
        Held(phase, client or None, figure.largest, ages.get(figure.entity, 0.0))
        for figure in figures(dataset, HELD)
        if figure.db == db
        for phase, _, client in [(figure.entity or "").partition(FROM)]
    ]
    return sorted(found, key=lambda one: (-one.count, one.client or ""))


def _of(dataset: Dataset, db: str) -> LoginsUnderWay:
    phases = _amounts(dataset, SLOW, db)
    slow = sum(phases.values())
    told = dataset.frame("statistic")
    seconds = float(told.filter((told["db"] == db) & (told["name"] == UNDER_WAY))["interval_s"].sum())
    logged_in = [figure.mean * figure.seconds for figure in _figures(dataset, LOGGED_IN, db)]
    at_once = sum(figure.mean for figure in _figures(dataset, UNDER_WAY, db))
    return LoginsUnderWay(
        db,
        slow,
        max(sum(logged_in), slow) if logged_in else None,
        max((figure.largest for figure in _figures(dataset, OLDEST, db)), default=0.0),
        at_once * seconds / slow,
        phases,
        _amounts(dataset, SLOW_IN, db),
        _amounts(dataset, ASKING, db),
    )


def _amounts(dataset: Dataset, name: str, db: str) -> dict[str, float]:
    return {figure.entity or "": figure.mean * figure.seconds for figure in _figures(dataset, name, db)}


def _figures(dataset: Dataset, name: str, db: str) -> list[Statistic]:
    return [figure for figure in figures(dataset, name) if figure.db == db]
