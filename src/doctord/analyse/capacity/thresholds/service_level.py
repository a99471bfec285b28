"""Service levels: how many requests may be slow, in 24 hours or in a hundred, and whether that was kept.

What was measured is scaled to 24 hours before it is judged: 24 slow requests in 17.25 hours are 33 in 24. How far
chance alone may move such a count is said beside it, with Byar's approximation of the exact Poisson limits (N. E.
Breslow and N. E. Day, Statistical Methods in Cancer Research, volume 2, 1987, page 69).
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from typing import Any, Literal, get_args

import polars as pl

from doctord.analyse.capacity.thresholds.plan import NO_PLAN, Plan, plan_of
from doctord.dataset.dataset import Dataset
from doctord.errors import UserError
from doctord.units import parse_duration

DAY_S = 86_400.0
Table = Literal["timing", "latency"]
Z_95 = 1.959964


@dataclass(frozen=True, slots=True)
class ServiceLevel:
    """One service level.

    Attributes:
        name: Its own, for people.
        of: Pattern of the run (of `timing`) or the subject (of `latency`) that it holds for; empty: each.
        table: `timing`, whose source counted the slow requests, or `latency`, whose buckets are counted.
        slower_than_s: In `latency`, what is slow; null in `timing`: the source decided.
        most_per_24h: Slow requests that are still good in 24 hours.
        most_pct: Slow requests that are still good in a hundred.
        reason, source, plan: As in a threshold.
    """

    name: str
    of: str = ""
    table: Table = "timing"
    slower_than_s: float | None = None
    most_per_24h: float | None = None
    most_pct: float | None = None
    reason: str = ""
    source: str = ""
    plan: Plan = NO_PLAN


@dataclass(frozen=True, slots=True)
class Judged:
    """How a service level was kept by one run or subject.

    Attributes:
        level, host, subject: What was judged.
        measured_s: Seconds that were measured, overlapping ones once; null where the source does not tell them.
        requests: Requests in that time; null where nobody counted them.
        slow: Slow requests among them, and `slow_most` as many as there may be where a bucket holds the limit.
        value: `slow` in the unit of the level: in 24 hours, or in a hundred.
        low, high: Between which chance may have moved it, in 95 of 100 cases; null for a share.
        limit: The most that is good.
        is_violated: null where a bucket holds the limit and the answer lies within it.
    """

    level: ServiceLevel
    host: str | None
    subject: str | None
    measured_s: float | None
    requests: int | None
    slow: int
    slow_most: int
    value: float
    low: float | None
    high: float | None
    limit: float
    is_violated: bool | None

    @property
    def is_per_day(self) -> bool:
        """Whether the value is in 24 hours, not in a hundred."""
        return self.low is not None

    @property
    def scaling(self) -> str:
        """How the value came about, in words."""
        if self.measured_s is None or not self.is_per_day:
            return f"{self.slow} of {self.requests} requests"
        hours = self.measured_s / 3600
        return f"{self.slow} in {hours:.4g} h, scaled by 24 / {hours:.4g}"


def judged(levels: Iterable[ServiceLevel], dataset: Dataset) -> Iterator[Judged]:
    """Judge each service level for each run or subject of a dataset; one that it tells nothing of is left out."""
    for level in levels:
        counts = _timed(dataset) if level.table == "timing" else _buckets(dataset, level.slower_than_s or 0.0)
        for count in counts.sort("host", "subject", maintain_order=True).iter_rows(named=True):
            if not level.of or fnmatchcase(count["subject"] or "", level.of):
                yield from _judge(level, count)


def _judge(level: ServiceLevel, count: Mapping[str, Any]) -> Iterator[Judged]:
    days = (count["measured_s"] or 0) / DAY_S
    if level.most_per_24h is not None and days:
        low, high = poisson_limits(count["slow"])
        yield _held(level, count, 1 / days, level.most_per_24h, (low / days, high / days))
    if level.most_pct is not None and count["requests"]:
        yield _held(level, count, 100 / count["requests"], level.most_pct, (None, None))


def _held(
    level: ServiceLevel, count: Mapping[str, Any], scale: float, limit: float, chance: tuple[float | None, float | None]
) -> Judged:
    least, most = count["slow"] * scale, count["slow_most"] * scale
    low, high = chance
    return Judged(
        level, **count, value=least, low=low, high=high, limit=limit,
        is_violated=True if least > limit else None if most > limit else False,
    )  # fmt: skip


def poisson_limits(count: int) -> tuple[float, float]:
    """Between which the expectation of a count lies, in 95 of 100 cases.

    >>> [round(limit, 1) for limit in poisson_limits(10)]
    [4.8, 18.4]
    """
    above = count + 1
    high = above * (1 - 1 / (9 * above) + Z_95 / (3 * math.sqrt(above))) ** 3
    return (count * (1 - 1 / (9 * count) - Z_95 / (3 * math.sqrt(count))) ** 3 if count else 0.0), high


def _timed(dataset: Dataset) -> pl.DataFrame:
    """By host and run: measured_s, requests, slow, slow_most; of whole runs where told, else of their steps."""
    rows = dataset.frame("timing").filter(pl.col("over_limit").is_not_null())
    of_run = ("host", "run")
    is_whole = pl.col("step").is_null()
    rows = rows.filter(is_whole | ~is_whole.any().over(*of_run))
    return _summed(
        rows.select(
            "host",
            "ts",
            pl.col("run").alias("subject"),
            pl.coalesce("interval_s", "duration_s").alias("length_s"),
            "requests",
            pl.col("over_limit").alias("slow"),
            pl.col("over_limit").alias("slow_most"),
        )
    )


def _buckets(dataset: Dataset, slow_s: float) -> pl.DataFrame:
    """The same by host and subject, from the buckets of histograms."""
    limit_us = slow_s * 1e6
    return _summed(
        dataset.frame("latency").select(
            "host",
            "ts",
            "subject",
            pl.col("interval_s").alias("length_s"),
            pl.col("count").alias("requests"),
            pl.when(pl.col("gt_us") >= limit_us).then("count").otherwise(0).alias("slow"),
            pl.when(pl.col("le_us").is_null() | (pl.col("le_us") > limit_us)).then("count").otherwise(0)
            .alias("slow_most"),
        )
    )  # fmt: skip


def _summed(rows: pl.DataFrame) -> pl.DataFrame:
    """Sums by host and subject, with the seconds that their intervals cover together."""
    by = ("host", "subject")
    start = (pl.col("ts") - pl.duration(microseconds=pl.col("length_s") * 1e6)).alias("start")
    covered = pl.col("ts").cum_max().shift(1).over(*by)
    spans = (
        rows.select(*by, "ts", start)
        .drop_nulls("start")
        .sort("start", maintain_order=True)
        .with_columns((pl.col("ts") - pl.max_horizontal("start", covered)).dt.total_seconds(fractional=True).alias("s"))
        .group_by(*by, maintain_order=True)
        .agg(pl.col("s").clip(lower_bound=0).sum().alias("measured_s"))
    )
    known = pl.when(pl.col("requests").is_not_null().all()).then(pl.col("requests").sum())
    sums = rows.group_by(*by, maintain_order=True).agg(known.alias("requests"), pl.col("slow", "slow_most").sum())
    return sums.join(spans, on=by, how="left", nulls_equal=True, maintain_order="left")


def service_level_of(given: Mapping[str, Any], file: str) -> ServiceLevel:
    """The service level of a TOML table.

    Raises:
        UserError: a key is missing, unknown or wrong; the message names file, level and key.
    """
    where = f"{file}: level {str(given.get('name', 'without a name'))!r}"
    known = ["slower_than" if field.name == "slower_than_s" else field.name for field in fields(ServiceLevel)]
    if unknown := given.keys() - set(known):
        raise UserError(f"{where}: there is no key {sorted(unknown)[0]!r}", f"keys are {', '.join(known)}")
    for key in ("name", "of", "table", "slower_than", "reason", "source"):
        if not isinstance(given.get(key, ""), str):
            raise UserError(f"{where}: {key} is {given[key]!r}, no text", f'write {key} = "..."')
    if not given.get("name"):
        raise UserError(f"{where}: without 'name'", "a level has a name, and most_per_24h or most_pct")
    table = given.get("table", "timing")
    if table not in get_args(Table):
        raise UserError(f"{where}: table is {table!r}", f"it is one of {', '.join(get_args(Table))}")
    rest = {key: value for key, value in given.items() if key not in ("slower_than", "plan")}
    _check_limits(given, where)
    return ServiceLevel(
        **rest, slower_than_s=_slower_than(given, table, where), plan=plan_of(given.get("plan", {}), where)
    )


def _check_limits(given: Mapping[str, Any], where: str) -> None:
    limits = {key: given[key] for key in ("most_per_24h", "most_pct") if key in given}
    if not limits:
        raise UserError(f"{where}: without a limit", "write most_per_24h = 30, or most_pct = 0.5")
    for key, limit in limits.items():
        if isinstance(limit, bool) or not isinstance(limit, int | float) or not 0 <= limit < math.inf:
            raise UserError(f"{where}: {key} is {limit!r}, no number from 0", f"write {key} = 30")


def _slower_than(given: Mapping[str, Any], table: str, where: str) -> float | None:
    if (table == "latency") != ("slower_than" in given):
        hint = 'of latency say what is slow, slower_than = "60s"; the source of timing decided it'
        raise UserError(f"{where}: slower_than does not go with table {table!r}", hint)
    try:
        return parse_duration(given["slower_than"]) if table == "latency" else None
    except UserError as refusal:
        raise UserError(f"{where}: slower_than: {refusal}", refusal.hint) from refusal
