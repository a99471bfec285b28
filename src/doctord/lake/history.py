"""Figures of a lake by hour: from its tiers, and from the rows that are not in them yet."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from doctord.lake.query import Lake
from doctord.lake.summaries import Summed, added_hours, mark_of
from doctord.lake.tiers import SCHEMAS, Index, fresh, read_index, read_months

HOUR: Final = timedelta(hours=1)
HOUR_US: Final = 3_600_000_000


@dataclass(frozen=True, eq=False)
class Hours:
    """Figures by hour.

    Attributes:
        whose: Mark of the figure (`mark_of`), host, db, entity of each series.
        start: End of the first hour.
        sums: By name a row for each series and a column for each hour, NaN where nothing was measured.
    """

    whose: Sequence[tuple[str | None, ...]]
    start: datetime
    sums: Mapping[str, npt.NDArray[np.float64]]


def hours(lake: Lake, figures: Sequence[Summed], since: datetime, until: datetime, names: Sequence[str]) -> Hours:
    """Figures of the hours that end after `since` and no later than the hour in which `until` lies.

    Args:
        lake: The lake; nothing is written to it.
        figures: What to look for.
        since: Start.
        until: End.
        names: Which sums of each hour: of `value` (mean by weight), `low`, `high`, `last`.

    Raises:
        LakeError: a figure cannot be reckoned, or the tiers are damaged.
    """
    index = read_index(lake.path)
    new = index.numbered(fresh(lake, figures, index, sealed=False)[0]["1h"]).cast(SCHEMAS["1h"])
    marks = {mark_of(figure) for figure in figures}
    wanted = [number for number, whose in enumerate(index.series) if whose[0] in marks]
    row_of = np.full(len(index.series), -1)
    row_of[wanted] = np.arange(len(wanted))
    begin, count = _hour(since, up=False), _hour(until, up=True) - _hour(since, up=False)
    sums = {name: np.full((len(wanted), count), np.nan) for name in names}
    for part in _parts(lake, index, new, since, until):
        row = row_of[part["series"].to_numpy()]
        step = part["ts"].dt.epoch("us").to_numpy() // HOUR_US - begin - 1
        inside = (row >= 0) & (step >= 0) & (step < count)
        for name, filled in sums.items():
            filled[row[inside], step[inside]] = part[name].to_numpy()[inside]
    start = datetime.fromtimestamp((begin + 1) * 3600, UTC)
    return Hours([index.series[number] for number in wanted], start, sums)


def _parts(lake: Lake, index: Index, new: pl.DataFrame, since: datetime, until: datetime) -> Iterator[pl.DataFrame]:
    """Sums of hours, month by month, each hour of a series once."""
    beyond = new.with_columns(pl.col("ts").dt.strftime("%Y-%m").alias("month")).partition_by("month", as_dict=True)
    rest = {str(month): part.drop("month") for (month,), part in beyond.items()}
    for month, kept in read_months(lake.path, index, "1h", since, until):
        yield added_hours(pl.concat([kept, rest.pop(month)])) if month in rest else kept
    yield from (added_hours(part) for part in rest.values())


def _hour(moment: datetime, *, up: bool) -> int:
    hours = moment.timestamp() / 3600
    return int(np.ceil(hours) if up else np.floor(hours))


def until_of(lake: Lake, figures: Sequence[Summed]) -> datetime | None:
    """End of the last hour of which any of the figures is known; null where none is."""
    index = read_index(lake.path)
    new = fresh(lake, figures, index, sealed=False)[0]["1h"]
    ends = [new["ts"].max()]
    if index.months["1h"]:
        last = datetime.fromisoformat(f"{max(index.months['1h'])}-01")
        ends += [part["ts"].max() for _, part in read_months(lake.path, index, "1h", last, last)]
    return max((end.replace(tzinfo=UTC) for end in ends if isinstance(end, datetime)), default=None)
