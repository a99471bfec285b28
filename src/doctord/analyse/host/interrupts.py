"""Interrupts that one CPU serves while the others have little to do with them."""

from typing import NamedTuple

import polars as pl

from doctord.analyse.figures import mean
from doctord.analyse.spells import held
from doctord.dataset.dataset import Dataset

# A CPU that spends two fifths of its time on interrupts has little left, and packets wait for it.
BUSY_PCT = 40.0
# Spread evenly, each would have as much.
UNEVEN = 4.0
LEAST_SAMPLES = 3


class OneCpu(NamedTuple):
    """The CPU that serves most of the interrupts, means over the time in which it was busy with them, % of a CPU.

    `part` is that time's share of the whole (0 to 1). `sources` are those that come often, as statistics tell them
    (`interrupts_per_s`), most first.
    """

    cpu: int
    irq_pct: float
    idle_pct: float | None
    others_irq_pct: float
    others_idle_pct: float | None
    part: float
    sources: tuple[tuple[str, float], ...]


def on_one_cpu(dataset: Dataset) -> OneCpu | None:
    """The CPU that spends 40 % and more on interrupts, four times as much as the others at those times.

    Null where there is none, or where it was so in bursts only (see `spells`).
    """
    rows = dataset.frame("cpu").filter(pl.col("cpu").is_not_null() & pl.col("irq_pct").is_not_null())
    if rows["cpu"].n_unique() < 2:
        return None
    is_busy = pl.col("irq_pct") >= BUSY_PCT
    lasting = held(rows, is_busy, "cpu").filter("is_lasting")
    counts = rows.filter(is_busy).group_by("cpu", maintain_order=True).len().filter(pl.col("len") >= LEAST_SAMPLES)
    most = lasting.join(counts, on="cpu", maintain_order="left").sort(
        "part", "cpu", descending=[True, False], maintain_order=True
    )
    for cpu, part in most.select("cpu", "part").iter_rows():
        busy = rows.filter(is_busy & (pl.col("cpu") == cpu))
        others = rows.filter(pl.col("cpu") != cpu).join(
            busy, on=["host", "ts"], how="semi", nulls_equal=True, maintain_order="left"
        )
        irq, others_irq = mean(busy, "irq_pct"), mean(others, "irq_pct")
        if irq is not None and others_irq is not None and irq >= UNEVEN * others_irq:
            idle, others_idle = mean(busy, "idle_pct"), mean(others, "idle_pct")
            return OneCpu(cpu, irq, idle, others_irq, others_idle, part, _sources(dataset, cpu))
    return None


def _sources(dataset: Dataset, cpu: int) -> tuple[tuple[str, float], ...]:
    begins = f"CPU {cpu} "
    rows = dataset.frame("statistic").filter(
        (pl.col("name") == "interrupts_per_s") & pl.col("entity").str.starts_with(begins)
    )
    means = rows.group_by("entity", maintain_order=True).agg(pl.col("value").mean())
    worst = means.sort("value", "entity", descending=[True, False], maintain_order=True)
    return tuple((entity.removeprefix(begins), value) for entity, value in worst.iter_rows())
