"""Where measurements come from: a lake, files of other tools, or this host now. All give the same."""

import atexit
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol

from doctord._native import Batch
from doctord.analyse.capacity.series import Series
from doctord.analyse.vitals import NEEDS
from doctord.app.asked import ALL, Interval
from doctord.app.capacity.history import span_in, span_of_hours
from doctord.app.sources.files import Files
from doctord.app.sources.groups import groups, is_host, told
from doctord.app.sources.prometheus import Prometheus
from doctord.app.sources.seen import Seen, of_host, rows_of, rows_of_hosts, several
from doctord.app.watcher import SILENT, Watcher
from doctord.collect.core.schedule import collect_for
from doctord.collect.host import Host
from doctord.dataset.dataset import Dataset
from doctord.dataset.figure import Figure
from doctord.errors import UserError
from doctord.lake.history import History
from doctord.lake.place import default_lake, is_lake
from doctord.lake.query import Lake
from doctord.lake.store.shipped import Shipped, hosts_in
from doctord.lake.store.store import address_of, is_store, store_at
from doctord.read.gather import FileRead
from doctord.read.source import ReadOptions

__all__ = ["Files", "Live", "Prometheus", "Recorded", "Seen", "Source", "source_of"]

AN_HOUR = timedelta(hours=1)


class Source(Protocol):
    """Where measurements come from: this host now, files, or a lake."""

    def seen(self, asked: Interval = ALL, watcher: Watcher = SILENT) -> Seen:
        """What it tells of an interval (of all of its time, where no moment is given), and of the time before.

        Raises:
            UserError: it cannot be read, tells nothing of that time, or tells of several hosts.
        """
        ...

    def each(self, asked: Interval = ALL, watcher: Watcher = SILENT) -> Sequence[Seen]:
        """The same in parts that are judged each for itself: of one server and one time.

        Raises:
            UserError: as `seen`.
        """
        ...


@dataclass(frozen=True, slots=True)
class Recorded:
    """A lake; the usual one where none is named. It is asked for the last hour where no moment is given.

    Attributes:
        lake: Where it is: a folder, or what a host shipped to a store.
        host: The one host that counts; null: all that there are.
    """

    lake: Path | Shipped | None = None
    host: str | None = None

    def seen(self, asked: Interval = ALL, watcher: Watcher = SILENT, where: Mapping[str, str] | None = None) -> Seen:
        """See `Source`; of the tables in `where` alone, and of their rows those that its conditions hold for."""
        seen, *others = self.each(asked, watcher, where)
        if others:
            raise several(one.host for one in (seen, *others))
        return seen

    def each(
        self, asked: Interval = ALL, watcher: Watcher = SILENT, where: Mapping[str, str] | None = None
    ) -> Sequence[Seen]:
        """See `Source`: a recorder fills a lake with one host; what files brought into it may be of others."""
        lake = Lake(self.lake or default_lake())
        start, end = asked.of_lake(lake, AN_HOUR, watcher)
        dataset = lake.dataset(start, end, where)
        for problem in lake.problems:
            watcher.note(problem)
        if dataset.until is None:
            raise UserError(f"nothing was recorded from {start:%F %T} to {end:%F %T} UTC", held(lake.span()))
        earlier = past(lake, start, asked.past_s)
        if len(dataset.hosts) <= 1 and not self.host:
            return [Seen(dataset, earlier)]
        parts = groups([FileRead(str(lake.path), tables={name: dataset.arrow(name) for name in dataset.tables})])
        if len(parts) == 1 and not self.host:
            return [Seen(dataset, earlier)]
        chosen = of_host(parts, self.host)
        for line in told(chosen):
            watcher.note(line)
        return [Seen(rows_of(part), rows_of_hosts(earlier, part.hosts), part.name) for part in chosen]

    def placed(self, asked: Interval, usual: timedelta, watcher: Watcher = SILENT) -> Interval:
        """An interval with its moments: so long before its end, and now, where they are not said.

        Raises:
            UserError: there is no lake, or it ends before it begins.
        """
        since, until = asked.of_lake(Lake(self.lake or default_lake()), usual, watcher)
        return replace(asked, since=since, until=until)

    def newest(self, length: timedelta) -> Interval:
        """The last of what was recorded, so long.

        Raises:
            UserError: there is no lake, or nothing in it.
        """
        lake = Lake(self.lake or default_lake())
        span = lake.span()
        if span is None:
            raise UserError(f"{lake.path}: nothing was recorded", held(None))
        return Interval(span[1] - length, span[1])

    def joined(self, asked: Interval = ALL, watcher: Watcher = SILENT) -> Dataset:
        """The rows of all hosts, for what tells them apart itself.

        Raises:
            UserError: as `each`.
        """
        return Dataset.joined(seen.dataset for seen in self.each(asked, watcher))

    def counts(self, host: str | None) -> bool:
        """Whether a host of the lake counts: each does where none was named."""
        return not self.host or is_host(host or "", self.host)

    def history(
        self, lake: Lake, figures: Sequence[Figure], between: tuple[datetime, datetime] | None = None
    ) -> History:
        """What is known of some figures of the host that counts, or of all."""
        return History(lake, figures, between, self.counts)

    def span(self, lake: Lake, hours: Sequence[Series]) -> tuple[datetime, datetime] | None:
        """From when to when it was filled: of all hosts to the second, of one as its hours tell."""
        return span_of_hours(hours) if self.host else span_in(lake, hours)

    def rows(self, dataset: Dataset) -> Dataset:
        """The rows of the host that counts; all rows where none was named."""
        if not self.host:
            return dataset
        return rows_of_hosts(dataset, {name for name in dataset.hosts if self.counts(name)})


