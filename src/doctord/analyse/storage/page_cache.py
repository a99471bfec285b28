"""Data files in the page cache: how much of them is there, and whether what was read stays."""

from typing import NamedTuple

import polars as pl

from doctord.analyse import figures
from doctord.dataset.dataset import Dataset

CACHED = "page_cache.cached_bytes"


class CachedFiles(NamedTuple):
    """The largest data files below a server's folder: size, and what of them was cached at the first and the last look.

    `data_bytes` is the size of all data files, null where there are too many to tell. `evicted_bytes` is what the
    kernel dropped because memory was wanted, and would have kept with a cache as large as the memory in use; null where
    the kernel does not tell.
    """

    folder: str
    data_bytes: float | None
    file_bytes: float
    first_bytes: float
    cached_bytes: float
    evicted_bytes: float | None

    @property
    def cached_share(self) -> float:
        """Share (0 to 1) of the files that is cached."""
        return self.cached_bytes / self.file_bytes


def cached_files(dataset: Dataset) -> list[CachedFiles]:
    """The data files of each server that was looked at, largest first; empty where none was."""
    sizes = {figure.entity: figure.last for figure in figures.figures(dataset, "page_cache.file_bytes")}
    data = {figure.entity: figure.last for figure in figures.figures(dataset, "page_cache.data_bytes")}
    evicted = {figure.entity: figure.last for figure in figures.figures(dataset, "page_cache.recently_evicted_bytes")}
    looks = dataset.frame("statistic").filter(pl.col("name") == CACHED).sort("ts", maintain_order=True)
    ends = looks.group_by("entity", maintain_order=True).agg(
        pl.col("value").first().alias("first"), pl.col("value").last().alias("last")
    )
    found = [
        CachedFiles(folder, data.get(folder), sizes[folder], first, last, evicted.get(folder))
        for folder, first, last in ends.drop_nulls().iter_rows()
        if sizes.get(folder)
    ]
    return sorted(found, key=lambda files: -files.file_bytes)


def is_direct(dataset: Dataset, folder: str) -> bool:
    """Whether a server has data files open around the page cache.

    Those of its engine are, then: MariaDB has as many of system tables beside them, which are not.
    """
    opened = figures.figures(dataset, "open_files.direct")
    return any(figure.entity == f"{folder} data" and figure.last > 0 for figure in opened)
