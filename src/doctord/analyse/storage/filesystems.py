"""File systems: how full they are and what is left, as df counts it: what is reserved for root is neither."""

from typing import Final

import polars as pl

from doctord.dataset.dataset import Dataset
from doctord.dataset.figure import own_figures

# Where PostgreSQL has what parallel workers share (dynamic_shared_memory_type = posix).
SHARED_MEMORY: Final = "/dev/shm"  # noqa: S108 - looked for among mounts, nothing is written there
AVAILABLE_BYTES: Final = pl.coalesce("available_bytes", pl.col("size_bytes") - pl.col("used_bytes"))


def newest(dataset: Dataset) -> pl.DataFrame:
    """Each file system as it was last: the columns of `filesystem`, `used_share` (0 to 1) and `left_bytes`.

    The share is that of the figure `filesystem_used_pct`: used / (used + available).
    """
    used_pct = next(figure.value for figure in own_figures() if figure.name == "filesystem_used_pct")
    return (
        dataset.frame("filesystem")
        .group_by("host", "mount", "device", maintain_order=True)  # sar knows devices, and no mounts
        .last()
        .with_columns(
            (pl.sql_expr(used_pct).cast(pl.Float64) / 100).alias("used_share"), AVAILABLE_BYTES.alias("left_bytes")
        )
    )


def left_bytes(dataset: Dataset, folder: str | None) -> float | None:
    """Room left where a folder lies, in bytes: of the mount that is nearest above it; null where none is known."""
    mount = mount_of(dataset, folder)
    return None if mount is None else rooms(dataset)[mount]


def mount_of(dataset: Dataset, folder: str | None) -> str | None:
    """The mount that is nearest above a folder, of those whose room is known; null where none is."""
    above = [mount for mount in rooms(dataset) if folder and f"{folder}/".startswith(mount.rstrip("/") + "/")]
    return max(above, key=len, default=None)


def rooms(dataset: Dataset) -> dict[str, float]:
    """Bytes left, by mount."""
    return {mount: float(left) for mount, left in newest(dataset).select("mount", "left_bytes").drop_nulls().rows()}
