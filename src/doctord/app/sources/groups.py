"""What belongs together in files: what is of one server and one time. The rest is judged for itself.

Figures of two servers, or of a Monday and a Thursday, say nothing of each other: a mean over both is nobody's, and a
period from the first to the last is one in which hardly anything was looked at. So files are joined where they are of
the same host (or, reports of a cluster, of the same database) and their times overlap, or lie no further apart than
the longer of them is long. A file with rows of several hosts, as pdsh, an export or Prometheus make it, is parted by
them first, unless they are nodes of one cluster. Reports of one database stay together whatever lies between: what
changed from one to the next is asked of them. Who tells no host goes with the one server of that time; who tells no
time with the one that is there at all; settings go with every server that may be theirs.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from doctord.app.sources.clocks import of_one_clock
from doctord.app.sources.held import Held
from doctord.read.gather import FileRead

MOST_NAMED = 3  # files of a group that are named
# What somebody collects in one go, tool after tool, is of one time.
ONE_GO = timedelta(hours=1)
A_DAY = timedelta(days=1)


@dataclass(eq=False)
class Group:
    """Files of one server and one time; those without a time of their own do not stretch it (`placed` names them)."""

    files: list[Held] = field(default_factory=list)
    since: datetime | None = None
    until: datetime | None = None
    hosts: set[str] = field(default_factory=set)
    dbs: set[str] = field(default_factory=set)
    names: set[str | tuple[str, str]] = field(default_factory=set)
    placed: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The host, or the nodes of a cluster; empty where none is named."""
        return _few(sorted(self.hosts))

    @property
    def whose(self) -> str:
        """The host, and from when to when (UTC), or that it is settings alone: what tells it from another group."""
        period = f"{self.since:%F %T} to {self.until:%F %T} UTC" if self.since else "settings"
        return f"{self.name or 'no host named'}, {period}"

    def is_of(self, host: str) -> bool:
        """Whether it is of a host, which may be named without its domain."""
        return any(is_host(name, host) for name in self.hosts)

    def take(self, held: Held, *, is_dated: bool = True) -> None:
        """Add a file, with its hosts and servers; its time too, unless it is not dated and was put here by its name."""
        self.files.append(held)
        self.hosts |= held.hosts
        self.dbs |= held.dbs
        self.names |= {*held.servers, *held.reported}
        if not is_dated:
            self.placed.append(held.file.name)
        elif held.since and held.until:
            self.since = min(self.since or held.since, held.since)
            self.until = max(self.until or held.until, held.until)

    def take_all(self, other: "Group") -> None:
        """Take the files of another, those once that are in both, as settings may be."""
        known = {id(held) for held in self.files}
        self.files += [held for held in other.files if id(held) not in known]
        self.hosts |= other.hosts
        self.dbs |= other.dbs
        self.names |= other.names
        self.placed += other.placed
        self.since = min(filter(None, (self.since, other.since)), default=None)
        self.until = max(filter(None, (self.until, other.until)), default=None)

    def is_near(self, held: Held) -> bool:
        """Whether the time between them is no longer than the longer of the two."""
        if not (self.since and self.until and held.since and held.until):
            return False
        apart = max(held.since - self.until, self.since - held.until)
        return apart <= max(self.until - self.since, held.until - held.since, ONE_GO)

    def may_be_of(self, held: Held) -> bool:
        """Whether nothing tells that they are of two hosts."""
        return held.may_be_of(self.hosts)


def groups(files: Iterable[FileRead]) -> list[Group]:
    """The groups of files in which something could be used: those of named hosts first, each kind in order of time."""
    held = of_one_clock(_spelled_alike([part for file in files if file.tables for part in Held(file).by_host()]))
    timed = [one for one in held if one.since]
    timed.sort(key=lambda one: str(one.since))
    dated = [one for one in timed if not one.file.lacks]
    found = _by_server(one for one in dated if one.hosts)
    _add_nobodys(found, [one for one in dated if not one.hosts])
    _add_undated(found, [one for one in reversed(timed) if one.file.lacks])
    for one in (one for one in held if not one.since):
        fitting = [group for group in found if group.may_be_of(one)]
        if not fitting:
            found.append(Group())
        for group in fitting or found[-1:]:
            group.take(one)
    return found


def of_hosts(found: Iterable[Group]) -> list[Group]:
    """The groups of each host joined, whatever lies between their times; those of no host with the one that is named.

    Where none or several are named, those of no host are one of their own.
    """
    made, latest, nobodys = list[Group](), dict[str, Group](), Group()
    for group in found:
        if not group.hosts:
            nobodys.take_all(group)
            continue
        first, *others = dict.fromkeys(latest[name] for name in sorted(group.hosts) if name in latest) or [Group()]
        for other in (*others, group):
            first.take_all(other)
        made = [one for one in made if one not in (first, *others)] + [first]
        latest.update(dict.fromkeys(first.hosts, first))
    if len(made) == 1:
        made[0].take_all(nobodys)
    return made + ([nobodys] if nobodys.files and len(made) != 1 else [])


