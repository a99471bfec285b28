"""Diagnose many hosts: who is ill, what those who are ill have in common, who is unlike its peers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from doctord.analyse.fleet.common import Common, common_label
from doctord.analyse.fleet.peers import Member, Outlier, outliers
from doctord.analyse.server_clocks import Kept, own_clock
from doctord.app.asked import Interval
from doctord.app.diagnose import Examination, diagnose
from doctord.app.fleet.each import Listener, Task, each_host, placed
from doctord.app.fleet.engine import Engine, Failed
from doctord.app.fleet.hosts import ROLE, Host
from doctord.app.source import Recorded
from doctord.app.watcher import SILENT, Watcher
from doctord.diagnose.finding import SEVERITIES, Finding, Health, Severity
from doctord.errors import UserError

# A cause that fewer hosts have is told with each of them.
SHARED_BY: Final = 3
# A tenth of the time: a recorder was not there from the beginning, or is not any more.
SHORT: Final = 0.1


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on one host.

    Attributes:
        health: As of a diagnosis.
        since, until: Of which time; null where nothing tells it.
        time_of: Whose time shares are of, as of a diagnosis.
        findings: What was found, the worst first, without its evidence: that is a diagnosis of the host away.
        signs: Its vital signs, by name.
        notes: What of its lake could not be read, say.
        clock: What its kernel says of its clock; null where it was not asked.
    """

    health: Health
    since: datetime | None
    until: datetime | None
    time_of: str
    findings: tuple[Finding, ...]
    signs: dict[str, float]
    notes: tuple[str, ...] = ()
    clock: Kept | None = None

    @property
    def worst(self) -> Finding | None:
        """The first finding above a note that nothing else explains; null where there is none."""
        return next(iter(self.causes), None)

    @property
    def causes(self) -> list[Finding]:
        """The findings above a note that nothing else explains; those that a mere note explains, where it is all."""
        found = [one for one in self.findings if one.severity != "note"]
        return [one for one in found if one.explained_by is None] or found

    def is_short_of(self, since: datetime, until: datetime) -> bool:
        """Whether it is of less than that time, by more than a tenth of it."""
        least = (until - since) * (1 - SHORT)
        return self.since is not None and self.until is not None and self.until - self.since < least

    @property
    def order(self) -> tuple[int, int, float]:
        """By which the worst comes first: health, the severity of the first finding, its share."""
        health = ("not_healthy", "healthy", "not_judged").index(self.health)
        severity = SEVERITIES.index(self.worst.severity) if self.worst else len(SEVERITIES)
        return health, severity, -((self.worst.impact.share if self.worst else None) or 0.0)


@dataclass(frozen=True, slots=True)
class Shared:
    """A cause that several hosts have: one finding of the fleet.

    Attributes:
        cause: Its name.
        severity: The worst of theirs.
        first: The finding of the host that it is worst on.
        hosts: Their names, the worst first.
        common: The label that they have in common, and few others; null where none tells them apart.
    """

    cause: str
    severity: Severity
    first: Finding
    hosts: tuple[str, ...]
    common: Common | None


@dataclass(frozen=True, slots=True)
class FleetVerdict:
    """The verdict on a fleet.

    Attributes:
        place: Where it is kept.
        since, until: The time that was asked for.
        hosts: Each host that was judged with its verdict, the worst first.
        failed: Each other with why it was not.
        shared: Causes that several have, those of most hosts first.
        outliers: Who is far above its peers, the farthest first.
    """

    place: str
    since: datetime
    until: datetime
    hosts: tuple[tuple[Host, Verdict], ...]
    failed: tuple[tuple[Host, Failed], ...]
    shared: tuple[Shared, ...]
    outliers: tuple[Outlier, ...]

    @property
    def ill(self) -> list[tuple[Host, Verdict]]:
        """The hosts on which something above a note was found."""
        return [one for one in self.hosts if one[1].health == "not_healthy"]

    @property
    def not_kept(self) -> list[str]:
        """The hosts whose clock nobody keeps, by their kernels: what happened on them has no order among hosts."""
        return sorted(host.name for host, verdict in self.hosts if verdict.clock and not verdict.clock.is_kept)

    @property
    def partly(self) -> list[tuple[str, Verdict]]:
        """The hosts whose verdict is of less than the time that was asked for."""
        return [(host.name, verdict) for host, verdict in self.hosts if verdict.is_short_of(self.since, self.until)]

    @property
    def unjudged(self) -> int:
        """How many hosts there is no verdict on."""
        return len(self.failed) + sum(verdict.health == "not_judged" for _, verdict in self.hosts)

    @property
    def healthy(self) -> bool | None:
        """Whether all hosts are; null where none is ill that was judged, and one was not."""
        if self.ill:
            return False
        return None if self.unjudged else True


