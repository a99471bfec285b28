"""CPU, memory and file systems of the hosts of a lake, under the names of OpenTelemetry's semantic conventions.

What these conventions want as counters (`system.disk.io`, `system.network.io`) is not told: a lake holds rates.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

import polars as pl

from doctord.app.metrics_out.samples import Sample
from doctord.lake.query import Lake

LATELY: Final = timedelta(minutes=1)
# Capacity is looked at less often than CPUs.
OF_SPACE: Final = timedelta(minutes=10)
_CPU: Final = "system_cpu_utilization_ratio"
_MODES: Final = {
    "usr_pct": "user", "sys_pct": "system", "wait_io_pct": "iowait", "irq_pct": "interrupt", "steal_pct": "steal",
    "idle_pct": "idle",
}  # fmt: skip
_NEEDED: Final = {"cpu": "cpu IS NULL", "memory": "true", "filesystem": "true"}


def host_figures(lake: Path, until: datetime) -> list[Sample]:
    """The mean of the last minute of each host, file systems as they were seen last.

    Raises:
        LakeError: there is no lake, or it cannot be read.
    """
    found = Lake(lake).dataset(until - OF_SPACE, until, _NEEDED)
    lately = pl.col("ts") > until - LATELY
    means = found.frame("cpu").filter(lately).group_by("host", maintain_order=True).agg(pl.col(*_MODES).mean())
    sizes = found.frame("memory").filter(lately).group_by("host", maintain_order=True).last()
    mounts = found.frame("filesystem").group_by("host", "mount", "device", maintain_order=True).last()
    return [
        *(one for row in means.iter_rows(named=True) for one in _cpu(row)),
        *(one for row in sizes.iter_rows(named=True) for one in _memory(row)),
        *(one for row in mounts.iter_rows(named=True) for one in _filesystem(row)),
    ]


def _cpu(row: dict[str, Any]) -> Iterator[Sample]:
    for column, mode in _MODES.items():
        if row[column] is not None:
            labels = {"host": row["host"], "cpu.mode": mode}
            yield Sample(_CPU, labels, row[column] / 100, "Part of all CPUs' time, over the last minute.")


def _memory(row: dict[str, Any]) -> Iterator[Sample]:
    total, free, cached = row["total_bytes"], row["free_bytes"], row["page_cache_bytes"]
    if None not in (total, free, cached):
        for state, size in {"used": total - free - cached, "free": free, "cached": cached}.items():
            labels = {"host": row["host"], "system.memory.state": state}
            yield Sample("system_memory_usage_bytes", labels, size, "Memory by what it is used for.")
    if row["available_bytes"] is not None:
        about = "What a new program could get without swapping."
        yield Sample("system_linux_memory_available_bytes", {"host": row["host"]}, row["available_bytes"], about)
    if row["swap_total_bytes"] and row["swap_free_bytes"] is not None:
        part = 1 - row["swap_free_bytes"] / row["swap_total_bytes"]
        yield Sample("system_paging_utilization_ratio", {"host": row["host"]}, part, "Part of the swap space in use.")


def _filesystem(row: dict[str, Any]) -> Iterator[Sample]:
    if not row["size_bytes"] or row["used_bytes"] is None:
        return
    labels = {"host": row["host"], "system.filesystem.mountpoint": row["mount"]}
    labels |= {"system.device": row["device"]} if row["device"] else {}
    part = row["used_bytes"] / row["size_bytes"]
    yield Sample("system_filesystem_utilization_ratio", labels, part, "Part of a file system in use.")
    yield Sample(
        "system_filesystem_usage_bytes", labels | {"system.filesystem.state": "used"}, row["used_bytes"],
        "Bytes of a file system in use.",
    )  # fmt: skip
