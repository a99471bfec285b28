"""Histories made by hand in which everything happens that a report on capacity has to say.

The forecasts are straight lines drawn here: what models say is tested elsewhere, and takes longer.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import numpy as np
import numpy.typing as npt

from doctord.analyse.capacity.action_plan import ActionPlan, action_plan
from doctord.analyse.capacity.forecast import Forecast, when
from doctord.analyse.capacity.forecast.result import untold
from doctord.analyse.capacity.outlook import Item
from doctord.analyse.capacity.series import DAY_S, Labels, Series
from doctord.analyse.capacity.thresholds.check import check
from doctord.analyse.capacity.thresholds.plan import Plan
from doctord.analyse.capacity.thresholds.threshold import Threshold
from doctord.app.capacity.rules import own_rules
from histories import NAN, history
from report.examples import HOSTILE

GB = 1e9
HORIZON = 90
WITHIN_S = float(HORIZON * DAY_S)
DB = "oracle:DW"
DAYS = 240
SPACE = Threshold(
    "tablespace runs out",
    "space_left_bytes",
    2 * GB,
    "below",
    reason="Nothing can be inserted any more once it is full.",
    source="decided in May with the owners of the application",
    plan=Plan("Add a data file, or move the oldest partitions to the archive.", "dba", 7.0 * DAY_S),
)
READS = Threshold("single-block reads are slow", "wait_ms", 10.0, entity="*sequential read")
REDO = Threshold("redo too much", "redo_bytes_per_s", 1e7, plan=Plan("Ask for a larger link.", "network", 30.0 * DAY_S))
THRESHOLDS = (*(one for one in own_rules().thresholds if one.figure != "wait_ms"), SPACE, READS, REDO)

Numbers = npt.NDArray[np.float64]


def days(values: Sequence[float] | Numbers, figure: str, labels: Labels, before_end: int = 0) -> Series:
    """A series of days that ends when all others do, or so many days before."""
    one = history(values, figure, labels, DAY_S)
    return replace(one, start=one.start + timedelta(days=DAYS - len(one.values) - before_end))


def host() -> list[Series]:
    """Violated, to come, perhaps, quiet, constant, too short, silent; with a gap, a shift and an outlier."""
    random = np.random.default_rng(4)
    at = np.arange(DAYS)
    week = np.sin(at * 2 * np.pi / 7)

    def noise(size: float, count: int = DAYS) -> Numbers:
        return random.normal(0, size, count)

    users = 60 * GB - 0.205 * GB * at + noise(0.3 * GB)
    users[150:172] = NAN
    cpu = 42 + 0.12 * at + 4 * week + noise(1.5)
    cpu[150:] += 4.0
    cpu[200] = 97.0
    host, reads = Labels("db1", None, ""), Labels("db1", DB, "db file sequential read")
    users_, index, undo, system = (Labels("db1", DB, name) for name in ("users", "index", "undo", "system"))
    u01, u02, backup, root = (Labels("db1", None, path) for path in ("/u01", "/u02", "/backup", "/"))
    return [
        days(cpu, "cpu_used_pct", host),
        days(users, "space_left_bytes", users_),
        days(40 * GB - 0.1 * GB * at + noise(2.5 * GB), "space_left_bytes", index),
        days(np.full(DAYS, 30 * GB), "space_left_bytes", undo),
        days(9 * GB + noise(0.01 * GB, 3), "space_left_bytes", system),
        days(68 + 0.083 * at + noise(0.2), "filesystem_used_pct", u01),
        days(84 + 0.05 * at + noise(0.3), "filesystem_used_pct", u02),
        days(55 + noise(2.0, DAYS - 40), "filesystem_used_pct", backup, before_end=40),
        days(31 + noise(0.5), "filesystem_used_pct", root),
        days(6 + 0.03 * at + noise(0.5), "wait_ms", reads),
        days(0.8 + noise(0.02), "wait_s_per_s", reads),
        days(1.9 + noise(0.02), "wait_s_per_s", Labels("db1", DB, "CPU")),
        days(35 + noise(2.0), "memory_available_pct", host),
        days(400 + 90 * week + noise(9), "executions_per_s", Labels("db1", DB, "")),
    ]


def line(series: Series) -> Forecast:
    """A straight line through a history, with an interval that grows."""
    start, steps = series.at(len(series.values)), np.flatnonzero(np.isfinite(series.values))
    if len(steps) < 8:
        return untold(DAY_S, start, f"only {len(steps)} steps were measured, and 8 are the least")
    slope, level = np.polyfit(steps, series.values[steps], 1)
    error = float(np.std(series.values[steps] - slope * steps - level))
    ahead = len(series.values) + np.arange(HORIZON)
    mean = slope * ahead + level
    half = 2.5 * error * np.sqrt(1 + np.arange(HORIZON) / 10)
    far = np.flatnonzero(np.abs(series.values - slope * np.arange(len(series.values)) - level) > 5 * error)
    return Forecast(
        "straight line",
        DAY_S,
        start,
        mean,
        mean - half,
        mean + half,
        errors={"straight line": error, "seasonal naive": 3.5 * error},
        covered=0.95,
        change_points=(series.at(150),) if series.figure.name == "cpu_used_pct" else (),
        outliers=tuple(series.at(int(step)) for step in far),
        notes=("22 of 240 steps were not measured; models saw them filled",) if np.isnan(series.values).any() else (),
    )


def agenda_of(histories: Sequence[Series], thresholds: Sequence[Threshold] = THRESHOLDS) -> ActionPlan:
    """The agenda of histories over 90 days."""
    items, now = [], check(thresholds, histories)
    for threshold in thresholds:
        for series in histories:
            if threshold.concerns(series):
                path, violation = line(series), now.now_of(threshold, series)
                told = when(series, path, threshold.limit, threshold.worse, is_violated=violation is not None)
                items.append(Item(threshold, series, path, told, violation))
    return action_plan(items, histories, thresholds)


def healthy() -> list[Series]:
    """Only what is far from its limit."""
    return [one for one in host() if one.figure.name == "memory_available_pct" or one.labels.entity == "/"]


def tablespaces(count: int) -> list[Series]:
    """So many tablespaces, the later ones the sooner full."""
    at, random = np.arange(DAYS), np.random.default_rng(2)
    return [
        days(
            60 * GB - (0.2 + 0.05 * number / count) * GB * at + random.normal(0, 0.2 * GB, DAYS),
            "space_left_bytes",
            Labels("db1", DB, f"data{number}"),
        )
        for number in range(count)
    ]


def hostile() -> tuple[list[Series], Threshold]:
    """One tablespace that runs out, with a threshold; their names and texts are an attack."""
    random = np.random.default_rng(1)
    values = 60 * GB - 0.23 * GB * np.arange(DAYS) + random.normal(0, GB / 10, DAYS)
    series = days(values, "space_left_bytes", Labels(HOSTILE, HOSTILE, f"=cmd|{HOSTILE}"))
    plan = Plan(f"@{HOSTILE}", HOSTILE, 3.0 * DAY_S)
    return [series], replace(SPACE, name=HOSTILE, reason=HOSTILE, source=HOSTILE, plan=plan)
