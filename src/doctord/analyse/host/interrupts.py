"""Interrupts that one CPU serves while the others have little to do with them."""

from dataclasses import dataclass

import polars as pl

from doctord.dataset.dataset import Dataset

# A CPU that spends two fifths of its time on interrupts has little left, and packets wait for it.
BUSY_PCT = 40.0
# Spread evenly, each would have as much.
UNEVEN = 4.0
LEAST_SAMPLES = 3


@dataclass(frozen=True, slots=True)
class OneCpu:
    """The CPU that serves most of the interrupts, means over the time in percent of a CPU.

    `sources` are those that come often, as statistics tell them (`interrupts_per_s`), most first.
    """

    cpu: int
    irq_pct: float
    idle_pct: float | None
    others_irq_pct: float
    others_idle_pct: float | None
    sources: tuple[tuple[str, float], ...]


def on_one_cpu(dataset: Dataset) -> OneCpu | None:
    """The CPU that spends 40 % and more on interrupts, four times as much as the others; null where there is none."""
    rows = dataset.frame("cpu").filter(pl.col("cpu").is_not_null() & pl.col("irq_pct").is_not_null())
    means = rows.group_by("cpu", maintain_order=True).agg(
        pl.col("irq_pct").mean(), pl.col("idle_pct").mean(), count=pl.len()
    )
    if means.height < 2:
        return None
    first, *others = means.sort("irq_pct", "cpu", descending=[True, False], maintain_order=True).to_dicts()
    others_irq = sum(other["irq_pct"] for other in others) / len(others)
    if first["count"] < LEAST_SAMPLES or first["irq_pct"] < max(BUSY_PCT, UNEVEN * others_irq):
        return None
    idle = [other["idle_pct"] for other in others if other["idle_pct"] is not None]
    others_idle = sum(idle) / len(idle) if idle else None
    sources = _sources(dataset, first["cpu"])
    return OneCpu(first["cpu"], first["irq_pct"], first["idle_pct"], others_irq, others_idle, sources)


def _sources(dataset: Dataset, cpu: int) -> tuple[tuple[str, float], ...]:
    begins = f"CPU {cpu} "
    rows = dataset.frame("statistic").filter(
        (pl.col("name") == "interrupts_per_s") & pl.col("entity").str.starts_with(begins)
    )
    means = rows.group_by("entity", maintain_order=True).agg(pl.col("value").mean())
    worst = means.sort("value", "entity", descending=[True, False], maintain_order=True)
    return tuple((entity.removeprefix(begins), value) for entity, value in worst.iter_rows())
