"""Several reports in a row: what takes more of the time than before, and since when.

Each wait class, event and statement is a series: seconds per second in each interval that was reported. What is left of
database time beside CPU and waits is a class of its own, and so many a second of something is a series too. Of each the
run of intervals is looked for whose excess over the mean adds up to most (the maximum-sum segment; J. Bentley,
"Programming Pearls: Algorithm Design Techniques", Communications of the ACM, 1984). The run is a rise when its median
is well above that of all other intervals, and its mean well above that of any other run of that length: a job that
comes every day, or every week, is none.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from statistics import fmean, median
from typing import Literal, NamedTuple

import polars as pl

from doctord.analyse.time import DB_TIME, UNACCOUNTED, foreground_waits
from doctord.dataset.dataset import Dataset

LEAST_TIMES = 1.5  # a rise multiplies by so much
SHORTEST_S = 60.0  # of a report; what was sampled each second rises and falls by chance
LATE = timedelta(minutes=1)
CLASSES = "wait_class.waited"
TOGETHER = 0.1  # ends that lie closer than this part of an interval are of one: instances differ by seconds

Kind = Literal["wait class", "event", "statement", "rate"]
KINDS: tuple[Kind, ...] = ("wait class", "event", "statement")
Ends = Sequence[tuple[datetime, float]]  # of intervals, with the length of each in seconds
_SPENT: Mapping[str, pl.DataType] = {
    "db": pl.String(),
    "end": pl.Datetime("us", "UTC"),
    "interval_s": pl.Float64(),
    "kind": pl.String(),
    "name": pl.String(),
    "of": pl.String(),
    "spent": pl.Float64(),
}


class Rise(NamedTuple):
    """What takes more time (or, of a rate, is done more often) in a run of intervals than in all others.

    `since` is where the run begins; `ends` is the end of the first and of the last interval in it; `lasting` says that
    it goes on to the last interval there is. `before` and `now` are medians, seconds per second, outside the run and
    in it; `within` and `others` count the intervals on which they rest. `of` is the wait class of an event, and
    `whole_before` all database time outside the run (seconds per second; null when it is not known).
    """

    db: str
    kind: Kind
    name: str
    of: str | None
    since: datetime
    ends: tuple[datetime, datetime]
    lasting: bool
    before: float
    now: float
    within: int
    others: int
    whole_before: float | None

    @property
    def added(self) -> float:
        """Seconds per second that were added."""
        return self.now - self.before

    @property
    def times(self) -> float | None:
        """How many times as much; null where there was nothing before."""
        return self.now / self.before if self.before else None


@lru_cache(maxsize=2)
def rises(dataset: Dataset) -> list[Rise]:
    """All rises of wait classes, events and statements, the largest first."""
    found = []
    for (db,), told in _spent(dataset).partition_by("db", as_dict=True).items():
        rows, ends = _aligned(told)
        whole = dict(
            rows.filter(pl.col("kind") == KINDS[0])
            .group_by("end", maintain_order=True)
            .agg(pl.col("spent").sum())
            .rows()
        )
        for kind in KINDS:
            listed = rows.filter(pl.col("kind") == kind)
            least = _least(listed)
            there = [end for end in ends if end[0] in least]
            for name, (of, values) in _by_name(listed).items():
                series = [values.get(end, least[end]) for end, _ in there]
                if run := rising_run(series):
                    found.append(_rise((str(db), kind, name, of), there, series, run, whole))
    return sorted(found, key=lambda rise: -rise.added)


def rate_rises(dataset: Dataset, names: Sequence[str]) -> list[Rise]:
    """Rises of statistics, by their names; an interval in which one was not counted is none of its series."""
    rows = dataset.frame("statistic").filter(pl.col("name").is_in(names) & pl.col("entity").is_null())
    told = _summed(rows.drop_nulls("db"), pl.lit("rate"), pl.col("name"), pl.lit(None), pl.col("value"))
    found = []
    for (db,), part in told.partition_by("db", as_dict=True).items():
        aligned, ends = _aligned(part)
        for name, (_, values) in _by_name(aligned).items():
            there = [end for end in ends if end[0] in values]
            series = [values[end] for end, _ in there]
            if run := rising_run(series):
                found.append(_rise((str(db), "rate", name, None), there, series, run, {}))
    return sorted(found, key=lambda rise: (-(rise.times or 0.0), rise.name))


def rising_run(series: Sequence[float]) -> tuple[int, int] | None:
    """First and last index of the run in which a series is higher than elsewhere; null without any.

    >>> rising_run([1.0, 1.1, 0.9, 2.4, 2.5])
    (3, 4)
    >>> rising_run([1.0, 2.4, 1.0, 2.5, 1.0, 2.4]) is None
    True
    """
    if len(series) < 2:
        return None
    first, last = _largest_sum([value - sum(series) / len(series) for value in series])
    inside, sides = series[first : last + 1], (series[:first], series[last + 1 :])
    outside = [value for side in sides for value in side]
    if not outside:
        return None
    likes = max(_highest_mean(side, len(inside)) for side in sides if side)
    higher = median(inside) >= LEAST_TIMES * median(outside) and fmean(inside) >= LEAST_TIMES * likes
    return (first, last) if higher and fmean(inside) > 0 else None


def latency_of(dataset: Dataset, event: str, rise: Rise) -> tuple[float, float] | None:
    """Milliseconds of one wait for an event outside a rise and within it; null where either is not known."""
    count = pl.col("waits_per_s") * pl.col("interval_s")
    rows = (
        foreground_waits(dataset)
        .filter((pl.col("event") == event) & (pl.col("db") == rise.db) & (count > 0))
        .drop_nulls("avg_wait_ms")
        .group_by(_inside(rise).alias("inside"), maintain_order=True)
        .agg((pl.col("avg_wait_ms") * count).sum() / count.sum())
    )
    times = dict(rows.iter_rows())
    return (times[False], times[True]) if len(times) == 2 else None


def entities_of(dataset: Dataset, name: str, rise: Rise) -> list[tuple[str, float, float]]:
    """What a statistic is about (segments, statements): mean outside a rise and within, those that grew most first."""
    seconds = pl.col("interval_s")
    rows = dataset.frame("statistic").filter((pl.col("name") == name) & (pl.col("db") == rise.db) & (seconds > 0))
    spans = dict(
        rows.group_by(_inside(rise), maintain_order=True)
        .agg(seconds.filter(pl.col("ts").is_first_distinct()).sum())
        .iter_rows()
    )
    if len(spans) < 2:
        return []
    part = pl.col("value") * seconds
    sums = (
        rows.drop_nulls("entity")
        .group_by("entity", maintain_order=True)
        .agg(
            part.filter(~_inside(rise)).sum().alias("before") / spans[False],
            part.filter(_inside(rise)).sum() / spans[True],
        )
    )
    return sorted(sums.iter_rows(), key=lambda row: (row[1] - row[2], row[0]))


def _inside(rise: Rise) -> pl.Expr:
    return (pl.col("ts") > rise.since) & (pl.col("ts") <= rise.ends[1] + LATE)


def mean_of(dataset: Dataset, name: str, rise: Rise) -> tuple[float, float] | None:
    """A statistic's mean outside a rise and within it, all instances together; null where either is not known."""
    seconds = pl.col("interval_s")
    rows = (
        dataset.frame("statistic")
        .filter((pl.col("name") == name) & (pl.col("db") == rise.db) & (seconds > 0))
        .group_by(_inside(rise).alias("inside"), "instance", maintain_order=True)
        .agg((pl.col("value") * seconds).sum() / seconds.sum())
    )
    before, now = (rows.filter(pl.col("inside") == part)["value"] for part in (False, True))
    return (float(before.sum()), float(now.sum())) if before.len() and now.len() else None


