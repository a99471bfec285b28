"""Files of other tools as a source of measurements."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

from doctord.app import read
from doctord.app.asked import ALL, Interval
from doctord.app.sources.groups import Group, groups, of_hosts, told
from doctord.app.sources.seen import Seen, of_host, rows_of, several
from doctord.app.watcher import SILENT, Watcher
from doctord.dataset.calltrace import Trace
from doctord.dataset.dataset import Dataset
from doctord.errors import UserError
from doctord.read.gather import FileRead
from doctord.read.source import ReadOptions
from doctord.read.tracing import calltrace


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
            raise several(part.name for part in parts)
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
        return files, of_host(groups(files), self.host)

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
                seen = self._of(rows_of(group), asked, trace)
            except UserError as error:
                refusals.append((group, error))
                continue
            period = (group.since, group.until) if group.since and group.until and seen.dataset.since else None
            is_dated = not any(one.file.lacks == "time" for one in group.files)
            found.append(replace(seen, period=period if asked.is_all else None, host=group.name, is_dated=is_dated))
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


def _calls_and_bytes(file: FileRead) -> tuple[int, int]:
    return (file.trace["trace"]["calls"], file.trace["trace"]["bytes"]) if file.trace else (0, 0)
