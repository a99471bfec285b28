"""Control groups: how near the database's groups are to the limits that were set for them."""

import re
from collections.abc import Collection
from typing import NamedTuple

import polars as pl

from doctord.analyse.figures import Statistic, figures
from doctord.dataset.dataset import Dataset

READ, WRITE = "read", "write"
IO_LIMITS = {
    "io.read_limit_bytes_per_s": ("io.read_bytes_per_s", READ),
    "io.read_limit_per_s": ("io.reads_per_s", READ),
    "io.write_limit_bytes_per_s": ("io.write_bytes_per_s", WRITE),
    "io.write_limit_per_s": ("io.writes_per_s", WRITE),
}


class CpuGroup(NamedTuple):
    """A group's use of CPU, in the names of component `cgroup`; what was not measured is null."""

    path: str
    limit_cpus: float | None
    throttled_s_per_s: float | None
    nr_throttled_per_s: float | None
    nr_periods_per_s: float | None

    @property
    def cut_short(self) -> float | None:
        """Share (0 to 1) of the periods in which the group used up its quota and was stopped."""
        if self.nr_throttled_per_s is None or not self.nr_periods_per_s:
            return None
        return self.nr_throttled_per_s / self.nr_periods_per_s


class MemoryGroup(NamedTuple):
    """A group's memory, in the names of component `cgroup`; what was not measured is null.

    `kills` are the processes that the kernel killed in it, over the time for which that was counted. `is_above` says
    that it holds another group that is told of: of version 2 it counts the kills of all groups below it, whosever.
    """

    path: str
    limit_bytes: float | None
    usage_bytes: float | None
    failures_per_s: float | None
    refaults_per_s: float | None
    oom_kills_per_s: float | None
    pressure_some_pct: float | None
    kills: float | None = None
    is_above: bool = False


class IoLimit(NamedTuple):
    """One I/O limit of a group on a device, and how it is used.

    `entity` is `PATH DEVICE`; `rate` and `limit` are bytes or requests per second, as `name` says; `part` is the share
    (0 to 1) of the time in which the rate was at the limit.
    """

    entity: str
    name: str
    direction: str
    limit: float
    rate: float
    part: float


def io_limits(dataset: Dataset, near: float) -> list[IoLimit]:
    """The I/O limits of the database's groups with their use, the most used first.

    Args:
        dataset: holds the figures of component `cgroup`.
        near: from which share (0 to 1) of a limit on a rate counts as at the limit; requests are let through in
            slices, so that a group held at its limit is seldom measured at exactly that.
    """
    found = [
        _io_limit(dataset, limit, rate_name, direction, near)
        for name, (rate_name, direction) in IO_LIMITS.items()
        for limit in figures(dataset, name)
        if limit.last > 0
    ]
    return sorted((limit for limit in found if limit), key=lambda limit: (-limit.part, -limit.rate / limit.limit))


def _io_limit(dataset: Dataset, limit: Statistic, rate_name: str, direction: str, near: float) -> IoLimit | None:
    rates = dataset.frame("statistic").filter(
        (pl.col("name") == rate_name) & (pl.col("entity") == limit.entity) & (pl.col("interval_s") > 0)
    )
    rates = rates.filter(pl.col("value").is_not_null())
    if rates.is_empty():
        return None
    seconds = rates["interval_s"]
    at_limit = (rates["value"] >= near * limit.last).cast(pl.Float64)
    return IoLimit(
        entity=limit.entity or "",
        name=limit.name,
        direction=direction,
        limit=limit.last,
        rate=float((rates["value"] * seconds).sum()) / float(seconds.sum()),
        part=float((at_limit * seconds).sum()) / float(seconds.sum()),
    )


def memory_groups(dataset: Dataset) -> list[MemoryGroup]:
    """The groups with figures of memory, in the order of their paths."""
    told = _means(dataset, MemoryGroup, "memory", besides=("kills", "is_above"))
    kills = {one.entity or "": one.mean * one.seconds for one in figures(dataset, "memory.oom_kills_per_s")}
    paths = [path for path, _ in told]
    return [
        MemoryGroup(path, **means, kills=kills.get(path), is_above=any(_is_below(other, path) for other in paths))
        for path, means in told
    ]


def _is_below(path: str, above: str) -> bool:
    return path != above and path.startswith(f"{above.rstrip('/')}/")


def in_group(path: str) -> pl.Expr:
    """Whether a process (column unit, the innermost unit or container, or the path) is in the group of a path.

    Of a unit or container inside of a further group, only that one is known: it is not found by those around it.
    """
    innermost = path.rstrip("/").rpartition("/")[2]
    number = re.search(r"[0-9a-f]{64}", innermost)
    name = f"container {number[0][:12]}" if number else innermost
    below = path.rstrip("/") + "/"
    return (pl.col("unit").is_in([name, path]) | pl.col("unit").str.starts_with(below)).fill_null(value=False)


def cpu_groups(dataset: Dataset) -> list[CpuGroup]:
    """The groups with figures of CPU, in the order of their paths: each after the groups that it is in."""
    return [CpuGroup(path, **means) for path, means in _means(dataset, CpuGroup, "cpu")]


def _means(
    dataset: Dataset, kind: type[CpuGroup | MemoryGroup], resource: str, besides: Collection[str] = ()
) -> list[tuple[str, dict[str, float | None]]]:
    """By path, the mean of each figure that `kind` has a field for; null where it was not measured."""
    names = [name for name in kind._fields if name not in ("path", *besides)]
    found = {name: {item.entity or "": item.mean for item in figures(dataset, f"{resource}.{name}")} for name in names}
    paths = sorted({path for means in found.values() for path in means})
    return [(path, {name: found[name].get(path) for name in names}) for path in paths]