def _rise(
    about: tuple[str, Kind, str, str | None],
    ends: Ends,
    series: Sequence[float],
    run: tuple[int, int],
    whole: Mapping[datetime, float],
) -> Rise:
    db, kind, name, of = about
    first, last = run
    others = [*series[:first], *series[last + 1 :]]
    wholes = [whole[end] for end, _ in (*ends[:first], *ends[last + 1 :]) if end in whole]
    begin, length_s = ends[first]
    return Rise(
        db=db,
        kind=kind,
        name=name,
        of=of,
        since=begin - timedelta(seconds=length_s),
        ends=(begin, ends[last][0]),
        lasting=last == len(series) - 1,
        before=median(others),
        now=median(series[first : last + 1]),
        within=last - first + 1,
        others=len(others),
        whole_before=median(wholes) if wholes else None,
    )


def _spent(dataset: Dataset) -> pl.DataFrame:
    """Seconds per second of each thing in each interval: columns db, end, interval_s, kind, name, of, spent."""
    waits = foreground_waits(dataset)
    events = _summed(waits, pl.lit("event"), pl.col("event"), pl.col("wait_class"), pl.col("average_active_sessions"))
    classes = _summed(
        waits, pl.lit("wait class"), pl.col("wait_class"), pl.lit(None), pl.col("average_active_sessions")
    )
    told = dataset.frame("statistic").filter(pl.col("name") == CLASSES)
    if told.height and waits["wait_class"].n_unique() <= 1:  # of events no more than CPU is told
        classes = _summed(told, pl.lit("wait class"), pl.col("entity"), pl.lit(None), pl.col("value"))
    classes = pl.concat([classes, _unaccounted(dataset, classes)])
    statement = dataset.frame("statement").filter(pl.col("elapsed_s_per_s").is_not_null())
    statements = _summed(
        statement, pl.lit("statement"), pl.col("statement_id"), pl.lit(None), pl.col("elapsed_s_per_s")
    )
    return pl.concat([classes, events, statements]).drop_nulls(["db", "name"])


