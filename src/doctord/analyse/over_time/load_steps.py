"""The load in even steps of time: how long sessions of each kind were at work in a step, and how long it was looked at.

A sample of a session stands for the `interval_s` seconds before it, and so does a row of summed-up waits. Seconds that
lie in two steps are parted between them, so that sessions which are always there give the same load in every step.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import polars as pl

from doctord.analyse.load import DIMENSIONS as OF_SESSIONS
from doctord.analyse.time import AT_WORK, foreground_waits
from doctord.dataset.dataset import Dataset

# The column that each dimension is told by: those of a session, and whose it is.
DIMENSIONS: Final = {"host": "host"} | OF_SESSIONS
OF_WAITS: Final = ("host", "server", "wait_class", "event", "wait_kind")
# What sums tell apart: with single sessions they would be as many as the samples themselves.
WITHOUT_SESSIONS: Final = tuple(name for name in DIMENSIONS if name != "session")
FINEST_S: Final = 1
_US: Final = 1_000_000


@dataclass(frozen=True, eq=False)
class Steps:
    """The load by steps of `step_s` seconds; step `at` is from `at * step_s` to `(at + 1) * step_s` seconds since 1970.

    Attributes:
        step_s: Seconds of a step.
        kinds: `kind`, a number, and what sessions of this kind have in common: the columns of dimensions.
        active: `at`, `kind`, `active_s`: seconds that sessions of this kind were at work, and `most`: as many of them
            as were at work on average in any one of the finest steps in it.
        looked: `at`, `host`, `looked_s`: seconds of the step that were looked at; no row where none was. `low`, `high`:
            the fewest and the most sessions of the host at work in any one of the finest steps in it.
    """

    step_s: int
    kinds: pl.DataFrame
    active: pl.DataFrame
    looked: pl.DataFrame

    @property
    def dimensions(self) -> tuple[str, ...]:
        """The dimensions that are told apart."""
        return tuple(name for name, column in DIMENSIONS.items() if column in self.kinds.columns)

    def between(self, since_s: float, until_s: float) -> "Steps":
        """The steps that begin in a time."""
        inside = pl.col("at").is_between(since_s // self.step_s, until_s / self.step_s, closed="left")
        return replace(self, active=self.active.filter(inside), looked=self.looked.filter(inside))


EMPTY: Final = Steps(
    FINEST_S,
    pl.DataFrame(schema={"kind": pl.UInt32, "host": pl.String}),
    pl.DataFrame(schema={"at": pl.Int64, "kind": pl.UInt32, "active_s": pl.Float64, "most": pl.Float64}),
    pl.DataFrame(
        schema={"at": pl.Int64, "host": pl.String, "looked_s": pl.Float64, "low": pl.Float64, "high": pl.Float64}
    ),
)


def steps_of(dataset: Dataset, dimensions: Sequence[str] = tuple(DIMENSIONS), *, is_growing: bool = False) -> Steps:
    """The load of a dataset by the finest steps that its rows tell: of its sampled sessions, or of its sums of waits.

    Args:
        dataset: Sessions, or waits; rows of `cpu` of the whole host tell when it was looked at.
        dimensions: What is to be told apart.
        is_growing: A host is looked at a moment after its sessions: of that moment nobody knows yet.
    """
    kinds, rows = _rows(dataset, dimensions)
    looks = _looks(dataset, rows.join(kinds.select("kind", "host"), "kind", maintain_order="left"))
    usual_s = max(float(part["interval_s"].median() or 0.0) for part in (rows, looks))  # type: ignore[arg-type]
    step_s = FINEST_S if usual_s <= 1.5 * FINEST_S else math.ceil(usual_s)
    if is_growing:
        last = looks.group_by("host", maintain_order=True).agg(pl.col("end_us").max().alias("last_us"))
        known = kinds.select("kind", "host").join(last, "host", nulls_equal=True, maintain_order="left")
        rows = rows.join(known, "kind", maintain_order="left").filter(pl.col("end_us") <= pl.col("last_us"))
    active = _by_step(rows, step_s, "kind").rename({"amount": "active_s"})
    looked = _by_step(_once(looks), step_s, "host").rename({"amount": "looked_s"})
    of_hosts = active.join(kinds.select("kind", "host"), "kind", maintain_order="left")
    return Steps(
        step_s, kinds, active.with_columns(most=pl.col("active_s") / step_s), _with_extremes(looked, of_hosts, step_s)
    )


def coarser(steps: Steps, step_s: int) -> Steps:
    """The same in longer steps: of so many seconds, or the next whole multiple of its own."""
    times = -(-step_s // steps.step_s)
    if times == 1:
        return steps
    active, looked = (part.with_columns(pl.col("at") // times) for part in (steps.active, steps.looked))
    return _added(Steps(steps.step_s * times, steps.kinds, active, looked))


def without_sessions(steps: Steps) -> Steps:
    """The same, of the finest steps, without telling single sessions apart, as sums do not."""
    found = joined([replace(steps, kinds=steps.kinds.drop(DIMENSIONS["session"], strict=False))])
    return replace(found, active=found.active.with_columns(most=pl.col("active_s") / steps.step_s))


def joined(parts: Sequence[Steps]) -> Steps:
    """Several times in one; what two of them tell of one step is added up. All have steps of one length.

    A dimension that one of them does not tell apart is null of its sessions.
    """
    both = pl.concat([part.kinds.drop("kind") for part in parts], how="diagonal")
    kinds = both.unique(maintain_order=True).with_row_index("kind")
    active = [_renumbered(part, kinds) for part in parts]
    looked = pl.concat([part.looked for part in parts])
    return _added(Steps(parts[0].step_s, kinds, pl.concat(active), looked))


def _renumbered(steps: Steps, kinds: pl.DataFrame) -> pl.DataFrame:
    """The active ones by the numbers that others give to their kinds."""
    columns = kinds.columns[1:]
    own = pl.concat([kinds.clear().drop("kind"), steps.kinds.rename({"kind": "own"})], how="diagonal")
    own = own.join(kinds, columns, nulls_equal=True, maintain_order="left").select("kind", "own")
    active = steps.active.rename({"kind": "own"}).join(own, "own", maintain_order="left")
    return active.select("at", "kind", "active_s", "most")


def _added(steps: Steps) -> Steps:
    """The same with rows of one step and kind added up."""
    active, looked = (
        steps.active.group_by("at", "kind", maintain_order=True),
        steps.looked.group_by("at", "host", maintain_order=True),
    )
    return replace(
        steps,
        active=active.agg(pl.col("active_s").sum(), pl.col("most").max()),
        looked=looked.agg(pl.col("looked_s").sum(), pl.col("low").min(), pl.col("high").max()),
    )


def _rows(dataset: Dataset, dimensions: Sequence[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The kinds of sessions (see `Steps`), and by `kind`: `end_us`, `interval_s`, and `amount`: seconds at work."""
    names = tuple(name for name in DIMENSIONS if name in {"host", *dimensions})
    told, amount = dataset.frame("session"), pl.col("interval_s")
    if told.is_empty():
        names = tuple(name for name in names if name in OF_WAITS)
        told, amount = foreground_waits(dataset), pl.col("average_active_sessions") * pl.col("interval_s")
    else:
        told = dataset.rows("session", AT_WORK, "ts", "interval_s", *dict.fromkeys(DIMENSIONS[name] for name in names))
    told = told.filter(pl.col("interval_s") > 0, amount > 0)
    kinds, kind = kinds_of(told, list(dict.fromkeys(DIMENSIONS[name] for name in names)))
    return kinds, told.select(kind, "interval_s", amount.alias("amount"), end_us=pl.col("ts").dt.epoch("us"))


