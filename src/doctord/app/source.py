"""Where measurements come from: a lake, files of other tools, or this host now. All give the same."""

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol

import polars as pl

from doctord._native import Batch
from doctord.analyse.capacity.series import Series
from doctord.analyse.vitals import NEEDS
from doctord.app import read
from doctord.app.asked import ALL, Interval
from doctord.app.groups import Group, groups, is_host, of_hosts, told
from doctord.app.history import span_in, span_of_hours
from doctord.app.watcher import SILENT, Watcher
from doctord.collect.core.schedule import collect_for
from doctord.collect.host import Host
from doctord.dataset.calltrace import Trace
from doctord.dataset.dataset import Dataset
from doctord.dataset.figure import Figure
from doctord.errors import UserError
from doctord.lake.history import History
from doctord.lake.place import default_lake, is_lake
from doctord.lake.query import Lake
from doctord.read.gather import FileRead
from doctord.read.source import ReadOptions
from doctord.read.tracing import calltrace

AN_HOUR = timedelta(hours=1)


@dataclass(frozen=True)
class Seen:
    """What a source tells of a time.

    Attributes:
        dataset: What was measured in it.
        host: The host, or the nodes of a cluster; empty where none is named.
        earlier: What vital signs need of the time before; empty where nothing is known of it.
        trace: The call trace, where one is among it.
        period: From when to when it is, where some of its rows tell no time of their own; null: as its rows tell.
        batches: The rows as they came, of what was measured just now.
    """

    dataset: Dataset
    earlier: Dataset = field(default_factory=Dataset)
    host: str = ""
    trace: Trace | None = None
    period: tuple[datetime, datetime] | None = None
    batches: Sequence[Batch] = ()


