"""How long the sessions of one server were on a CPU, and how long they waited for one.

Samples tell what a session waits for; of one that waits for nothing they tell neither whether it is on a CPU, nor that
it waits for one while its state still says idle, or names the wait that has just ended. The kernel tells both.
"""

from math import sqrt
from typing import NamedTuple

import polars as pl

from doctord.analyse.backends import Backends, backends, run_queue_share
from doctord.analyse.figures import figures
from doctord.analyse.spells import covered_s
from doctord.dataset.dataset import Dataset

READ, BLOCKS_READ = "DataFileRead", "pg_stat_database.blks_read"
# A block of 8 KiB is copied in a few microseconds; the quickest disks take more than fifty.
COPY_S = 50e-6
# Of 43 recordings of the lab the kernel counted more than was sampled in 42, and 9 % less in one.
LEAST_OFF = 0.25
FEWEST_SAMPLES = 20
# Standard deviations by which a count of samples differs from what is expected once in a thousand times.
CHANCE = 3.0
ON_CPU = ((pl.col("wait_class") == "CPU") & (pl.col("event") == "CPU")).fill_null(value=False)

# What a thread of MySQL that makes a plan does, or wants to: samples that found it on a disk tell that instead.
PLANNING = ((pl.col("wait_class") == "Other") & (pl.col("wait_kind") == "parse")).fill_null(value=False)


class ProcessorTime(NamedTuple):
    """Seconds on a CPU and in the run queue, of the sessions of one server.

    `unsampled_s` is the part of both in which samples had the session for idle; it is 0 where the kernel's count is not
    known. `in_waits_s` is the part in which they had it waiting for something else: it is to be taken off those waits.
    Reads out of the page cache, CPU time as well, are none of these. `off_cpu_s` is what samples had at work, waiting
    for nothing, while the kernel counted neither: sessions that sleep where the server has no wait event.
    `queueing` (0 to 1) is the part of PLANNING that stands in `run_queue_s`; the rest of that is not in `cpu_s`.
    `in_untold_s` is the part of both in which samples were `is_untold`: it is to be taken off those.
    """

    cpu_s: float
    run_queue_s: float
    unsampled_s: float = 0.0
    in_waits_s: float = 0.0
    off_cpu_s: float = 0.0
    queueing: float = 0.0
    in_untold_s: float = 0.0


def processor_time(dataset: Dataset, db: str | None, active: pl.DataFrame, looks: pl.DataFrame) -> ProcessorTime:
    """CPU and run queue of one server's sessions.

    Args:
        dataset: for processes, settings and statements.
        db: the server.
        active: its samples of active sessions.
        looks: rows that tell when its sessions were sampled, as `backends` takes them.
    """
    counted = backends(dataset, db, looks)
    if counted is not None and counted.are_threads:
        return _of_threads(active, counted)
    on_cpu = active.filter(ON_CPU)
    is_counted = pl.col("pid").is_in(counted.by_pid["pid"].implode() if counted else []).fill_null(value=False)
    kernel_s = counted.cpu_s + counted.run_wait_s if counted else 0.0
    seen_s, other_s = (float(on_cpu.filter(rows)["interval_s"].sum()) for rows in (is_counted, ~is_counted))
    if counted is not None and counted.is_all and _is_off_cpu(on_cpu, seen_s, kernel_s):
        queueing = counted.run_wait_s / kernel_s if kernel_s else 0.0
        return ProcessorTime(
            cpu_s=counted.cpu_s + other_s * (1 - queueing),
            run_queue_s=counted.run_wait_s + other_s * queueing,
            off_cpu_s=seen_s - kernel_s,
        )
    if counted is None or kernel_s <= seen_s:
        queueing = run_queue_share(dataset, active["pid"].unique(maintain_order=True)) or 0.0
        return ProcessorTime((seen_s + other_s) * (1 - queueing), (seen_s + other_s) * queueing)
    queueing = counted.run_wait_s / kernel_s
    waits_s = float(active.filter(~ON_CPU)["interval_s"].sum())
    unseen_s = kernel_s - seen_s
    in_waits_s = unseen_s * queueing * _asleep_in_waits(dataset, db, counted)
    in_waits_s = min(max(in_waits_s, _beyond_life_s(active, counted)), unseen_s, waits_s)
    copied_s = min(unseen_s * (1 - queueing), unseen_s - in_waits_s, _copied_s(dataset, db, active, counted))
    return ProcessorTime(
        cpu_s=counted.cpu_s - copied_s + other_s * (1 - queueing),
        run_queue_s=counted.run_wait_s + other_s * queueing,
        unsampled_s=unseen_s - in_waits_s - copied_s,
        in_waits_s=in_waits_s,
    )