def kinds_of(told: pl.DataFrame, columns: Sequence[str]) -> tuple[pl.DataFrame, pl.Series]:
    """The kinds that rows are of, and the number of each row's.

    A session is of one kind for many samples, one after the other: where nothing changes, nothing is looked up.
    """
    is_new = pl.any_horizontal(pl.col(name).ne_missing(pl.col(name).shift()) for name in columns)
    begins = told.select(is_new.alias("begins"))["begins"] if len(told) else pl.Series("begins", [], dtype=pl.Boolean)
    begins = begins | (pl.int_range(len(told), eager=True) == 0)
    runs = told.filter(begins).select(pl.col(name).cast(pl.String) for name in columns)
    kinds = runs.unique(maintain_order=True).with_row_index("kind")
    of_run = runs.join(kinds, columns, how="left", nulls_equal=True, maintain_order="left")["kind"]
    return kinds, of_run.gather(begins.cum_sum() - 1).alias("kind")


def _looks(dataset: Dataset, rows: pl.DataFrame) -> pl.DataFrame:
    """Host, `end_us`, `interval_s` of each look at the host; where nothing tells of it, those of its sessions."""
    looks = dataset.rows("cpu", pl.col("cpu").is_null() & (pl.col("interval_s") > 0), "host", "ts", "interval_s")
    if looks.is_empty():
        return rows.select("host", "end_us", "interval_s").unique(maintain_order=True)
    return looks.select("host", "interval_s", end_us=pl.col("ts").dt.epoch("us"))