def is_host(name: str, asked: str) -> bool:
    """Whether a host's name is the one that is asked for, whose domain may be left out."""
    return asked.lower() in {name.lower(), name.lower().partition(".")[0]}


def _spelled_alike(files: Sequence[Held]) -> list[Held]:
    """The files, with each host spelled as by who names its domain, which one tool does and another does not.

    Where hosts of one name are in several domains, a name without one is neither.
    """
    spelled = dict[str, set[str]]()
    for name in sorted({name for held in files for name in held.hosts}):
        spelled.setdefault(name.lower(), set()).add(name)
    domains = dict[str, set[str]]()
    for name in spelled:
        domains.setdefault(name.partition(".")[0], set()).add(name)
    hosts = dict[str, str]()
    for name, spellings in spelled.items():
        full = domains[name.partition(".")[0]] - {name}
        chosen = full.pop() if "." not in name and len(full) == 1 else name
        hosts |= dict.fromkeys(spellings, max(spelled[chosen]))
    other = {name: chosen for name, chosen in hosts.items() if name != chosen}
    return [held.spelled(other) for held in files]


def told(found: Sequence[Group]) -> Iterator[str]:
    """What is to be known of groups: the files of each, where there are several, and whose times were moved."""
    files = {held.file.name: held.note for group in found for held in group.files if held.note}
    for note in dict.fromkeys(files.values()):
        yield f"{_few([name for name in files if files[name] == note])}: {note}"
    if len(found) > 1:
        yield f"these are {len(found)} servers or times, and each of them is judged for itself"
        for group in found[: MOST_NAMED * MOST_NAMED]:
            yield f"{group.whose}: {_few([held.file.name for held in group.files])}"
    placed = [name for group in found for name in group.placed]
    if placed:
        yield f"{_few(placed)}: taken to be of the same time as the others, and placed at its end"


def _few(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _by_server(dated: Iterable[Held]) -> list[Group]:
    """Groups of files that name their hosts, which come in order of time."""
    made, latest = list[Group](), dict[str | tuple[str, str], Group]()
    for one in dated:
        of_time = [latest[name] for name in one.servers if name in latest and latest[name].is_near(one)]
        of_a_row = [latest[name] for name in one.reported if name in latest]
        first, *others = dict.fromkeys((*of_time, *of_a_row)) or [Group()]
        for other in others:
            made.remove(other)
            first.take_all(other)
        first.take(one)
        if first not in made:
            made.append(first)
        latest.update(dict.fromkeys(first.names, first))
    return made


def _add_nobodys(found: list[Group], dated: Iterable[Held]) -> None:
    """Add files that tell no host: each to the one server of its time or database, else to others that tell none."""
    nobodys = list[Group]()
    for one in dated:
        of_db = [group for group in found if group.dbs & one.dbs]
        of_time = [group for group in of_db or found if group.is_near(one)]
        fitting = next((alone for alone in (of_time, of_db) if len(alone) == 1), [])
        fitting = fitting or [group for group in nobodys if group.is_near(one) or group.dbs & one.dbs]
        _take(one, fitting[-1:], nobodys)
    found += nobodys


def _add_undated(found: list[Group], undated: Iterable[Held]) -> None:
    """Add files that do not tell when they were: each to the one server that it may be of, else to others like it."""
    placeless = list[Group]()
    for one in undated:
        fitting = [group for group in found if group.may_be_of(one)]
        placed = _placed(one, fitting[0]) if len(fitting) == 1 else None
        if placed:
            fitting[0].take(placed, is_dated=False)
            continue
        alike = [group for group in placeless if group.may_be_of(one) and (group.is_near(one) or _is_of_1970(one))]
        _take(_placed(one, alike[0]) or one if alike else one, alike, placeless)
    found += placeless


def _take(one: Held, fitting: Sequence[Group], others: list[Group]) -> None:
    """Put a file into the first group that fits, or a new one."""
    if not fitting:
        others.append(Group())
    (fitting or others[-1:])[0].take(one)


def _placed(one: Held, group: Group) -> Held | None:
    """A file at the end of a group's time, as far as it tells none itself; null where what it tells is another time."""
    if not (one.since and one.until and group.since and group.until):
        return one
    if one.file.lacks == "date":
        moved = one.moved((group.until - one.since) // A_DAY * A_DAY)
        return moved if group.is_near(moved) else None
    of_that_day = group.since.date() <= one.until.date() <= group.until.date()
    return one.moved(group.until - one.until) if one.file.lacks == "time" or of_that_day else None


def _is_of_1970(one: Held) -> bool:
    """Whether nobody knew any time of it, not even when the file was written."""
    return one.until is not None and one.until.year <= 1970
