"""File systems that become fuller while one looks, and when they would be full at that rate."""

from dataclasses import dataclass
from typing import Final

import polars as pl

from doctord.analyse.storage.filesystems import AVAILABLE_BYTES
from doctord.dataset.dataset import Dataset

# Two points are joined by a line whatever happened between them.
LEAST_LOOKS: Final = 3


@dataclass(frozen=True, slots=True)
class Filling:
    """A file system of which less was left at each look: what is left, bytes that go a second, over how many seconds.

    `looks` is how often it was looked at.
    """

    mount: str | None
    device: str | None
    left_bytes: float
    per_s: float
    over_s: float
    looks: int

    @property
    def seconds(self) -> float:
        """Until it is full, at that rate."""
        return self.left_bytes / self.per_s


def filling(dataset: Dataset) -> list[Filling]:
    """File systems of which less was left at each look than at the one before, the one that is full first at first."""
    looks = (
        dataset.frame("filesystem")
        .with_columns(AVAILABLE_BYTES.alias("left_bytes"))
        .filter(pl.col("left_bytes").is_not_null())
        .sort("ts", maintain_order=True)
    )
    seen = looks.group_by("host", "mount", "device", maintain_order=True).agg(
        pl.col("left_bytes").last(),
        (pl.col("left_bytes").first() - pl.col("left_bytes").last()).alias("gone"),
        (pl.col("ts").last() - pl.col("ts").first()).dt.total_microseconds().truediv(1e6).alias("over_s"),
        (pl.col("left_bytes").diff() < 0).sum().alias("fell"),
        pl.len().alias("looks"),
    )
    fell = seen.filter((pl.col("looks") >= LEAST_LOOKS) & (pl.col("fell") == pl.col("looks") - 1))
    found = [
        Filling(mount, device, left, gone / over_s, over_s, looks)
        for _, mount, device, left, gone, over_s, _, looks in fell.iter_rows()
        if over_s > 0
    ]
    return sorted(found, key=lambda one: one.seconds)
