"""Figures over weeks and years, of a lake or of files."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

import numpy as np
import polars as pl

from doctord.analyse.capacity.data_quality import changed_units, is_counted_once, is_overfull, overfull, overfull_text
from doctord.analyse.capacity.interval import at_its_interval
from doctord.analyse.capacity.percentiles import Percentiles
from doctord.analyse.capacity.series import HOUR_S, Labels, Series
from doctord.app.watcher import SILENT, Watcher
from doctord.dataset.dataset import Dataset
from doctord.dataset.figure import Figure
from doctord.lake.history import History
from doctord.lake.place import LakeError
from doctord.lake.query import Lake
from doctord.lake.rollups import renew
from doctord.lake.summaries import fingerprint_of

A_DAY = timedelta(days=1)
CHECKED_STEP_S = 300  # what is violated now is judged by steps of so many seconds, or longer ones
VALUE_OF = {"mean": "value", "max": "high", "min": "low", "last": "last"}


def renewed(lake: Lake, figures: Sequence[Figure], watcher: Watcher = SILENT) -> None:
    """Sum up what was recorded since the last time; where that may not be written, it is noted."""
    try:
        renew(lake, figures)
    except LakeError as error:
        watcher.note(f"not summed up for later: {error}\nhint: {error.hint}")


def history(lake: Lake, figures: Sequence[Figure], since: datetime, until: datetime) -> list[Series]:
    """Figures of a lake over time, in hours; series of which nothing was measured between the two are left out.

    Raises:
        LakeError: the lake, or a figure in it, cannot be read.
    """
    return series_in(History(lake, figures), figures, since, until)


def series_in(
    told: History, figures: Sequence[Figure], since: datetime, until: datetime, step_s: int = HOUR_S
) -> list[Series]:
    """The same of what was looked up already, in steps of so many seconds.

    Raises:
        LakeError: the rollups are damaged.
    """
    names = {"low", "high", *(VALUE_OF[figure.sum] for figure in figures)}
    steps = told.steps(since, until, sorted(names), step_s)
    found = list[Series]()
    for row, figure, labels in _keys(told, figures):
        values = steps.sums[VALUE_OF[figure.sum]][row]
        there = np.flatnonzero(np.isfinite(values))
        if there.size:
            part = slice(there[0], there[-1] + 1)
            start = steps.start + timedelta(seconds=step_s * int(there[0]))
            low, high = steps.sums["low"][row][part], steps.sums["high"][row][part]
            found.append(Series(figure, labels, step_s, start, values[part], low, high))
    return found


def finest_in(told: History, figures: Sequence[Figure], since: datetime, until: datetime) -> list[Series]:
    """The same in the shortest steps in which thresholds are judged.

    Raises:
        LakeError: the rollups are damaged.
    """
    step_s = max(CHECKED_STEP_S, told.finest_s(since, until))
    return [at_its_interval(series) for series in series_in(told, figures, since, until, step_s)]


def span_of(dataset: Dataset, series: Sequence[Series]) -> tuple[datetime, datetime] | None:
    """From when to when figures of files are, to the second; null where there is none.

    The steps of the figures bound it: rows without a date of their own would stretch it.
    """
    if not series or dataset.since is None or dataset.until is None:
        return None
    first, last = min(one.at(-1) for one in series), max(one.end for one in series)
    return max(first, dataset.since), min(last, dataset.until)


def span_in(lake: Lake, hours: Sequence[Series]) -> tuple[datetime, datetime] | None:
    """From when to when a lake was filled, to the second; null where it holds nothing.

    Rows tell it exactly; where hours are all that is left of the time before them, these do.
    """
    rows, first = lake.span(), min((one.at(-1) for one in hours), default=None)
    if rows is None:
        return span_of_hours(hours)
    return (first if first and first < rows[0] - timedelta(seconds=HOUR_S) else rows[0]), rows[1]


def span_of_hours(hours: Sequence[Series]) -> tuple[datetime, datetime] | None:
    """From when to when hours are; null where there is none."""
    return (min(one.at(-1) for one in hours), max(one.end for one in hours)) if hours else None


def spread_in(told: History, figures: Sequence[Figure], ends: Iterable[datetime], *, whole_days: bool) -> Percentiles:
    """How the rows of the 24 hours to each of some moments were spread.

    Args:
        told: What was looked up already.
        figures: The figures of it.
        ends: The moments.
        whole_days: Where hours are not kept any more, take the day (UTC) that most of those 24 hours are of.

    Raises:
        LakeError: the rollups are damaged.
    """
    parts = list[pl.DataFrame]()
    for end in ends:
        part = told.counted(end - A_DAY, end)
        if part.is_empty() and whole_days:
            day = (end - A_DAY / 2).replace(hour=0, minute=0, second=0, microsecond=0)
            part = told.counted(day, day + A_DAY, "1d").with_columns(
                ts=pl.lit(end.replace(tzinfo=None), pl.Datetime("us"))
            )
        parts.append(part)
    return _spread(told, figures, parts)


def spread_between(told: History, figures: Sequence[Figure], since: datetime, until: datetime) -> Percentiles:
    """How the rows of each hour between two moments were spread.

    Raises:
        LakeError: the rollups are damaged.
    """
    return _spread(told, figures, [told.counted(since, until)])


def data_quality_in(
    lake: Lake, told: History, figures: Sequence[Figure], since: datetime, until: datetime
) -> Iterator[str]:
    """What is to be said of a history between two moments before anybody relies on it.

    Raises:
        LakeError: the rollups, or statistics of the lake, cannot be read.
    """
    keys = {row: (figure, labels) for row, figure, labels in _keys(told, figures)}
    for (place,), part in told.hours_where(is_overfull(), since, until).group_by("series", maintain_order=True):
        figure, labels = keys[int(str(place))]
        if is_counted_once(figure):
            yield overfull_text(figure, labels, part)
    if wanted := [f"({figure.where or 'true'})" for figure in figures if figure.table == "statistic"]:
        yield from changed_units(lake.dataset(since, until, {"statistic": " OR ".join(wanted)}).frame("statistic"))


def data_quality_of(dataset: Dataset, figures: Sequence[Figure]) -> Iterator[str]:
    """What makes rows of files doubtful, a sentence each: figures beyond what there is, units that change."""
    yield from overfull(dataset, figures)
    rows = dataset.frame("statistic")
    wanted = [pl.sql_expr(figure.where or "true") for figure in figures if figure.table == "statistic"]
    yield from changed_units(rows.filter(pl.any_horizontal(*wanted)) if wanted else rows.clear())


def _spread(told: History, figures: Sequence[Figure], parts: Sequence[pl.DataFrame]) -> Percentiles:
    keys = _keys(told, figures)
    if len(keys) > len(told.labels):  # some are made of the same counts
        rows = pl.DataFrame({"series": [row for row, *_ in keys]}, {"series": pl.Int64}).with_row_index("key")
        parts = [
            part.join(rows.cast({"series": part.schema["series"]}), on="series")
            .with_columns(pl.col("key").cast(part.schema["series"]).alias("series"))
            .drop("key")
            for part in parts
        ]
    return Percentiles([(figure, labels) for _, figure, labels in keys], parts)


def _keys(told: History, figures: Sequence[Figure]) -> list[tuple[int, Figure, Labels]]:
    """Place of a series in the history, the figure that it is, and whom it is about; more where two are made alike."""
    by_fingerprint = dict[str, list[Figure]]()
    for figure in figures:
        by_fingerprint.setdefault(fingerprint_of(figure), []).append(figure)
    return [
        (row, figure, Labels(host, db, entity))
        for row, (fingerprint, host, db, entity) in enumerate(told.labels)
        for figure in by_fingerprint[str(fingerprint)]
    ]
