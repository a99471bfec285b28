"""Database time of a period, step by step: where it went, and how much was done meanwhile."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import polars as pl

from doctord.analyse.study.grid import Grid, is_single
from doctord.analyse.study.measure import Key, Measure
from doctord.analyse.study.samples import Numbers, Samples
from doctord.analyse.time import DB_TIME, SAMPLED, active_sessions, foreground_waits
from doctord.dataset.common_statistics import names_of
from doctord.dataset.dataset import Dataset

# What a server does for its clients, the best measure of load first: one unit, and the statistics that count it.
LOADS: Final = (
    ("commit", names_of("commits")),
    ("commit", ("v$sysstat.commit wait performed",)),
    ("commit", ("v$sysstat.redo synch writes",)),
    ("execution", ("v$sysstat.execute count", "global_status.questions")),
)
STATEMENT: Final = "statement"
UNITS: Final = tuple(dict.fromkeys((*(unit for unit, _ in LOADS), STATEMENT)))
SECOND: Final = 1.0  # what a list of waits without an interval stands for
MEASURED: Final = pl.col("component").fill_null("") != "target"  # what somebody wants stands under the same names
IDLE: Final = "Idle"
WAITED_S: Final = "waited_s"


@dataclass(frozen=True, eq=False)
class Spent:
    """Database time and load of a period, by step.

    Attributes:
        grid: The steps.
        seconds: How long each of them was looked at; 0 where it was not.
        whole: Seconds of database time in each.
        by_event: The same by wait event, `CPU` among them.
        loads: Units of load in each, by what a unit is; NaN where that was not counted.
        is_sampled: Whether sessions were sampled: an event that is not there took no time then, else nobody knows.
    """

    grid: Grid
    seconds: Numbers
    whole: Numbers
    by_event: Mapping[str, Numbers]
    loads: Mapping[str, Numbers]
    is_sampled: bool = False

    def of_event(self, event: str) -> Numbers | None:
        """Seconds that went into an event in each step; null where that is not known."""
        return self.by_event.get(event, np.zeros_like(self.whole) if self.is_sampled else None)

    def samples(self, amount: Numbers, unit: str | None) -> Samples:
        """Rows of what was spent on a unit of load, or in a second where none is named."""
        seen = self.seconds > 0
        per = self.seconds if unit is None else self.loads[unit]
        return Samples.of(amount[seen], per[seen], self.seconds[seen])


def spent(dataset: Dataset) -> Spent | None:
    """The database time of a period; null where no sessions or waits tell of it."""
    loads = _load_rows(dataset)
    # Others may be counted less often, and would make the grid coarse.
    best = [rows for rows in [*loads.values()][:1] if not is_single(rows)]
    sessions, looks = active_sessions(dataset), dataset.frame("wait").filter(pl.sql_expr(SAMPLED))
    if sessions.height or looks.height:
        grid = Grid.over(looks if looks.height else sessions, *best)
        if grid is None:
            return None
        rows = sessions.with_columns(pl.col("interval_s").alias(WAITED_S)) if sessions.height else _summed_up(dataset)
        seen = _by_steps(grid, rows, _looked_at(grid, sessions, looks), loads)
        return replace(seen, is_sampled=True)
    waits = _waited(foreground_waits(dataset))
    grid = Grid.over(waits, *best)
    if grid is None or waits.is_empty():
        return None
    found = _by_steps(grid, waits, _lengths(grid, waits), loads)
    told = dataset.frame("statistic").filter((pl.col("name") == DB_TIME) & pl.col("interval_s").is_not_null())
    in_sum = grid.sums(told.with_columns(pl.col("value") * pl.col("interval_s")), "value")
    return replace(found, whole=np.maximum(found.whole, in_sum))


def _summed_up(dataset: Dataset) -> pl.DataFrame:
    """What sampling told each second of all sessions together, where their samples themselves are not there."""
    of_samples = pl.col("kind").is_null() & pl.col("waits_per_s").is_null() & pl.col("interval_s").is_not_null()
    return _waited(dataset.frame("wait").filter(of_samples & (pl.col("wait_class") != IDLE)))


def _waited(waits: pl.DataFrame) -> pl.DataFrame:
    waited_s = pl.col("average_active_sessions") * pl.col("interval_s").fill_null(SECOND)
    return waits.with_columns(waited_s.alias(WAITED_S))


def _by_steps(grid: Grid, rows: pl.DataFrame, seconds: Numbers, loads: Mapping[str, pl.DataFrame]) -> Spent:
    events = {
        str(event): grid.sums(part, WAITED_S)
        for (event,), part in rows.partition_by("event", as_dict=True, maintain_order=True).items()
    }
    done = {unit: grid.means(frame, "value") * np.where(seconds > 0, seconds, np.nan) for unit, frame in loads.items()}
    return Spent(grid, seconds, sum(events.values(), np.zeros(grid.count)), events, done)


def _looked_at(grid: Grid, sessions: pl.DataFrame, looks: pl.DataFrame) -> Numbers:
    """Seconds of each step in which sessions were sampled: as the sampling tells, else all that hold a sample."""
    if looks.height:
        each = looks.group_by("ts", maintain_order=True).agg(pl.col("interval_s").max())
        return np.minimum(grid.sums(each, "interval_s"), grid.step_s)
    seen = np.bincount(grid.places(sessions), minlength=grid.count) > 0
    return np.where(seen, grid.step_s, 0.0)


def _lengths(grid: Grid, waits: pl.DataFrame) -> Numbers:
    """Seconds that reports of waits cover in each step."""
    each = waits.group_by("ts", maintain_order=True).agg(pl.col("interval_s").fill_null(SECOND).max())
    return grid.sums(each, "interval_s")


def _load_rows(dataset: Dataset) -> dict[str, pl.DataFrame]:
    """What was done a second: ts, interval_s and value, of all servers and databases together, by what a unit is."""
    statistics, found = dataset.frame("statistic").drop_nulls("value").filter(MEASURED), dict[str, pl.DataFrame]()
    for unit, names in LOADS:
        counted = statistics.filter(pl.col("name").is_in(names))
        if unit not in found and counted.height:
            found[unit] = _summed(counted, "value")
    calls = dataset.frame("statement").drop_nulls("calls_per_s")
    return found | ({STATEMENT: _summed(calls, "calls_per_s")} if calls.height else {})


def _summed(rows: pl.DataFrame, column: str) -> pl.DataFrame:
    return rows.group_by("ts", maintain_order=True).agg(pl.col("interval_s").max(), pl.col(column).sum().alias("value"))


def waits(dataset: Dataset) -> Iterator[Measure]:
    """The mean wait of each event that was counted, of background processes too: `ms`."""
    rows = dataset.frame("wait").filter(
        (pl.col("wait_class").fill_null("") != IDLE) & pl.col("waits_per_s").is_not_null() & (pl.col("event") != "CPU")
    )
    weight = pl.col("interval_s").fill_null(SECOND)
    counted = rows.with_columns(
        (pl.col("waits_per_s") * weight).alias("count"),
        (pl.col("waits_per_s") * weight * pl.col("avg_wait_ms")).alias("waited_ms"),
    ).filter(pl.col("waited_ms").is_not_null())
    for (event,), part in counted.partition_by("event", as_dict=True, maintain_order=True).items():
        steps = part.group_by("ts", maintain_order=True).agg(
            pl.col("interval_s").fill_null(SECOND).max(), pl.col("count", "waited_ms").sum()
        )
        samples = Samples.of(steps["waited_ms"].to_numpy(), steps["count"].to_numpy(), steps["interval_s"].to_numpy())
        covered = float(steps["interval_s"].sum())
        waited_s = float(steps["waited_ms"].sum()) / 1000
        yield Measure(Key("wait", str(event)), "ms", "low", samples, waited_s / covered if covered else None)
