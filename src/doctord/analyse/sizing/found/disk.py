"""Disks: requests, their response, and how it follows the load."""

from typing import Any, Final

import polars as pl

from doctord.analyse.sizing.found.finder import Found, FoundCurve, Measured, finds
from doctord.analyse.storage import disks

# A curve has so many points, between loads so far apart: less is chance.
LOADS: Final = 6
VARIED: Final = 2.0


@finds("reads")
def _reads(seen: Measured) -> Found:
    """Reads of all devices added up, in the busiest interval; of volumes and their disks both count."""
    return _busiest(seen, "reads_per_s")


@finds("writes")
def _writes(seen: Measured) -> Found:
    """Writes of all devices added up, likewise."""
    return _busiest(seen, "writes_per_s")


@finds("requests of a LUN")
def _lun(seen: Measured) -> Found:
    """The device and interval with most requests outstanding (iostat, sar -d, recorded)."""
    top = _fullest(seen)
    return (top["requests_per_s"], f"measured: {top['device']}, at its fullest") if top else None


@finds("response time")
def _response(seen: Measured) -> Found:
    """The same device and interval."""
    top = _fullest(seen)
    return (top["ms"] / 1000, f"measured: {top['device']}, at its fullest") if top else None


@finds("response by load")
def _curve(seen: Measured) -> FoundCurve:
    """The intervals of that device, where its load varied twofold."""
    top = _fullest(seen)
    if top is None:
        return None
    rows = disks.intervals(seen.dataset).filter((pl.col("device") == top["device"]) & (pl.col("requests_per_s") > 0))
    rows = rows.drop_nulls("ms").sort("requests_per_s", maintain_order=True)
    if rows.height < LOADS or rows["requests_per_s"][-1] < VARIED * rows["requests_per_s"][0]:
        return None
    groups = rows.with_row_index().group_by(pl.col("index") * LOADS // rows.height, maintain_order=True)
    served = pl.col("requests_per_s")
    means = groups.agg(served.mean(), ((pl.col("ms") * served).sum() / served.sum() / 1000).alias("s"))
    return tuple(means.select("requests_per_s", "s").rows()), f"measured: {top['device']}, by load"


def _busiest(seen: Measured, column: str) -> Found:
    """A column of `disk`, devices added up, in the interval with most requests."""
    rows = seen.dataset.frame("disk").filter(pl.col(column).is_not_null())
    if rows.is_empty():
        return None
    both = pl.sum_horizontal("reads_per_s", "writes_per_s")
    summed = (
        rows.group_by("ts", maintain_order=True)
        .agg(pl.col(column).sum(), both.sum().alias("both"))
        .sort("both", maintain_order=True)
    )
    return float(summed[column][-1]), "measured: all devices added up, in the busiest interval"


def _fullest(seen: Measured) -> dict[str, Any] | None:
    """The interval of a device with most requests outstanding; null where no response was measured."""
    rows = disks.intervals(seen.dataset).filter((pl.col("requests_per_s") > 0) & (pl.col("ms") > 0))
    return (
        rows.sort(pl.col("requests_per_s") * pl.col("ms"), maintain_order=True).row(-1, named=True)
        if rows.height
        else None
    )