def _unaccounted(dataset: Dataset, classes: pl.DataFrame) -> pl.DataFrame:
    """What is left of database time beside the classes, where the whole was told; columns as theirs.

    A list of the top events alone leaves the rest of them over, too: only where all waits of sessions are listed, told
    apart from those of the background.
    """
    told = dataset.frame("statistic").filter(pl.col("name") == DB_TIME)
    whole = _summed(told, pl.lit(KINDS[0]), pl.lit(UNACCOUNTED[0]), pl.lit(None), pl.col("value"))
    if whole.is_empty():
        return classes.clear()
    apart = (pl.col("kind") == "foreground") & (pl.col("wait_class").fill_null("") != "CPU")
    listed = foreground_waits(dataset).filter(apart).select("db", pl.col("ts").alias("end")).unique(maintain_order=True)
    known = classes.group_by("db", "end", maintain_order=True).agg(pl.col("spent").sum().alias("known"))
    rest = (pl.col("spent") - pl.col("known")).clip(lower_bound=0.0).alias("spent")
    told_whole = whole.join(listed, on=["db", "end"], how="semi", maintain_order="left")
    return told_whole.join(known, on=["db", "end"], maintain_order="left").with_columns(rest).select(classes.columns)


def _summed(rows: pl.DataFrame, kind: pl.Expr, name: pl.Expr, of: pl.Expr, spent: pl.Expr) -> pl.DataFrame:
    """Over the instances of a cluster that end together."""
    timed = rows.filter(pl.col("interval_s") >= SHORTEST_S)
    if timed.is_empty():
        return pl.DataFrame(schema=_SPENT)
    return (
        timed.group_by("db", pl.col("ts").alias("end"), kind.alias("kind"), name.alias("name"), maintain_order=True)
        .agg(
            pl.col("interval_s").max(),
            of.cast(pl.String).first().alias("of"),
            spent.sum().cast(pl.Float64).alias("spent"),
        )
        .select(*_SPENT)
    )


def _aligned(rows: pl.DataFrame) -> tuple[pl.DataFrame, Ends]:
    """The same with one end for what was told of one interval, and these ends in order."""
    kept: list[tuple[datetime, float]] = []
    place: dict[datetime, datetime] = {}
    for end, length_s in (
        rows.group_by("end", maintain_order=True)
        .agg(pl.col("interval_s").max())
        .sort("end", maintain_order=True)
        .rows()
    ):
        if not kept or (end - kept[-1][0]).total_seconds() > TOGETHER * length_s:
            kept.append((end, length_s))
        place[end] = kept[-1][0]
    moved = rows.with_columns(pl.col("end").replace_strict(place, return_dtype=rows.schema["end"]))
    summed = moved.group_by("db", "kind", "name", "end", maintain_order=True).agg(
        pl.col("of").first(), pl.col("spent").sum()
    )
    return summed, kept


def _by_name(rows: pl.DataFrame) -> dict[str, tuple[str | None, dict[datetime, float]]]:
    """What each name is of, and its seconds per second by the end of the interval."""
    found = dict[str, tuple[str | None, dict[datetime, float]]]()
    for name, of, end, spent in rows.select("name", "of", "end", "spent").iter_rows():
        found.setdefault(str(name), (of, {}))[1][end] = spent
    return found


def _least(rows: pl.DataFrame) -> dict[datetime, float]:
    """The least that each interval lists: what it does not list took no more. A full list ends near zero."""
    return dict(rows.group_by("end", maintain_order=True).agg(pl.col("spent").min()).rows())


def _highest_mean(values: Sequence[float], length: int) -> float:
    """The highest mean of any run of a length; of all of it where it is shorter."""
    length = min(length, len(values))
    return max(fmean(values[begin : begin + length]) for begin in range(len(values) - length + 1))


def _largest_sum(values: Sequence[float]) -> tuple[int, int]:
    """First and last index of the run with the largest sum."""
    best, run, begin = (values[0], 0, 0), 0.0, 0
    for index, value in enumerate(values):
        if run <= 0:
            run, begin = 0.0, index
        run += value
        if run > best[0]:
            best = (run, begin, index)
    return best[1], best[2]
