"""The engine: every cause looks at the case; what one explains of another is set below it; the rest is ranked.

The last to be asked are the causes that look at what the others left unexplained.
"""

import importlib
import pkgutil
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from functools import partial

import polars as pl

from doctord.analyse.since_boot import without_means_since_boot
from doctord.analyse.sql.top_time import first
from doctord.analyse.storage.block_sizes import Sizes, block_sizes
from doctord.analyse.time import SAMPLED
from doctord.dataset.calltrace import Trace
from doctord.dataset.dataset import Dataset
from doctord.diagnose import causes
from doctord.diagnose.addm import with_addm
from doctord.diagnose.case import Case
from doctord.diagnose.cause import CAUSES, Cause
from doctord.diagnose.explained import explained_share
from doctord.diagnose.explaining import MayBeBehind, explaining, without_circles
from doctord.diagnose.finding import NOT_MEASURED, SEVERITIES, Claim, Diagnosis, Finding
from doctord.diagnose.graded import by_lost_service
from doctord.diagnose.judged import judged, not_judged, past_untold, untold
from doctord.diagnose.late_samples import late_samples
from doctord.diagnose.lock_roots import by_waits
from doctord.diagnose.other_storage import unseen, with_storage
from doctord.diagnose.phrase import Phrase, listed, phrase
from doctord.diagnose.quiet_logs import quiet_logs
from doctord.diagnose.service import served
from doctord.diagnose.shortages import may_be_behind

MOST_TRACED = 6  # devices and operations of an I/O trace that are told of
MOST_SIZES = 4
OF_TRACES = "traces, "
for _module in pkgutil.walk_packages(causes.__path__, f"{causes.__name__}."):
    importlib.import_module(_module.name)


def diagnose(
    dataset: Dataset,
    earlier: Dataset | None = None,
    trace: Trace | None = None,
    servers: int = 0,
    period: tuple[datetime, datetime] | None = None,
) -> Diagnosis:
    """Diagnose one interval.

    Args:
        dataset: what was measured in it.
        earlier: the same host before, to judge by its own past; absolute rules alone are used without it.
        trace: system calls of its processes; the time is then that of the trace.
        servers: how many database servers the user named.
        period: from when to when it is, where some rows have no time of their own; null: from the first to the last.

    Returns:
        The verdict, with the worst finding first.
    """
    dataset = without_means_since_boot(dataset)
    case = Case(dataset, earlier, trace, servers)
    claimed = _claims(case, [cause for cause in _asked(dataset) if not cause.last])
    case.claims, by_roots = by_waits(case, claimed)
    case.claims += _claims(case, [cause for cause in _asked(dataset) if cause.last])
    case.claims = [(name, by_lost_service(case, claim)) for name, claim in case.claims]
    areas = judged(case)
    interval = period or ((dataset.since, dataset.until) if dataset.since and dataset.until else None)
    found = findings(case.claims, interval, case.vendors, by_roots, partial(may_be_behind, case))
    is_well = all(finding.severity == "note" for finding in found)
    return Diagnosis(
        host=_host(dataset),
        since=interval and interval[0],
        until=interval and interval[1],
        time_of=case.time.of,
        time=case.time.shares,
        findings=found,
        looked_at=_looked_at(case),
        not_measured=(
            *case.not_measured(),
            *case.gaps(),
            *case.clock(),
            *late_samples(case),
            *unseen(case),
            *(tuple(quiet_logs(case)) or untold(case, areas)),
            *(past_untold(case) if is_well and areas else ()),
        ),
        figures=tuple(case.vitals.values()),
        judged=areas,
        not_judged=not_judged(case),
        unanswered=max(servers - len(case.asked), 0),
        top=first(case.top),
        explained=explained_share(case),
    )


def _claims(case: Case, causes: Iterable[Cause]) -> list[tuple[str, Claim]]:
    """What some causes say of a case, with what other sources say to it."""
    claimed = ((cause.name, claim) for cause in causes for claim in cause.examine(case))
    return [(name, with_storage(case, name, with_addm(case, name, claim))) for name, claim in claimed]


def _asked(dataset: Dataset) -> Iterable[Cause]:
    """All causes; of a trace alone, those of traces: the others look at tables, and there are none."""
    return (cause for cause in CAUSES.values() if dataset.tables or cause.component.startswith(OF_TRACES))


