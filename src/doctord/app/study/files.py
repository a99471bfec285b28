"""The states that files tell of: two places, or one folder whose files hold before and after themselves."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path, PurePath
from typing import Final, Literal

from doctord.analyse.study.runs import Run, runs
from doctord.analyse.study.verdict import Period
from doctord.app import read
from doctord.app.asked import Interval
from doctord.app.source import Files, Recorded
from doctord.app.sources.seen import Seen
from doctord.app.watcher import SILENT, Watcher
from doctord.dataset.dataset import Dataset
from doctord.errors import UserError
from doctord.lake.place import is_lake
from doctord.lake.query import Lake
from doctord.read.gather import FileRead
from doctord.read.source import ReadOptions
from doctord.regex import regex

A_MOMENT: Final = timedelta(seconds=1)  # so that what begins a lake is in it
State = Literal["before", "after"]
HINT: Final = (
    "name two files or folders, before and after; or one with tables of two states (columns before and after), tables "
    "of runs, or files whose names say before and after"
)
MOST_NAMED: Final = 5
_STATE: Final = regex(r"(?:^|[^a-z])(before|baseline|after)(?:[^a-z]|$)")


@dataclass(frozen=True, eq=False)
class Table:
    """A table of runs, by the name of its file."""

    name: str
    runs: Sequence[Run]


@dataclass(frozen=True, eq=False)
class Told:
    """What files or a lake tell of states: two periods, or null; tables of runs; and a server that was not changed."""

    periods: tuple[Period, Period] | None
    tables: Sequence[Table] = ()
    twin: tuple[Period, Period] | None = None


def of_two(paths: Sequence[Path], options: ReadOptions, host: str | None = None, watcher: Watcher = SILENT) -> Told:
    """Two places, the one before first.

    Raises:
        UserError: one of them cannot be read or tells nothing; they are the same, of two hosts, or their times overlap.
    """
    before, after = paths
    if before.resolve() == after.resolve():
        raise UserError(f"{before} is named twice", "name what was measured before, and what was measured after")
    old, new = (_seen(path, options, host, watcher) for path in (before, after))
    check_hosts(old.dataset, new.dataset)
    _check_times(old, new)
    names = ("before", "after") if before.name == after.name else (before.name, after.name)
    return Told((Period(names[0], old.dataset, old.trace), Period(names[1], new.dataset, new.trace)))


def _seen(path: Path, options: ReadOptions, host: str | None, watcher: Watcher) -> Seen:
    """What a file, a folder or a whole lake tells of one host."""
    if not is_lake(path):
        return Files([path], options, host).seen(watcher=watcher)
    span = Lake(path).span()
    if span is None:
        raise UserError(f"{path} holds nothing", "record first: doctord record")
    seen = Recorded(path, host).seen(Interval(span[0] - A_MOMENT, span[1]), watcher)
    return replace(seen, period=span)


def of_one(path: Path, options: ReadOptions, watcher: Watcher = SILENT) -> Told:
    """A file or folder that holds the states itself.

    Files and folders whose names say before or after are of that state; tables with columns of both are of both; a
    table whose lines are runs is one of its own. What is of no state is named, and says nothing here.

    Raises:
        UserError: it cannot be read, or holds no two states.
    """
    first = read.usable(read.each_read([path], replace(options, state="before"), watcher), watcher)
    named = {file.name: state_of(path, file.name) for file in first}
    both = {file.name for file in first if file.has_states}
    second = list(read.each_read([path], replace(options, state="after"), watcher)) if both else []
    held: dict[State, list[FileRead]] = {
        "before": [file for file in first if file.name in both or named[file.name] == "before"],
        "after": [
            *(file for file in second if file.name in both),
            *(file for file in first if file.name not in both and named[file.name] == "after"),
        ],
    }
    rest = [file for file in first if file.name not in both and not named[file.name]]
    tables = [Table(PurePath(file.name).name, found) for file in rest if (found := runs(Dataset(file.tables)))]
    _name_others(
        [file.name for file in rest if PurePath(file.name).name not in {table.name for table in tables}], watcher
    )
    periods = (_period("before", held["before"]), _period("after", held["after"])) if all(held.values()) else None
    if periods is None and not tables:
        raise UserError(f"{path} holds no two states", HINT)
    return Told(periods, tables)


def state_of(folder: Path, name: str) -> State | None:
    """The state that the name of a file in a folder, or of a folder on the way to it, says.

    >>> state_of(Path("redo"), "redo/stats_before.csv"), state_of(Path("before"), "before/waits.csv")
    ('before', None)
    """
    below = PurePath(name).relative_to(folder) if PurePath(name).is_relative_to(folder) else PurePath(name)
    found = [said[1] for part in below.parts if (said := _STATE.search(part.lower()))]
    return None if not found else "after" if found[-1] == "after" else "before"


def check_hosts(before: Dataset, after: Dataset) -> None:
    """Refuse two periods of two hosts.

    Raises:
        UserError: they are of two.
    """
    old, new = (sorted(one.hosts) for one in (before, after))
    if old and new and not set(old) & set(new):
        told = f"before is of {', '.join(old)}, after of {', '.join(new)}"
        raise UserError(f"two hosts: {told}", "a change is told on one host: name periods of the same, or --host")


def _check_times(old: Seen, new: Seen) -> None:
    """Refuse periods of which each has a part of the other's time; files that tell no times have none to compare."""
    if not (old.period and new.period and old.is_dated and new.is_dated):
        return
    (since, until), (begin, end) = old.period, new.period
    if since < end and begin < until:
        told = f"before is {since:%F %T} to {until:%F %T} UTC, after {begin:%F %T} to {end:%F %T}"
        raise UserError(f"the periods overlap: {told}", "leave out of each what is of the other's time")


def _period(name: str, files: Sequence[FileRead]) -> Period:
    traces = [file.trace for file in files if file.trace]
    trace = max(traces, key=lambda one: one["trace"]["calls"], default=None)
    return Period(name, Dataset(read.tables_of(files)), trace)


def _name_others(names: Sequence[str], watcher: Watcher) -> None:
    if names:
        more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        watcher.note(f"of no state, and left out: {', '.join(names[:MOST_NAMED])}{more}")