def is_untold(wait_class: str | None, event: str | None) -> bool:
    """Whether neither the server's state nor the kernel, asked a moment later, tells what a sampled thread was at.

    A state that nobody knows and that says it waits is a wait.
    """
    return wait_class == "Unaccounted" and "wait" not in (event or "").lower()


def _of_threads(active: pl.DataFrame, counted: Backends) -> ProcessorTime:
    """Of sessions that are threads of one process: the part of the run queue is that of all of them together."""
    counted_s = counted.cpu_s + counted.run_wait_s
    queueing = counted.run_wait_s / counted_s if counted_s else 0.0
    computing_s, planning_s = (float(active.filter(rows)["interval_s"].sum()) for rows in (ON_CPU, PLANNING))
    by_event = active.group_by("wait_class", "event", maintain_order=True).agg(pl.col("interval_s").sum()).iter_rows()
    untold_s = sum(float(seconds) for wait_class, event, seconds in by_event if is_untold(wait_class, event))
    spent_s = max(counted_s, computing_s + planning_s)
    in_untold_s = min(spent_s - computing_s - planning_s, untold_s)
    return ProcessorTime(
        cpu_s=(spent_s - planning_s) * (1 - queueing),
        run_queue_s=spent_s * queueing,
        unsampled_s=spent_s - computing_s - planning_s - in_untold_s,
        queueing=queueing,
        in_untold_s=in_untold_s,
    )


def _is_off_cpu(on_cpu: pl.DataFrame, seen_s: float, kernel_s: float) -> bool:
    """Whether so much less was counted than sampled that it is no chance: the kernel's count holds all work.

    The number of samples that find a session at work varies as counts of independent events do (Poisson).
    """
    samples = on_cpu.height
    if on_cpu["ts"].n_unique() < FEWEST_SAMPLES:
        return False
    chance_s = CHANCE * sqrt(samples) * seen_s / samples
    return seen_s - kernel_s >= max(LEAST_OFF * seen_s, chance_s)


def _beyond_life_s(active: pl.DataFrame, counted: Backends) -> float:
    """Seconds by which waits and the kernel's count are longer than backends were there: so much is in both."""
    waits = active.filter(~ON_CPU).group_by("pid", maintain_order=True).agg(pl.col("interval_s").sum().alias("waits_s"))
    both = counted.by_pid.join(waits, on="pid", how="inner", maintain_order="left")
    return float(both.select((pl.col("spent_s") + pl.col("waits_s") - pl.col("there_s")).clip(0).sum()).item() or 0.0)


def _copied_s(dataset: Dataset, db: str | None, active: pl.DataFrame, counted: Backends) -> float:
    """Seconds of reads that found their blocks in the page cache: a copy, by the CPU, that samples have for a wait.

    They stay reads, as whoever looks at reads expects, and are taken off the CPU.
    """
    read_s = float(active.filter(pl.col("event") == READ)["interval_s"].sum())
    blocks_per_s = sum(figure.mean for figure in figures(dataset, BLOCKS_READ) if figure.db == db)
    blocks = blocks_per_s * counted.seconds
    return read_s if blocks and read_s / blocks <= COPY_S else 0.0


def _asleep_in_waits(dataset: Dataset, db: str | None, counted: Backends) -> float:
    """Of the times that backends were woken and had to queue, the share (0 to 1) in which they woke from a wait.

    Each call of a statement wakes one from its wait for the client; all other sleeps are waits of the statement. Where
    calls or sleeps are not told, all are taken for waits for the client.
    """
    calls = dataset.frame("statement").filter((pl.col("db") == db) & pl.col("calls_per_s").is_not_null())
    seconds = covered_s(calls)
    if not seconds or not counted.sleeps:
        return 0.0
    called_per_s = float((calls["calls_per_s"] * calls["interval_s"]).sum()) / seconds
    return max(1 - called_per_s * counted.seconds / counted.sleeps, 0.0)
