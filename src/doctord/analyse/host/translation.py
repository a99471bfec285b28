"""Address translation: the time it takes, by CPU or by process, the faults behind it, and what other pages would need.

A processor keeps the translations it used last in a buffer (TLB). On SPARC what misses there is looked for in a table
in memory (TSB), and what misses there too costs a search by the kernel.
"""

from math import ceil
from typing import NamedTuple

import polars as pl

from doctord.analyse import figures
from doctord.analyse.sizing.page_tables import PAGE_TABLE_ENTRY_BYTES
from doctord.analyse.sizing.tlb import TSB_ENTRY_BYTES
from doctord.dataset.dataset import Dataset

SHARES = ("itlb_pct", "itsb_pct", "dtlb_pct", "dtsb_pct")
WALKS, CYCLES, MISSES = "process.dtlb_walk_pct", "process.cycles_per_s", "process.dtlb_misses_per_s"
# Counters of faults since boot: those served from memory, and those that needed I/O.
COUNTERS = (
    ("vmstat.minor (as) faults", "vmstat.major faults"),
    ("kstat.as_fault", "kstat.maj_fault"),
)


class Translation(NamedTuple):
    """Time in translation of one mode and page size: `pct` is its share of the time of the CPUs, by data and code."""

    mode: str | None
    page_bytes: int | None
    data_pct: float
    code_pct: float


class Walker(NamedTuple):
    """A process whose walks through page tables the processor counted (Linux), means over the intervals of that.

    `walk_pct` is the share of its cycles with a walk going on: an upper bound of what it loses, since the processor
    goes on with other work meanwhile. Null where the processor counts misses only.
    """

    entity: str
    walk_pct: float | None
    cycles_per_s: float
    misses_per_s: float | None


class Faults(NamedTuple):
    """Page faults since boot by two counters of a source, and the share of them that needed I/O."""

    minor_name: str
    major_name: str
    minor: float
    major: float

    @property
    def major_share(self) -> float:
        """Major faults over minor ones."""
        return self.major / self.minor


def by_moment(dataset: Dataset) -> pl.DataFrame:
    """Share of the CPUs' time in translation at each moment, % (column `pct` beside `ts` and `interval_s`).

    It is that of all CPUs together where the source tells it, else the mean of the CPUs.
    """
    rows = dataset.frame("translation").filter(pl.any_horizontal(pl.col(SHARES).is_not_null()))
    of_all = rows.filter(pl.col("cpu").is_null())
    # Each row is one CPU, mode and page size: their times add up within a CPU.
    together = pl.sum_horizontal(pl.col(SHARES).sum()).alias("pct")
    per_cpu = (of_all if of_all.height else rows).group_by("ts", "interval_s", "cpu", maintain_order=True).agg(together)
    return (
        per_cpu.group_by("ts", "interval_s", maintain_order=True)
        .agg(pl.col("pct").mean())
        .sort("ts", maintain_order=True)
    )


def share(dataset: Dataset) -> float | None:
    """Share (0 to 1) of the CPUs' time spent on address translation; null when it was not measured."""
    pct = figures.mean(by_moment(dataset), "pct")
    return None if pct is None else pct / 100


def by_page(dataset: Dataset) -> list[Translation]:
    """Where the time went by mode and page size, as means over the CPUs, largest first."""
    rows = dataset.frame("translation").filter(pl.col("cpu").is_not_null())
    grouped = rows.group_by("mode", "page_bytes", maintain_order=True).agg(
        pl.sum_horizontal("dtlb_pct", "dtsb_pct").mean().alias("data"),
        pl.sum_horizontal("itlb_pct", "itsb_pct").mean().alias("code"),
    )
    found = [Translation(*row) for row in grouped.iter_rows()]
    return sorted(found, key=lambda part: -(part.data_pct + part.code_pct))


def walkers(dataset: Dataset) -> list[Walker]:
    """The processes of databases that the processor's counters tell of, that with most cycles in walks first."""
    told = {name: {one.entity: one.mean for one in figures.figures(dataset, name)} for name in (WALKS, MISSES)}
    found = [
        Walker(one.entity, told[WALKS].get(one.entity), one.mean, told[MISSES].get(one.entity))
        for one in figures.figures(dataset, CYCLES)
        if one.entity
    ]
    return sorted(found, key=lambda one: -(one.walk_pct or 0.0) * one.cycles_per_s)


def walk_share(dataset: Dataset) -> float | None:
    """Share (0 to 1) of the cycles of these processes with a walk going on; null where none is told."""
    told = [(one.walk_pct, one.cycles_per_s) for one in walkers(dataset) if one.walk_pct is not None]
    cycles = sum(per_s for _, per_s in told)
    return sum(pct * per_s for pct, per_s in told) / cycles / 100 if cycles else None


def faults(dataset: Dataset) -> list[Faults]:
    """Faults since boot by each pair of counters that the dataset holds, summed over CPUs, as last read."""
    last = (
        dataset.frame("statistic")
        .filter(pl.col("name").is_in([name for pair in COUNTERS for name in pair]))
        .group_by("name", "entity", maintain_order=True)
        .agg(pl.col("value").last())
        .group_by("name", maintain_order=True)
        .agg(pl.col("value").sum())
    )
    counted = dict(last.rows())
    told = [pair for pair in COUNTERS if counted.get(pair[0]) and pair[1] in counted]
    return [Faults(*pair, counted[pair[0]], counted[pair[1]]) for pair in told]


def entries(memory_bytes: float, page_bytes: float) -> int:
    """Translations needed to reach so much memory.

    >>> entries(16 * 2**30, 8192), entries(12 * 2**30, 4 * 2**20), entries(2100 * 2**20, 4 * 2**20)
    (2097152, 3072, 525)
    """
    return ceil(memory_bytes / page_bytes)


def tsb_bytes(memory_bytes: float, page_bytes: float) -> int:
    """Size of a translation storage buffer that holds all of them, 16 bytes each (K. Manoharan, 2008).

    >>> tsb_bytes(12 * 2**30, 4 * 2**20)
    49152
    """
    return entries(memory_bytes, page_bytes) * TSB_ENTRY_BYTES


def page_table_bytes(sessions: int, mapped_bytes: float, page_bytes: float = 4096) -> int:
    """Page tables of sessions that each map so much shared memory, 8 bytes a page (J. Doelle and S. Langer, 2012).

    >>> page_table_bytes(100, 4 * 2**30) // 2**20
    800
    """
    return sessions * entries(mapped_bytes, page_bytes) * PAGE_TABLE_ENTRY_BYTES
