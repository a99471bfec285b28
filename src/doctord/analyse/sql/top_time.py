"""Who holds the time: the statements, programs, users and services that took it, and the segments that were read.

Shares are of the whole that the server itself counts: of database time, of its CPU time, of its logical and physical
reads. A PL/SQL block or function holds what its own statements take as well, so that shares may add up to more than
all.
"""

from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

import polars as pl

from doctord.analyse.figures import figures
from doctord.analyse.sql.statements import Statement, statements
from doctord.analyse.time import active_sessions, processor_times, time_model
from doctord.dataset.common_statistics import names_of
from doctord.dataset.dataset import Dataset
from doctord.dataset.tables import WORKING

Kind: TypeAlias = Literal["statement", "program", "user", "service", "segment"]
KINDS: Final[tuple[Kind, ...]] = ("statement", "program", "user", "service", "segment")
MOST = 5
# A hundredth of the time, or of the reads: less is nobody's first.
LEAST_SHARE = 0.01
SERVICES = "v$service_stats."
MODULES = ("sql_module.elapsed time", "sql_module.cpu time")
# Blocks of a segment looked at, and blocks read, by the names of each vendor.
GETS: Final = ("v$segment_statistics.logical reads", *(
    f"pg_statio_user_tables.{part}_blks_{how}" for part in ("heap", "idx") for how in ("hit", "read")
))  # fmt: skip
READS: Final = ("v$segment_statistics.physical reads", "pg_statio_user_tables.heap_blks_read",
                "pg_statio_user_tables.idx_blks_read")  # fmt: skip


class Holder(NamedTuple):
    """One that holds time or work, on one database server.

    `share` is its part (0 to 1) of all database time, `cpu_share` of that server's CPU time, `gets_share` and
    `reads_share` of its logical and physical reads; null where that was not measured. `calls_per_s` and `elapsed_ms`
    (of one call) are of statements alone.
    """

    kind: Kind
    db: str
    name: str
    text: str | None = None
    share: float | None = None
    cpu_share: float | None = None
    gets_share: float | None = None
    reads_share: float | None = None
    calls_per_s: float | None = None
    elapsed_ms: float | None = None

    @property
    def largest(self) -> float:
        """The largest of its shares (0 to 1) of time, CPU, gets and reads; 0 where none is known."""
        return max(part or 0.0 for part in (self.share, self.cpu_share, self.gets_share, self.reads_share))


def top_time(dataset: Dataset) -> tuple[Holder, ...]:
    """Who holds a part of the time worth naming, by kind in the order of `KINDS`, those with most of it first.

    Those come first whose share of the time is known, then those with most CPU, gets or reads.
    """
    found = [*_statements(dataset), *_sampled(dataset), *_services(dataset), *_modules(dataset), *_segments(dataset)]
    felt = [one for one in found if one.largest >= LEAST_SHARE]
    ordered = sorted(felt, key=lambda one: (-(one.share or 0.0), -one.largest, one.db, one.name))
    return tuple(sorted(ordered, key=lambda one: KINDS.index(one.kind)))


def first(holders: Sequence[Holder], most: int = MOST) -> tuple[Holder, ...]:
    """The first few holders of each kind, in the order in which they come."""
    return tuple(one for kind in KINDS for one in [each for each in holders if each.kind == kind][:most])


def _statements(dataset: Dataset) -> Iterator[Holder]:
    sampled, found = _sampled_cpu(dataset), statements(dataset)
    wholes = {db: _whole(dataset, db) for db in {one.db for one in found}}
    for one in found:
        yield _statement(one, wholes[one.db], sampled.get((one.db, one.statement_id)))


class _Whole(NamedTuple):
    """What a server spent and did in all, a second; null where it was not counted."""

    time: float | None
    cpu: float | None
    gets: float | None
    reads: float | None


def _statement(one: Statement, whole: _Whole, sampled_cpu: float | None) -> Holder:
    return Holder(
        "statement",
        one.db,
        one.statement_id,
        one.text,
        share=one.share,
        cpu_share=_part(one.cpu_s_per_s, whole.cpu) if one.cpu_s_per_s is not None else sampled_cpu,
        gets_share=_part(one.gets_per_s, whole.gets),
        reads_share=_part(one.read_blocks_per_s, whole.reads),
        calls_per_s=one.calls_per_s,
        elapsed_ms=one.elapsed_ms,
    )


def _whole(dataset: Dataset, db: str) -> _Whole:
    cpu = _sum(dataset, db, "v$sys_time_model.DB CPU")
    return _Whole(
        time=_sum(dataset, db, "v$sys_time_model.DB time"),
        cpu=cpu,
        gets=_sum(dataset, db, *names_of("logical reads")),
        reads=_sum(dataset, db, *names_of("physical reads")),
    )


