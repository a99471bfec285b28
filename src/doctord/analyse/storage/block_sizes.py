"""Sizes in which requests arrive at a device, and whether they are pieces of larger ones."""

from typing import NamedTuple

import polars as pl

from doctord.dataset.dataset import Dataset

SECTOR_BYTES = 512


class Sizes(NamedTuple):
    """Requests of one device and operation in a trace.

    `sizes` holds (bytes, how many), the most frequent first; `continued` is the share (0 to 1) of requests that begin
    where the one before ended.
    """

    device: str
    operation: str
    requests: int
    sizes: tuple[tuple[int, int], ...]
    continued: float

    @property
    def whole_block(self) -> int | None:
        """The smallest size of all, where every other is a multiple of it: blocks of that size arrive whole."""
        smallest = min(size for size, _ in self.sizes)
        return None if any(size % smallest for size, _ in self.sizes) else smallest

    @property
    def mean_run(self) -> float:
        """Mean number of requests in a row that follow one another on the device."""
        breaks = self.requests * (1 - self.continued)
        return self.requests / breaks if breaks else float(self.requests)


def block_sizes(dataset: Dataset) -> list[Sizes]:
    """Sizes by device and operation, the most requests first; requests without a place, as flushes, are left out.

    A request that the host splits arrives as pieces, each of which begins where the one before ended.
    """
    rows = dataset.frame("block_io").filter(pl.col("sector").is_not_null() & (pl.col("bytes") > 0))
    found = [
        _sizes(str(device), str(operation), part)
        for (device, operation), part in rows.partition_by("device", "operation", as_dict=True).items()
    ]
    return sorted(found, key=lambda sizes: (-sizes.requests, sizes.device, sizes.operation))


def _sizes(device: str, operation: str, rows: pl.DataFrame) -> Sizes:
    ended_at = (pl.col("sector") + pl.col("bytes") // SECTOR_BYTES).shift(1)
    follows = (pl.col("sector") == ended_at).fill_null(value=False)
    ordered = rows.sort("ts", maintain_order=True).with_columns(follows.alias("follows"))
    counts = (
        ordered.group_by("bytes", maintain_order=True)
        .len()
        .sort(["len", "bytes"], descending=[True, False], maintain_order=True)
    )
    return Sizes(
        device,
        operation,
        ordered.height,
        tuple(counts.rows()),
        float(ordered["follows"].mean() or 0.0),  # type: ignore[arg-type]
    )