@dataclass(frozen=True, slots=True)
class Live:
    """This host and its databases, now.

    Attributes:
        seconds: How long to look.
        dsns: Connection strings of the servers to look at; those of this host where none is given.
        databases: Whether to look at databases at all.
        lake: Where its past is; null looks at none. What is measured is not kept there by this.
        probe: Whether to connect to its servers as a client does, and time it.
    """

    seconds: float
    dsns: Sequence[str] = ()
    databases: bool = True
    lake: Path | None = None
    probe: bool = True

    def seen(self, asked: Interval = ALL, watcher: Watcher = SILENT) -> Seen:
        """See `Source`; there is no other moment than now."""
        if not asked.is_all:
            raise UserError("a live look has no past", "name a lake or files")
        earlier = Dataset()
        if self.lake and self.lake.is_dir():
            earlier = past(Lake(self.lake), datetime.now(UTC), asked.past_s)
        host = Host(databases=self.databases, dsns=self.dsns, probes=self.probe)
        collectors = host.collectors()
        batches = list[Batch]()
        try:
            with watcher.progress("Looking", self.seconds, "s") as progress:
                collect_for(collectors, self.seconds, progress, batches, host.newcomers)
        except KeyboardInterrupt:
            # What nobody looked at would be well: no verdict comes out of a single sample, which tells no rates, nor of
            # what a collector of other things was quicker to tell.
            if not Dataset.from_batches(batches).frame("cpu")["interval_s"].count():
                raise UserError(
                    "interrupted before there was anything to judge", "let it look for a second or more"
                ) from None
            watcher.note("interrupted: this is judged by what was seen so far")
        return Seen(Dataset.from_batches(batches), earlier, batches=batches)

    def each(self, asked: Interval = ALL, watcher: Watcher = SILENT) -> Sequence[Seen]:
        """See `Source`: it is one host, now."""
        return [self.seen(asked, watcher)]


def source_of(
    paths: Sequence[Path], lake: Path | None, options: ReadOptions, host: str | None = None
) -> Files | Recorded:
    """Files, or else a lake, which may stand in the place of a file; of one host, where it is named.

    Raises:
        UserError: both are named.
    """
    lakes = [path for path in paths if is_lake(path)]
    if paths and (lake or (lakes and len(paths) > 1)):
        raise UserError("either files or a lake", "doctord read PATH... --lake LAKE puts files into a lake")
    if lakes:
        return Recorded(lakes[0], host)
    return Files(paths, options, host) if paths else recorded(lake, host)


def recorded(lake: Path | None, host: str | None = None) -> Recorded:
    """A lake, or what a host shipped to a store, which may stand in its place: its address, or a folder.

    What is fetched of a store is removed when the program ends.

    Raises:
        UserError: several hosts ship there and none of them is named, or the one that is named does not.
    """
    address = lake and address_of(lake)
    if lake is None or not (address or is_store(lake)):
        return Recorded(lake, host)
    store = store_at(address or str(lake))
    hosts = hosts_in(store)
    chosen = [name for name in hosts if host is None or is_host(name, host)]
    if not chosen:
        there = f"there are {len(hosts)}: {', '.join(hosts[:5])}" if hosts else "doctord ship sends there"
        raise UserError(f"{store.address}: no {f'host {host}' if host else 'host'} is there", there)
    if len(chosen) > 1:
        raise several(chosen)
    folder = tempfile.mkdtemp(prefix="doctord-fetched-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Recorded(Shipped(store, chosen[0], Path(folder)))


def held(span: tuple[datetime, datetime] | None) -> str:
    """What a lake holds, and how to ask for its last hour: it may end long ago, or be copied from elsewhere."""
    if span is None:
        return "record first: doctord record"
    end = span[1] + timedelta(seconds=1)
    return (
        f"the lake holds {span[0]:%F %T} to {span[1]:%F %T} UTC; the last hour of it: "
        f"--from {end - AN_HOUR:%FT%TZ} --to {end:%FT%TZ}"
    )


def past(lake: Lake, before: datetime, seconds: float) -> Dataset:
    """What vital signs need of that length of time before a moment; empty where nothing was recorded."""
    return lake.dataset(before - timedelta(seconds=seconds), before, NEEDS)
