"""Means of the time since boot in several files, each of which has one: they tell nothing of the times between."""

import polars as pl

from doctord.dataset.dataset import Dataset
from doctord.dataset.tables import MEANS_SINCE_BOOT

OF_HOST = ("cpu", "disk", "memory", "network", "translation")


def without_means_since_boot(dataset: Dataset) -> Dataset:
    """A dataset without the rows of hosts that are means since boot, where there are such of several moments.

    A reader tells of each by an `event` of kind `not measured` at the moment of the report. One alone is left, as
    nothing is judged by it.
    """
    told = dataset.frame("event").filter(kind="not measured", subject=MEANS_SINCE_BOOT)
    if told["ts"].n_unique() < 2:
        return dataset
    frames = {name: dataset.frame(name) for name in OF_HOST if name in dataset.tables}
    is_mean = pl.col("interval_s").is_null() & pl.col("ts").is_in(told["ts"].unique(maintain_order=True).implode())
    return dataset.replaced({name: frame.filter(~is_mean) for name, frame in frames.items()})
