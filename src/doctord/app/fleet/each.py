"""The same for each of many hosts: one that cannot be done is told, and costs no other."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Generic, Protocol, TypeVar

from doctord.app.asked import Interval
from doctord.app.fleet.engine import Engine, Failed
from doctord.app.fleet.hosts import Host
from doctord.app.source import AN_HOUR
from doctord.app.watcher import Watcher
from doctord.errors import UserError
from doctord.lake.query import Lake


class OfHost(Protocol):
    """What is asked of a host; it can be pickled."""

    @property
    def host(self) -> Host:
        """Of whom."""
        ...


@dataclass(frozen=True, slots=True)
class Task:
    """What is asked of one host: whose lake, and which time of it."""

    host: Host
    asked: Interval


Asked = TypeVar("Asked", bound=OfHost)
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Each(Generic[Found]):
    """What came of it.

    Attributes:
        found: Each host with what was found of it, by name.
        failed: Each other with why nothing was, by name.
    """

    found: list[tuple[Host, Found]]
    failed: list[tuple[Host, Failed]]


class Listener(Watcher):
    """Keeps what is said beside a task, for whoever sees it elsewhere."""

    def __init__(self) -> None:
        """Nothing was said yet."""
        self.notes = list[str]()

    def note(self, text: str) -> None:
        """Keep it."""
        self.notes.append(text)


def each_host(
    what: str, do: Callable[[Asked], Found], tasks: Sequence[Asked], engine: Engine, watcher: Watcher
) -> Each[Found]:
    """Do it for each; Ctrl-C ends it with what is known by then, and the rest counts as not done.

    Args:
        what: What is done, as progress says it: `Judging`.
        do: A function of a module.
        tasks: What is asked, of a host each.
        engine: What it runs on.
        watcher: Who is told how it goes on.
    """
    found, failed = list[tuple[Host, Found]](), list[tuple[Host, Failed]]()
    try:
        with watcher.progress(what, len(tasks), "hosts") as progress:
            for task, done in engine.each(do, tasks):
                if isinstance(done, Failed):
                    failed.append((task.host, done))
                else:
                    found.append((task.host, done))
                progress(len(found) + len(failed), task.host.name)
    except KeyboardInterrupt:
        watcher.note("interrupted: this is of the hosts that were done by then")
        known = {host.name for host, _ in (*found, *failed)}
        failed += [(task.host, Failed("interrupted before its turn")) for task in tasks if task.host.name not in known]
    return Each(sorted(found, key=_name), sorted(failed, key=_name))


def _name(one: tuple[Host, object]) -> str:
    return one[0].name


def placed(hosts: Sequence[Host], asked: Interval, watcher: Watcher) -> Interval:
    """The same time for all: the last hour where no moment is said; a time of day is that of the newest lake.

    Raises:
        UserError: it ends before it begins.
    """
    since, until = asked.placed(lambda: _newest(hosts) if asked.is_open else None, watcher)
    end = until or datetime.now(UTC)
    return replace(asked, since=since or end - AN_HOUR, until=end)


def _newest(hosts: Sequence[Host]) -> datetime | None:
    """When the lake that ends last does; one that cannot be read is told of when it is judged."""
    return max(_ends(hosts), default=None)


def _ends(hosts: Sequence[Host]) -> Iterator[datetime]:
    for host in hosts:
        with suppress(UserError), host.opened() as lake:
            if span := Lake(lake).span():
                yield span[1]
