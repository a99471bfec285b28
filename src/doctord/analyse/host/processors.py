"""Processors: the threads that a system schedules on, the cores that these share, and how many tasks wait for one.

Of a processor with several threads for each core (SMT) an idle logical CPU is no idle CPU: with one busy thread on each
core all cores are busy. On AIX the CPU time of a process is what it used of a core (the PURR register), and not the
time on its thread: sessions that share cores are on a CPU, and part of their time is counted as neither CPU nor a wait.

Sources: Oracle Database Reference 19c, V$OSSTAT; IBM, "PowerVM Virtualization Introduction and Configuration"
(SG24-7940); AIX documentation, lparstat; Z. Nyiri, "CPU utilization on AIX is different", 2017.
"""

from typing import NamedTuple

import polars as pl

from doctord.analyse.figures import figures, mean
from doctord.dataset.dataset import Dataset

OSSTAT = "v$osstat."
LOGICAL = (f"{OSSTAT}NUM_LCPUS", f"{OSSTAT}NUM_CPUS", "LPAR.logicalCPUs")
VIRTUAL = (f"{OSSTAT}NUM_VCPUS", "LPAR.virtualCPUs")
CORES = (f"{OSSTAT}NUM_CPU_CORES",)
CONSUMED = ("lparstat.physc", "LPAR.PhysicalCPU", "sar.physc", "vmstat.cpu pc")
ENTITLED = ("LPAR.entitled",)
# What only a partition has: where one of these is told, CPU time is counted in parts of cores.
OF_A_PARTITION = (f"{OSSTAT}NUM_LCPUS", *VIRTUAL, *CONSUMED)
THREADS = {"On": 2.0, "Off": 1.0}
ALL_BUSY = 0.9


class Processors(NamedTuple):
    """The CPUs of all hosts together, as numbers of them; null is what was not told.

    `logical` are the threads that the system schedules on, `cores` what they share (the virtual CPUs of a partition),
    `busy` the logical CPUs at work on average, `waiting` the tasks that were ready and waited for one, `consumed` the
    cores that a partition used, of `limit` at most. `in_cores`: CPU time is counted in parts of cores.
    """

    logical: float | None
    cores: float | None
    busy: float | None
    waiting: float | None
    consumed: float | None
    limit: float | None
    in_cores: bool

    @property
    def share_cores(self) -> bool:
        """Whether several logical CPUs share a core."""
        return self.logical is not None and self.cores is not None and self.logical > self.cores

    @property
    def all_cores_busy(self) -> bool:
        """Whether about every core has a thread at work, though other threads of it be idle."""
        return self.share_cores and self.busy is not None and self.busy >= ALL_BUSY * (self.cores or 0.0)

    @property
    def used_up(self) -> bool:
        """Whether a partition used what it may."""
        return self.consumed is not None and bool(self.limit) and self.consumed >= ALL_BUSY * (self.limit or 0.0)


def processors(dataset: Dataset) -> Processors:
    """The CPUs of a dataset."""
    logical = _first(dataset, LOGICAL) or _configured(dataset, "lcpu")
    virtual = _first(dataset, VIRTUAL) or _by_threads(dataset)
    capped = _told(dataset, "mode") == "Capped" or bool(_first(dataset, ("LPAR.Capped",)))
    return Processors(
        logical=logical,
        cores=min((known for known in (virtual, _first(dataset, CORES)) if known), default=None),
        busy=_busy(dataset, logical),
        waiting=_first(dataset, (f"{OSSTAT}OS_CPU_WAIT_TIME",)),
        consumed=_first(dataset, CONSUMED),
        limit=_first(dataset, ENTITLED) or _configured(dataset, "ent") if capped else virtual,
        in_cores=_is_aix(dataset) or any(figures(dataset, name) for name in OF_A_PARTITION),
    )


def _first(dataset: Dataset, names: tuple[str, ...]) -> float | None:
    """The first of these figures that was told, all instances together."""
    return next((sum(one.mean for one in found) for name in names if (found := figures(dataset, name))), None)


def _told(dataset: Dataset, name: str) -> str | None:
    """A word of lparstat's first line."""
    values = dataset.frame("setting").filter(pl.col("name") == f"lparstat.{name}")["value"].drop_nulls()
    return str(values.last()) if values.len() else None


def _configured(dataset: Dataset, name: str) -> float | None:
    """A number of lparstat's first line."""
    value = _told(dataset, name) or ""
    return float(value) if value.replace(".", "", 1).isdigit() else None


def _by_threads(dataset: Dataset) -> float | None:
    """Virtual CPUs, of logical ones and the threads that each has."""
    logical, threads = (
        _configured(dataset, "lcpu"),
        _configured(dataset, "smt") or THREADS.get(_told(dataset, "smt") or ""),
    )
    return logical / threads if logical and threads else None


def _busy(dataset: Dataset, logical: float | None) -> float | None:
    told = _first(dataset, (f"{OSSTAT}BUSY_TIME",))
    if told is not None or logical is None:
        return told
    host = dataset.frame("cpu").filter(pl.col("cpu").is_null())
    idle = mean(host, "idle_pct")
    return None if idle is None else logical * (100 - idle - (mean(host, "wait_io_pct") or 0.0)) / 100


def _is_aix(dataset: Dataset) -> bool:
    platforms = dataset.frame("setting").filter(pl.col("name") == "report.platform")["value"].drop_nulls()
    return bool(platforms.str.contains("AIX").any())