def diagnose_fleet(
    place: str, hosts: Sequence[Host], asked: Interval, engine: Engine, watcher: Watcher = SILENT
) -> FleetVerdict:
    """Diagnose the same time of each host. Ctrl-C ends it with what is known by then; the rest counts as not judged.

    Args:
        place: What to call the fleet.
        hosts: At least one.
        asked: The time: as for one host, the last hour where no moment is said; of a time of day, by the newest lake.
        engine: What it runs on.
        watcher: Who is told how it goes on.

    Raises:
        UserError: the time ends before it begins.
    """
    when = placed(hosts, asked, watcher)
    each = each_host("Judging", judge, [Task(host, when) for host in hosts], engine, watcher)
    judged = sorted(each.found, key=lambda one: (one[1].order, one[0].name))
    members = [Member(host.name, host.labels.get(ROLE, ""), verdict.signs) for host, verdict in judged]
    shared = tuple(_shared(judged))
    return FleetVerdict(place, *when.moments, tuple(judged), tuple(each.failed), shared, tuple(outliers(members)))


def judge(task: Task) -> Verdict:
    """The verdict on one host.

    Raises:
        UserError: its lake cannot be read, or tells nothing of that time, or of several hosts.
    """
    listener = Listener()
    with task.host.opened() as lake:
        found = diagnose(Recorded(lake), task.asked, listener)
    each = (found, *found.others)
    names = sorted({one.seen.host for one in each} - {""})
    if len(names) > 1:
        raise UserError(f"its lake tells of {len(names)} hosts: {', '.join(names[:3])}", "give each a lake of its own")
    whole = max(each, key=_length)
    return Verdict(
        health=found.diagnosis.health,
        since=whole.diagnosis.since,
        until=whole.diagnosis.until,
        time_of=found.diagnosis.time_of,
        findings=tuple(_without_evidence(finding) for one in each for finding in one.diagnosis.findings),
        signs={sign.name: sign.value for sign in whole.diagnosis.figures},
        notes=tuple(listener.notes),
        clock=own_clock(whole.seen.dataset),
    )


def _length(one: Examination) -> timedelta:
    since, until = one.diagnosis.since, one.diagnosis.until
    return until - since if since and until else timedelta()


def _without_evidence(finding: Finding) -> Finding:
    return replace(finding, for_=(), against=(), not_measured=(), remedy=(), verify=(), sources=())


def _shared(judged: Sequence[tuple[Host, Verdict]]) -> Iterator[Shared]:
    """The causes that several hosts have, those of most hosts first; the hosts come worst first."""
    labels = {host.name: host.labels for host, _ in judged}
    having = dict[str, list[tuple[str, Finding]]]()
    for host, verdict in judged:
        for cause, finding in {one.cause: one for one in reversed(verdict.causes)}.items():
            having.setdefault(cause, []).append((host.name, finding))
    found = list[Shared]()
    for cause, theirs in having.items():
        if len(theirs) < SHARED_BY:
            continue
        worst = min(theirs, key=lambda one: (SEVERITIES.index(one[1].severity), -(one[1].impact.share or 0.0)))[1]
        names = tuple(name for name, _ in theirs)
        found.append(Shared(cause, worst.severity, worst, names, common_label(set(names), labels)))
    yield from sorted(found, key=lambda one: (-len(one.hosts), SEVERITIES.index(one.severity), one.cause))
