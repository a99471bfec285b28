"""Control groups: how near the database's groups are to the limits that were set for them."""

from dataclasses import dataclass

import polars as pl

from doctord.analyse.figures import Figure, figures
from doctord.chart.chart import Chart

READ, WRITE = "read", "write"
IO_LIMITS = {
    "io.read_limit_bytes_per_s": ("io.read_bytes_per_s", READ),
    "io.read_limit_per_s": ("io.reads_per_s", READ),
    "io.write_limit_bytes_per_s": ("io.write_bytes_per_s", WRITE),
    "io.write_limit_per_s": ("io.writes_per_s", WRITE),
}


@dataclass(frozen=True, slots=True)
class IoLimit:
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


def io_limits(chart: Chart, near: float) -> list[IoLimit]:
    """The I/O limits of the database's groups with their use, the most used first.

    Args:
        chart: holds the figures of component `cgroup`.
        near: from which share (0 to 1) of a limit on a rate counts as at the limit; requests are let through in
            slices, so that a group held at its limit is seldom measured at exactly that.
    """
    found = [
        _io_limit(chart, limit, rate_name, direction, near)
        for name, (rate_name, direction) in IO_LIMITS.items()
        for limit in figures(chart, name)
        if limit.last > 0
    ]
    return sorted((limit for limit in found if limit), key=lambda limit: (-limit.part, -limit.rate / limit.limit))


def _io_limit(chart: Chart, limit: Figure, rate_name: str, direction: str, near: float) -> IoLimit | None:
    rates = chart.frame("statistic").filter(
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


def by_group(chart: Chart, *names: str) -> dict[str, dict[str, Figure]]:
    """Figures of component `cgroup` by the group's path and by name; a figure that was not measured is not there."""
    groups: dict[str, dict[str, Figure]] = {}
    for name in names:
        for figure in figures(chart, name):
            groups.setdefault(figure.entity or "", {})[name] = figure
    return groups
