"""Vital signs: the few figures by which an interval is compared with the host's own past."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import polars as pl

from doctord.analyse.figures import told_once
from doctord.analyse.host import translation
from doctord.analyse.time import SAMPLED, active_sessions, processor_times, time_model
from doctord.dataset.dataset import Dataset
from doctord.dataset.tables import WORKING

# What vital signs are made of: tables, each with a condition in SQL on its rows. A past of days is read with no more.
NEEDS = {
    "cpu": "cpu IS NULL",
    "memory": "true",
    "disk": "true",
    "network": "interface IS NULL",
    "session": f"kind IN {WORKING} AND state = 'active'",
    "wait": SAMPLED,
    "translation": "true",
    "block_io": "true",
    "statistic": "name = 'pg_stat_database.xact_commit'",
}
QUEUED_AND_SERVED_MS = pl.col("host_queue_ms") + pl.col("device_ms")
ACTIVE = "active sessions"
TRANSACTIONS = "transactions"
FEWEST_WINDOWS = 10
SCALE_OF_MAD = 1.4826
SELDOM = 4.0
_NONE = pl.DataFrame(schema={"window": pl.Int64, "value": pl.Float64})  # of a sign that was not measured


@dataclass(frozen=True, slots=True)
class Vital:
    """One vital sign: its name, value and unit."""

    name: str
    value: float
    unit: str


class Usual(NamedTuple):
    """What a vital sign used to be: its median over windows of the same length, and what it was seldom above."""

    median: float
    high: float
    windows: int


def vitals(dataset: Dataset, of_samples: Mapping[str, Vital] | None = None) -> dict[str, Vital]:
    """Vital signs of a dataset as a whole, by name; one that was not measured is left out.

    Active sessions are those of the time model: what the kernel counted beyond the samples is among them. `of_samples`
    is what `sampled` gives, where that is known.
    """
    found = dict(sampled(dataset) if of_samples is None else of_samples)
    if ACTIVE in found and any(one.unsampled_s for one in processor_times(dataset).values()):
        found[ACTIVE] = replace(found[ACTIVE], value=time_model(dataset).seconds_per_second)
    return found


def sampled(dataset: Dataset) -> dict[str, Vital]:
    """The same with active sessions as samples alone tell them: a past, which has no processes, has no others."""
    return {
        name: Vital(name, values["value"][0], unit) for name, unit, values in _signs(dataset, None) if values.height
    }


def usual(earlier: Dataset, window_s: float) -> dict[str, Usual]:
    """What was usual in an earlier dataset, cut into windows of the same length.

    High is the median plus four robust standard deviations (1.4826 times the median absolute deviation; Hampel, "The
    influence curve and its role in robust estimation", 1974), and at least the largest but one of the windows.
    """
    return {
        name: _usual(values["value"])
        for name, _, values in _signs(earlier, window_s)
        if values.height >= FEWEST_WINDOWS
    }


def _usual(values: pl.Series) -> Usual:
    median = float(values.median() or 0)  # type: ignore[arg-type]
    deviation = float((values - median).abs().median() or 0) * SCALE_OF_MAD  # type: ignore[arg-type]
    return Usual(median, max(median + SELDOM * deviation, float(values.top_k(2)[-1])), values.len())


def _signs(dataset: Dataset, window_s: float | None) -> list[tuple[str, str, pl.DataFrame]]:
    """Name, unit and a frame of `window`, `value` of each vital sign."""
    host = dataset.frame("cpu").filter(pl.col("cpu").is_null())
    disk = dataset.frame("disk").with_columns(
        ms=pl.max_horizontal("read_ms", "write_ms", "request_ms", QUEUED_AND_SERVED_MS)
    )
    used, pressure = 100 - pl.col("idle_pct") - pl.col("wait_io_pct").fill_null(0), pl.col("pressure_some_pct")
    signs = [
        (ACTIVE, "on average", _active(dataset, host, window_s)),
        (TRANSACTIONS, "per s", _transactions(dataset, window_s)),
        ("CPU used", "%", _means_of_host(host, used, window_s)),
        ("CPU pressure", "% of the time", _means_of_host(host, pressure, window_s)),
        ("memory pressure", "% of the time", _means_of_host(dataset.frame("memory"), pressure, window_s)),
        ("retransmits", "per s", _means(dataset.frame("network"), pl.col("retransmits_per_s"), window_s)),
    ]
    signs.append(
        ("address translation", "% of the time", _means(translation.by_moment(dataset), pl.col("pct"), window_s))
    )
    for (device,), rows in sorted(disk.partition_by("device", as_dict=True).items()):
        signs.append((f"{device} latency", "ms", _means(rows, pl.col("ms"), window_s)))
    for (device,), rows in sorted(dataset.frame("block_io").partition_by("device", as_dict=True).items()):
        signs.append((f"{device} requests", "KiB each", _means(rows, pl.col("bytes") / 1024, window_s)))
    return signs


def _window(window_s: float | None) -> pl.Expr:
    if window_s is None:
        return pl.lit(0, pl.Int64).alias("window")
    return (pl.col("ts").dt.epoch("us") // round(window_s * 1_000_000)).alias("window")


def _means_of_host(frame: pl.DataFrame, value: pl.Expr, window_s: float | None) -> pl.DataFrame:
    """The same of a host as a whole, each second of which counts once, also where several sources tell of it."""
    return _means(told_once(frame.filter(value.is_not_null())), value, window_s)


def _means(frame: pl.DataFrame, value: pl.Expr, window_s: float | None) -> pl.DataFrame:
    """Mean of an expression per window, weighted by interval; windows in which it was not measured are left out."""
    if frame.is_empty():
        return _NONE
    weight = pl.col("interval_s").fill_null(1.0)
    return (
        frame.with_columns(value.alias("value"))
        .filter(pl.col("value").is_not_null())
        .group_by(_window(window_s), maintain_order=True)
        .agg(((pl.col("value") * weight).sum() / weight.sum()).alias("value"))
        .filter(pl.col("value").is_not_nan())
    )


def _active(dataset: Dataset, host: pl.DataFrame, window_s: float | None) -> pl.DataFrame:
    """Average active sessions per window that was observed; nothing when no sessions were sampled."""
    sampled = dataset.frame("wait").filter(pl.sql_expr(SAMPLED))
    if dataset.frame("session").is_empty() and sampled.is_empty():
        return _NONE
    looked = told_once(host if sampled.is_empty() else sampled)
    observed = looked.group_by(_window(window_s), maintain_order=True).agg(pl.col("interval_s").sum().alias("seconds"))
    busy = (
        active_sessions(dataset)
        .group_by(_window(window_s), maintain_order=True)
        .agg(pl.col("interval_s").sum().alias("busy"))
    )
    return (
        observed.filter(pl.col("seconds") > 0)
        .join(busy, on="window", how="left", maintain_order="left")
        .select("window", (pl.col("busy").fill_null(0.0) / pl.col("seconds")).alias("value"))
    )


def _transactions(dataset: Dataset, window_s: float | None) -> pl.DataFrame:
    commits = dataset.frame("statistic").filter(pl.col("name") == "pg_stat_database.xact_commit")
    per_database = [
        _means(rows, pl.col("value"), window_s) for rows in commits.partition_by("db", "entity", include_key=True)
    ]
    if not per_database:
        return _NONE
    return pl.concat(per_database).group_by("window", maintain_order=True).agg(pl.col("value").sum())