def _once(looks: pl.DataFrame) -> pl.DataFrame:
    """What two looks cover is of the first alone; `amount`: seconds."""
    before_us = pl.col("end_us").shift().cum_max().over("host")
    begin_us = pl.col("end_us") - (pl.col("interval_s") * _US).round().cast(pl.Int64)
    looks = looks.sort("end_us", maintain_order=True).with_columns(begin_us=pl.max_horizontal(begin_us, before_us))
    seconds = (pl.col("end_us") - pl.col("begin_us")) / _US
    return looks.with_columns(interval_s=seconds, amount=seconds).filter(pl.col("amount") > 0)


def _by_step(rows: pl.DataFrame, step_s: int, column: str) -> pl.DataFrame:
    """The amounts of rows by step and column; that of a row is spread evenly over its interval."""
    step_us = step_s * _US
    begin_us = pl.col("end_us") - (pl.col("interval_s") * _US).round().cast(pl.Int64)
    placed = rows.with_columns(begin_us=begin_us).with_columns(
        at=pl.col("begin_us") // step_us, last=(pl.col("end_us") - 1) // step_us
    )
    is_parted = pl.col("at") < pl.col("last")
    inside = placed.filter(~is_parted)
    parted = placed.filter(is_parted).with_columns(pl.int_ranges("at", pl.col("last") + 1).alias("at")).explode("at")
    share = (
        pl.min_horizontal("end_us", (pl.col("at") + 1) * step_us)
        - pl.max_horizontal("begin_us", pl.col("at") * step_us)
    ) / (pl.col("end_us") - pl.col("begin_us"))
    both = pl.concat([inside, parted.with_columns(pl.col("amount") * share)])
    return both.group_by("at", column, maintain_order=True).agg(pl.col("amount").sum())


def _with_extremes(looked: pl.DataFrame, active: pl.DataFrame, step_s: int) -> pl.DataFrame:
    """What was looked at, with the sessions at work in each step; null where that was less than half of the step."""
    of_host = active.group_by("at", "host", maintain_order=True).agg(pl.col("active_s").sum())
    joined = looked.join(of_host, ["at", "host"], how="left", nulls_equal=True, maintain_order="left")
    load = pl.col("active_s").fill_null(0.0) / pl.col("looked_s")
    low = pl.when(pl.col("looked_s") >= step_s / 2).then(load).alias("low")
    return joined.select("at", "host", "looked_s", low).with_columns(high=pl.col("low"))