def _sum(dataset: Dataset, db: str, *names: str) -> float | None:
    told = [figure.mean for name in names for figure in figures(dataset, name) if figure.db == db]
    return sum(told) if told else None


def _part(value: float | None, whole: float | None) -> float | None:
    return None if value is None or not whole else min(value / whole, 1.0)


def _sampled_cpu(dataset: Dataset) -> dict[tuple[str, str], float]:
    """Of the samples on a CPU (or waiting for one), the part of each statement."""
    on_cpu = active_sessions(dataset).filter(pl.col("event") == "CPU")
    sums = on_cpu.group_by("db", "statement_id", maintain_order=True).agg(pl.col("interval_s").sum().alias("spent"))
    wholes = dict(on_cpu.group_by("db", maintain_order=True).agg(pl.col("interval_s").sum()).iter_rows())
    return {(db, one): spent / wholes[db] for db, one, spent in sums.drop_nulls("statement_id").iter_rows()}


def _sampled(dataset: Dataset) -> Iterator[Holder]:
    """Programs and users, of sampled sessions; what the kernel counted beyond the samples is theirs as the CPU is."""
    model = time_model(dataset)
    working = pl.col("kind").is_in(WORKING) & (pl.col("state") == "active") & (pl.col("wait_class") != "Idle")
    columns = ("db", "program", "user", "event", "interval_s")
    session = dataset.rows("session", working, *columns)
    total = model.seconds_per_second * model.seconds
    if session.is_empty() or not total:
        return
    on_cpu = pl.when(pl.col("event") == "CPU").then(pl.col("interval_s")).otherwise(0.0)
    cpu_s = dict(session.group_by("db", maintain_order=True).agg(on_cpu.sum()).iter_rows())
    unsampled_s = {db: one.unsampled_s for db, one in processor_times(dataset).items()}
    kinds: dict[str, Kind] = {"program": "program", "user": "user"}
    for column, kind in kinds.items():
        sums = session.group_by("db", column, maintain_order=True).agg(
            pl.col("interval_s").sum(), on_cpu.sum().alias("cpu_s")
        )
        for db, name, spent, cpu in sums.drop_nulls(column).iter_rows():
            cpu_share = _part(cpu, cpu_s[db])
            beyond_s = unsampled_s.get(db, 0.0) * (cpu_share or 0.0)
            yield Holder(kind, str(db), str(name), share=min((spent + beyond_s) / total, 1.0), cpu_share=cpu_share)


def _services(dataset: Dataset) -> Iterator[Holder]:
    """Services, as Oracle counts their time."""
    names = ("DB time", "DB CPU", "session logical reads", "physical reads")
    told = [_by_entity(dataset, f"{SERVICES}{name}") for name in names]
    for key in told[0]:
        db, name = key
        whole = _whole(dataset, db)
        time, cpu, gets, reads = (of.get(key) for of in told)
        yield Holder(
            "service",
            db,
            name,
            share=_part(time, whole.time),
            cpu_share=_part(cpu, whole.cpu),
            gets_share=_part(gets, whole.gets),
            reads_share=_part(reads, whole.reads),
        )


def _modules(dataset: Dataset) -> Iterator[Holder]:
    """Programs as Oracle's reports name them: of the statements that are listed."""
    time, cpu = (_by_entity(dataset, name) for name in MODULES)
    for db, name in time:
        whole = _whole(dataset, db)
        share, of_cpu = _part(time[db, name], whole.time), _part(cpu.get((db, name)), whole.cpu)
        yield Holder("program", db, name, share=share, cpu_share=of_cpu)


def _segments(dataset: Dataset) -> Iterator[Holder]:
    """Tables and indexes, by the blocks of them that were looked at and read."""
    gets, reads = _by_entity(dataset, *GETS), _by_entity(dataset, *READS)
    wholes = {db: _whole(dataset, db) for db, _ in {**gets, **reads}}
    for db, name in {**gets, **reads}:
        whole = wholes[db]
        yield Holder(
            "segment",
            db,
            name,
            gets_share=_part(gets.get((db, name)), whole.gets),
            reads_share=_part(reads.get((db, name)), whole.reads),
        )


def _by_entity(dataset: Dataset, *names: str) -> dict[tuple[str, str], float]:
    """Figures by server and entity, added up over names and instances."""
    sums: dict[tuple[str, str], float] = {}
    for one in (figure for name in names for figure in figures(dataset, name)):
        if one.db and one.entity:
            sums[one.db, one.entity] = sums.get((one.db, one.entity), 0.0) + one.mean
    return sums
