"""File systems that become fuller while one looks, and when they would be full at that rate."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import polars as pl

from doctord.analyse.storage.filesystems import AVAILABLE_BYTES
from doctord.dataset.dataset import Dataset

# Two points are joined by a line whatever happened between them.
LEAST_LOOKS: Final = 3


class Filling(NamedTuple):
    """A file system of which less is left at each of the last looks: how much, how much goes a second, for how long.

    `left` and `per_s` are bytes, or percent of the inodes. `over_s` is since when that is so, `looks` how many looks
    that are.
    """

    mount: str | None
    device: str | None
    left: float
    per_s: float
    over_s: float
    looks: int

    @property
    def seconds(self) -> float:
        """Until it is full, at that rate."""
        return self.left / self.per_s


def filling(dataset: Dataset) -> list[Filling]:
    """File systems of which less is left at each of the last looks (three at least), the first to be full at first.

    What was given back before (a log that was archived, files of a sort) does not stop what comes after it.
    """
    return _filling(dataset, AVAILABLE_BYTES)


def at_rest(dataset: Dataset) -> set[tuple[str | None, str | None]]:
    """Mount and device of file systems that had as much left at the last look as at the first, of three at least."""
    looks = (
        dataset.frame("filesystem")
        .with_columns(left=AVAILABLE_BYTES)
        .drop_nulls("left")
        .sort("ts", maintain_order=True)
    )
    by_mount = looks.group_by("mount", "device", maintain_order=True).agg(
        pl.len(), pl.col("left").first().alias("first"), pl.col("left").last().alias("last")
    )
    still = by_mount.filter((pl.col("len") >= LEAST_LOOKS) & (pl.col("last") >= pl.col("first")))
    return {*still.select("mount", "device").iter_rows()}


def losing_inodes(dataset: Dataset) -> list[Filling]:
    """The same of inodes: `left` and `per_s` are percent of all that the file system has."""
    return _filling(dataset, 100 - pl.col("inodes_used_pct"))


def _filling(dataset: Dataset, left: pl.Expr) -> list[Filling]:
    if dataset.frame("filesystem").is_empty():
        return []
    looks = (
        dataset.frame("filesystem")
        .with_columns(left.alias("left"))
        .filter(pl.col("left").is_not_null())
        .sort("ts", maintain_order=True)
    )
    found = []
    for (_, mount, device), rows in looks.group_by("host", "mount", "device", maintain_order=True):
        values, times = rows["left"].to_list(), rows["ts"].to_list()
        first = _falls_since(values)
        over_s = (times[-1] - times[first]).total_seconds()
        if len(values) - first >= LEAST_LOOKS and over_s > 0:
            per_s = (values[first] - values[-1]) / over_s
            found.append(Filling(mount, device, values[-1], per_s, over_s, len(values) - first))
    return sorted(found, key=lambda one: one.seconds)


def _falls_since(left: Sequence[float]) -> int:
    """The place from which on each is less than the one before."""
    first = len(left) - 1
    while first > 0 and left[first] < left[first - 1]:
        first -= 1
    return first