def findings(
    claims: Iterable[tuple[str, Claim]],
    interval: tuple[datetime, datetime] | None = None,
    components: Collection[str] = (),
    measured: Mapping[str, str | None] | None = None,
    may_be_behind: MayBeBehind = lambda *_: True,
) -> tuple[Finding, ...]:
    """What causes claim, each with its name, as findings: the worst first, each followed by what it explains.

    Worst is severity, then damage; of a cause whose own is not known, the damage of what it explains. `measured` is
    who explains whom by who waits for whom (`lock_roots.by_waits`): it goes before the names that causes give;
    `may_be_behind` tells which of these hold.
    """
    ordered = sorted(claims, key=_damage)
    above = without_circles(
        [explaining(number, ordered, measured or {}, may_be_behind) for number in range(len(ordered))]
    )
    whole = [
        CAUSES[name].finding(claim, interval, None if by is None else ordered[by][0], components)
        for (name, claim), by in zip(ordered, above, strict=True)
    ]

    def below(number: int) -> Iterable[int]:
        for symptom, by in enumerate(above):
            if by == number:
                yield symptom
                yield from below(symptom)

    def damage(root: int) -> tuple[int, float, float, str]:
        """A cause whose own share nobody knows is as bad as what it explains."""
        severity, own, sure, name = _damage(ordered[root])
        symptoms = below(root) if ordered[root][1].cost == NOT_MEASURED else ()
        return severity, min([own, *(_damage(ordered[one])[1] for one in symptoms)]), sure, name

    roots = sorted((number for number, by in enumerate(above) if by is None), key=damage)
    return tuple(whole[number] for root in roots for number in (root, *below(root)))


def _damage(claimed: tuple[str, Claim]) -> tuple[int, float, float, str]:
    name, claim = claimed
    severity = SEVERITIES.index(claim.graded)
    return (severity, -(claim.cost.share or 0.0) * claim.confidence, -claim.confidence, name)


def _host(dataset: Dataset) -> str:
    return ", ".join(sorted(dataset.hosts)) or "unknown host"


def _sums_of_waits(case: Case, sampled: pl.Series) -> list[Phrase]:
    """A line for each database that told its waits in sum alone: how many reports, of how many events."""
    waits = case.dataset.frame("wait").filter(pl.col("db").is_not_null() & ~pl.col("db").is_in(sampled.implode()))
    by_db = (
        waits.group_by("db", maintain_order=True)
        .agg(pl.col("ts").n_unique(), pl.col("event").n_unique())
        .sort("db", maintain_order=True)
    )
    return [
        phrase("{}: waits in sum, {:count event/events}, {:count interval/intervals}", db, events, times)
        for db, times, events in by_db.rows()
    ]


def _traced(sizes: Sizes) -> Phrase:
    """What an I/O trace tells of one device: the sizes that arrive, and whether they are pieces of larger ones."""
    most = listed(*(phrase("{:bytes} ({})", size, count) for size, count in sizes.sizes[:MOST_SIZES]))
    parts = [phrase("{} {}s of {} traced: {}", sizes.requests, sizes.operation, sizes.device, most)]
    if sizes.continued:
        parts.append(phrase("{:share} begin where the one before ended", sizes.continued))
    if sizes.whole_block:
        parts.append(phrase("all are multiples of {:bytes}: blocks of that size arrive whole", sizes.whole_block))
    return listed(*parts, by="; ")


def _looked_at(case: Case) -> tuple[Phrase, ...]:
    """One line per table that held something: how much, over how long."""
    lines = [phrase("{:count CPU/CPUs} over {:.0f s}", case.cpus, case.seconds)] if case.cpus else []
    if case.processes.height:
        lines.append(phrase("{:count process/processes}", case.processes.height))
    for table, column, words in (
        ("disk", "device", "disk/disks"),
        ("filesystem", "mount", "file system/file systems"),
        ("network", "interface", "network interface/network interfaces"),
    ):
        count = case.dataset.frame(table)[column].drop_nulls().n_unique()
        if count:
            lines.append(phrase(f"{{:count {words}}}", count))
    lines += [_traced(sizes) for sizes in block_sizes(case.dataset)[:MOST_TRACED]]
    sampled = case.dataset.frame("session").select("db", "sid").filter(pl.col("db").is_not_null())
    by_db = (
        sampled.group_by("db", maintain_order=True)
        .agg(pl.len(), pl.col("sid").drop_nulls().n_unique())
        .sort("db", maintain_order=True)
    )
    idle = {*case.dataset.frame("wait").filter(pl.sql_expr(SAMPLED))["db"].drop_nulls()} - {*by_db["db"]}
    lines += [
        phrase("{}: {:count sample/samples} of sessions, {:count session/sessions} at work", db, samples, sids)
        if sids
        else phrase("{}: {:count sample/samples} of sessions", db, samples)
        for db, samples, sids in by_db.rows()
    ]
    lines += [phrase("{}: no session at work", db) for db in sorted(idle)]
    lines += served(case)
    lines += _sums_of_waits(case, pl.Series([*by_db["db"], *idle], dtype=pl.String))
    told = {*by_db["db"], *case.dataset.frame("wait")["db"]}
    lines += [phrase("{}: neither sessions nor waits", db) for db in case.dbs if db not in told]
    statistics = case.dataset.frame("statistic").height
    return (
        *lines,
        phrase(
            "{:count other figure/other figures}, {:count setting/settings}",
            statistics,
            case.dataset.frame("setting").height,
        ),
    )
