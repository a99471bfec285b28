"""A Prometheus server as a source of measurements: what exporters told it of hosts and databases."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from doctord.analyse.vitals import NEEDS
from doctord.app import read
from doctord.app.asked import ALL, Interval
from doctord.app.sources.groups import is_host
from doctord.app.sources.seen import Seen, several
from doctord.app.watcher import SILENT, Watcher
from doctord.dataset.dataset import Dataset
from doctord.errors import UserError
from doctord.read.gather import FileRead
from doctord.read.prometheus.client import Client
from doctord.read.prometheus.hosts import NO_DATA, Scraped, hosts
from doctord.read.prometheus.prometheus_json import NAME
from doctord.read.prometheus.server import read_host

AN_HOUR: Final = timedelta(hours=1)
MOST_HOSTS: Final = 8  # that are asked for where none is named
PAST_SAMPLES: Final = 288  # of what was usual before: one in five minutes of a day


@dataclass(frozen=True, slots=True)
class Prometheus:
    """A Prometheus server. It is asked for the last hour where no moment is given.

    Attributes:
        address: `https://host:9090`.
        host: The one host that counts, by its name or as its exporters are addressed; null: all that there are.
    """

    address: str
    host: str | None = None

    def seen(self, asked: Interval = ALL, watcher: Watcher = SILENT) -> Seen:
        """See `Source`."""
        seen, *others = self.each(asked, watcher)
        if others:
            raise several(one.host for one in (seen, *others))
        return seen

    def each(self, asked: Interval = ALL, watcher: Watcher = SILENT) -> Sequence[Seen]:
        """See `Source`: each host is judged for itself."""
        client, (since, until) = Client(self.address), _placed(asked, watcher)
        told = list(self._files(client, since, until, watcher))
        used = read.usable([file for _, file in told], watcher)
        return [
            Seen(Dataset(file.tables), _past(client, host, since, asked.past_s), host.name)
            for (host, _), file in zip(told, used, strict=True)
            if file.tables
        ]

    def files(self, asked: Interval = ALL, watcher: Watcher = SILENT) -> Iterator[FileRead]:
        """What it tells of each host, as if each were a file.

        Raises:
            UserError: it does not answer, or tells nothing of that time, or of the host.
        """
        yield from (file for _, file in self._files(Client(self.address), *_placed(asked, watcher), watcher))

    def _files(
        self, client: Client, since: datetime, until: datetime, watcher: Watcher
    ) -> Iterator[tuple[Scraped, FileRead]]:
        chosen = _chosen(hosts(client, since, until), self.host)
        with watcher.progress("Asking Prometheus", len(chosen), "files") as progress:
            for count, host in enumerate(chosen, 1):
                yield host, _file(client, host, since, until)
                progress(count, host.name)


def _placed(asked: Interval, watcher: Watcher) -> tuple[datetime, datetime]:
    now = datetime.now(UTC)
    since, until = asked.placed(lambda: now, watcher)
    end = min(until or now, now)
    start = since or end - AN_HOUR
    if start >= end:
        raise UserError(
            f"{start:%F %T} UTC is not before {end:%F %T}", "give --from a moment before --to, and before now"
        )
    return start, end


def _chosen(hosts: Sequence[Scraped], asked: str | None) -> Sequence[Scraped]:
    """The host that is asked for, or all of few.

    Raises:
        UserError: there is no such host, or there are too many.
    """
    chosen = [host for host in hosts if asked is None or _is_named(host, asked)]
    names = ", ".join(host.name for host in hosts[: 3 * MOST_HOSTS]) + (", ..." if len(hosts) > 3 * MOST_HOSTS else "")
    if not chosen:
        raise UserError(f"no host {asked!r} is told of", f"there are: {names}")
    if len(chosen) > MOST_HOSTS:
        raise UserError(f"{len(chosen)} hosts are told of: {names}", "choose one with --host")
    return chosen


def _is_named(host: Scraped, asked: str) -> bool:
    addresses = {instance.rpartition(":")[0] or instance for instance in host.instances}
    return is_host(host.name, asked) or asked in addresses | host.instances


def _file(client: Client, host: Scraped, since: datetime, until: datetime) -> FileRead:
    """What it tells of a host, as if it were a file."""
    source, read_tables = read_host(client, host, since, until)
    dataset = Dataset(read_tables).between(since, until)
    tables = {name: dataset.arrow(name) for name in dataset.tables if not dataset.frame(name).is_empty()}
    if dataset.until is None:
        told = f"{client.address} tells nothing of {host.name} from {since:%F %T} to {until:%F %T} UTC"
        return FileRead(client.address, refusal=(told, NO_DATA))
    skipped = tuple(source.skipped)
    return FileRead(client.address, NAME, tables, skipped, source.skipped_lines, tuple(source.notes))


def _past(client: Client, host: Scraped, since: datetime, past_s: float) -> Dataset:
    """What vital signs need of the time before; empty where nothing is known of it."""
    if past_s <= 0:
        return Dataset()
    before = since - timedelta(seconds=past_s)
    _, tables = read_host(client, host, before, since, step_s=past_s / PAST_SAMPLES)
    return Dataset({name: table for name, table in tables.items() if name in NEEDS}).between(before, since)