class Source(Protocol):
    """Where measurements come from."""

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
        lake: Where it is.
        host: The one host that counts; null: all that there are.
    """

    lake: Path | None = None
    host: str | None = None

    def seen(self, asked: Interval = ALL, watcher: Watcher = SILENT) -> Seen:
        """See `Source`."""
        seen, *others = self.each(asked, watcher)
        if others:
            raise _several(one.host for one in (seen, *others))
        return seen

    def each(self, asked: Interval = ALL, watcher: Watcher = SILENT) -> Sequence[Seen]:
        """See `Source`: a recorder fills a lake with one host; what files brought into it may be of others."""
        lake = Lake(self.lake or default_lake())
        start, end = asked.of_lake(lake, AN_HOUR, watcher)
        dataset = lake.dataset(start, end)
        for problem in lake.problems:
            watcher.note(problem)
        if dataset.until is None:
            span = lake.span()
            held = f"the lake holds {span[0]:%F %T} to {span[1]:%F %T} UTC" if span else "record first: doctord record"
            raise UserError(f"nothing was recorded from {start:%F %T} to {end:%F %T} UTC", held)
        earlier = past(lake, start, asked.past_s)
        parts = groups([FileRead(str(lake.path), tables=dict(dataset.tables))])
        if len(parts) == 1 and not self.host:
            return [Seen(dataset, earlier)]
        chosen = _of_host(parts, self.host)
        for line in told(chosen):
            watcher.note(line)
        return [Seen(_rows_of(part), _of_hosts(earlier, part.hosts), part.name) for part in chosen]

    def joined(self, asked: Interval = ALL, watcher: Watcher = SILENT) -> Dataset:
        """The rows of all hosts, for what tells them apart itself.

        Raises:
            UserError: as `each`.
        """
        return Dataset.joined(seen.dataset for seen in self.each(asked, watcher))

    def counts(self, host: str | None) -> bool:
        """Whether a host counts."""
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
        """Those of the host that counts."""
        if not self.host:
            return dataset
        names = {name for table in dataset.tables for name in dataset.frame(table)["host"].drop_nulls().unique()}
        return _of_hosts(dataset, {name for name in names if self.counts(name)})


@dataclass(frozen=True, slots=True)
class Files:
    """Files of other tools, folders and archives of them, and what the user says of them.

    Attributes:
        paths: Where they are.
        options: What the user says of files that do not say it themselves.
        host: The one host that counts; null: all that there are.
    """

    paths: Sequence[Path]
    options: ReadOptions = field(default_factory=ReadOptions)
    host: str | None = None

    def seen(self, asked: Interval = ALL, watcher: Watcher = SILENT) -> Seen:
        """See `Source`: of one host, at whatever times."""
        files, parts = self._read(watcher)
        parts = of_hosts(parts)
        if len(parts) > 1:
            raise _several(part.name for part in parts)
        return self._of_each(files, parts, asked, watcher)[0]

    def hosts(self, asked: Interval = ALL, watcher: Watcher = SILENT) -> Sequence[Seen]:
        """What they tell of each host, at whatever times: how it went over days is asked of all of them together.

        Raises:
            UserError: as `seen`, but for several hosts.
        """
        files, parts = self._read(watcher)
        return self._of_each(files, of_hosts(parts), asked, watcher)

    def each(self, asked: Interval = ALL, watcher: Watcher = SILENT) -> Sequence[Seen]:
        """See `Source`: files of other servers, or of times far from each other, are parts of their own."""
        return self._of_each(*self._read(watcher), asked, watcher)

    def joined(self, asked: Interval = ALL, watcher: Watcher = SILENT) -> Dataset:
        """The rows of all hosts, for what tells them apart itself.

        Raises:
            UserError: as `each`.
        """
        _, parts = self._read(watcher)
        files = {id(held): held.file for part in parts for held in part.files}  # settings may be of several parts
        return self._of(Dataset(read.tables_of(files.values())), asked, None).dataset

    def _read(self, watcher: Watcher) -> tuple[list[FileRead], list[Group]]:
        files = read.usable(read.each_read(self.paths, self.options, watcher), watcher, is_verbose=self._is_verbose)
        return files, _of_host(groups(files), self.host)

    def _of_each(
        self, files: Sequence[FileRead], parts: Sequence[Group], asked: Interval, watcher: Watcher
    ) -> list[Seen]:
        found, refusals = list[Seen](), list[tuple[Group, UserError]]()
        since, until = asked.placed(lambda: max((part.until for part in parts if part.until), default=None), watcher)
        asked = replace(asked, since=since, until=until)
        for line in told(parts):
            watcher.note(line)
        for group in parts:
            held = [one.file for one in group.files]
            trace = self._trace(held if len(parts) > 1 else files, watcher)
            try:
                seen = self._of(_rows_of(group), asked, trace)
            except UserError as error:
                refusals.append((group, error))
                continue
            period = (group.since, group.until) if group.since and group.until and seen.dataset.since else None
            found.append(replace(seen, period=period if asked.is_all else None, host=group.name))
        if refusals and not found:
            raise refusals[-1][1]
        for group, _ in refusals:
            watcher.note(f"{group.whose}: left out, for nothing of it is of the time that is asked for")
        return found

    @property
    def _is_verbose(self) -> bool:
        return self.options.is_verbose

    def _of(self, whole: Dataset, asked: Interval, trace: Trace | None) -> Seen:
        """What rows tell of an interval.

        Raises:
            UserError: they tell nothing of that time.
        """
        if whole.since is None or whole.until is None or asked.is_all:
            return Seen(whole, trace=trace)
        since, until = asked.placed(lambda: whole.until)
        begin = since or whole.since - timedelta(microseconds=1)
        end = until or whole.until
        dataset = whole.between(begin, end)
        if dataset.until is None:
            told = f"they tell of {whole.since:%F %T} to {whole.until:%F %T} UTC"
            held = f"{told}; yesterday, -2h and the like count from now"
            asked_for = f"of {begin:%F %T} to {end:%F %T} UTC" if begin < end else f"of {begin:%F %T} UTC or later"
            raise UserError(f"nothing in these files is {asked_for}", held)
        return Seen(dataset, whole.between(begin - timedelta(seconds=asked.past_s), begin), trace=trace)

    def _trace(self, files: Sequence[FileRead], watcher: Watcher) -> Trace | None:
        """The call trace among these files; of several the one with most calls in it, unless they are parts of one."""
        traced = [file for file in files if file.trace]
        if len(traced) > 1 and len(traced) == len(self.paths) and calltrace.parts_of_one(self.paths):
            return calltrace.read(self.paths)
        most = max(traced, key=_calls_and_bytes, default=None)
        if most and len(traced) > 1:
            told = (
                f"{len(traced)} call traces are here: {most.name}, with most calls, is diagnosed, the others summed up"
            )
            watcher.note(f"{told}\nhint: doctord trace FILE diagnoses another, and compares two")
        return most.trace if most else None


def _of_host(parts: Sequence[Group], host: str | None) -> list[Group]:
    """The parts of one host; of all, where none is asked for.

    Raises:
        UserError: there is no such host.
    """
    chosen = [part for part in parts if host is None or part.is_of(host)]
    if not chosen:
        names = sorted({name for part in parts for name in part.hosts})
        raise UserError(f"no host {host!r} is told of", f"there are: {', '.join(names)}" if names else "none is named")
    return chosen


def _several(names: Iterable[str]) -> UserError:
    there = [name or "one that is not named" for name in names]
    return UserError(f"{len(there)} hosts are told of: {', '.join(there)}", "choose one with --host")


def _rows_of(group: Group) -> Dataset:
    return Dataset(read.tables_of([held.file for held in group.files]))


def _of_hosts(dataset: Dataset, hosts: AbstractSet[str]) -> Dataset:
    """The rows of some hosts."""
    is_theirs = pl.col("host").is_in(sorted(hosts))
    return Dataset({name: dataset.frame(name).filter(is_theirs).to_arrow() for name in dataset.tables})


def _calls_and_bytes(file: FileRead) -> tuple[int, int]:
    return (file.trace["trace"]["calls"], file.trace["trace"]["bytes"]) if file.trace else (0, 0)


@dataclass(frozen=True, slots=True)
class Live:
    """This host and its databases, now.

    Attributes:
        seconds: How long to look.
        dsns: Connection strings of the servers to look at; those of this host where none is given.
        databases: Whether to look at databases at all.
        lake: Where its past is; null looks at none. What is measured is not kept there by this.
    """

    seconds: float
    dsns: Sequence[str] = ()
    databases: bool = True
    lake: Path | None = None

    def seen(self, asked: Interval = ALL, watcher: Watcher = SILENT) -> Seen:
        """See `Source`; there is no other moment than now."""
        if not asked.is_all:
            raise UserError("a live look has no past", "name a lake or files")
        earlier = Dataset()
        if self.lake and self.lake.is_dir():
            earlier = past(Lake(self.lake), datetime.now(UTC), asked.past_s)
        collectors = Host(databases=self.databases, dsns=self.dsns).collectors()
        batches = list[Batch]()
        with watcher.progress("Looking", self.seconds, "s") as progress:
            try:
                collect_for(collectors, self.seconds, progress, batches)
            except KeyboardInterrupt:
                if not batches:
                    raise
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
    return Files(paths, options, host) if paths else Recorded(lake, host)


def past(lake: Lake, before: datetime, seconds: float) -> Dataset:
    """What vital signs need of that length of time before a moment; empty where nothing was recorded."""
    return lake.dataset(before - timedelta(seconds=seconds), before, NEEDS)
