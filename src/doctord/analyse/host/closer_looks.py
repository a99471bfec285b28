"""Processes that were looked at closer: those moved from CPU to CPU, and those that call the kernel all the time.

Both are told in some intervals only (docs/explanation/linux-figures.md): the means are over these.
"""

from typing import NamedTuple

import polars as pl

from doctord.dataset.dataset import Dataset

# What the scheduler itself takes a move to cost: a task that ran less long ago finds its data in the caches it leaves
# (sysctl_sched_migration_cost in kernel/sched/fair.c).
MOVE_S = 0.0005
_WEIGHT = pl.col("interval_s").fill_null(1.0)
_CPU = (pl.col("usr_pct") + pl.col("sys_pct")) / 100


class Moved(NamedTuple):
    """A process by its moves between CPUs, means over the intervals in which they were counted.

    `forced_per_s` is the least number of moves for which it had not gone to sleep: when a task wakes up, the scheduler
    chooses a CPU anew, which costs less and is its business. `cpus` is what it used of one CPU.
    """

    pid: int
    command: str
    user: str | None
    unit: str | None
    moves_per_s: float
    forced_per_s: float
    cpus: float

    @property
    def lost(self) -> float:
        """Share (0 to 1) of its CPU time that these moves cost at most."""
        return min(self.forced_per_s * MOVE_S / self.cpus, 1.0)


class Caller(NamedTuple):
    """A process by its system calls, means over the intervals in which they were counted.

    `kernel` is its time in the kernel, and `cpus` all that it used, of one CPU.
    """

    pid: int
    command: str
    user: str | None
    unit: str | None
    calls_per_s: float
    kernel: float
    cpus: float

    @property
    def calls_per_cpu_s(self) -> float:
        """Calls for each second that it was on a CPU."""
        return self.calls_per_s / self.cpus

    @property
    def call_s(self) -> float:
        """What a call takes in the kernel."""
        return self.kernel / self.calls_per_s


def moved(dataset: Dataset) -> list[Moved]:
    """The processes whose moves were counted, that with most of those that were forced first."""
    # Without voluntary switches it is not known how often it slept.
    forced = (pl.col("migrations_per_s") - pl.col("vcsw_per_s")).clip(lower_bound=0.0)
    rows = _means(dataset, "migrations_per_s", moves_per_s=pl.col("migrations_per_s"), forced_per_s=forced, cpus=_CPU)
    known = rows.drop_nulls(["forced_per_s", "cpus"]).filter(pl.col("cpus") > 0)
    return [Moved(**row) for row in known.sort("forced_per_s", descending=True, maintain_order=True).to_dicts()]


def callers(dataset: Dataset) -> list[Caller]:
    """The processes whose system calls were counted, that with most of them first."""
    calls, kernel = pl.col("syscalls_per_s"), pl.col("sys_pct") / 100
    rows = _means(dataset, "syscalls_per_s", calls_per_s=calls, kernel=kernel, cpus=_CPU)
    known = rows.drop_nulls(["kernel", "cpus"]).filter((pl.col("cpus") > 0) & (pl.col("calls_per_s") > 0))
    return [Caller(**row) for row in known.sort("calls_per_s", descending=True, maintain_order=True).to_dicts()]


def _means(dataset: Dataset, counted: str, **figures: pl.Expr) -> pl.DataFrame:
    """Means of figures by process, over the rows in which one was counted."""
    rows = dataset.frame("process").lazy().filter(pl.col(counted).is_not_null())
    return (
        rows.group_by("pid", "started", maintain_order=True)
        .agg(
            pl.col("command", "user", "unit").last(),
            *(_mean(figure).alias(name) for name, figure in figures.items()),
        )
        .drop("started")
        .filter(pl.col("command").is_not_null())
        .collect(engine="in-memory")
    )


def _mean(figure: pl.Expr) -> pl.Expr:
    """The mean over the rows that tell it, null where none does."""
    weight = _WEIGHT.filter(figure.is_not_null()).sum()
    return pl.when(weight > 0).then((figure * _WEIGHT).sum() / weight)
