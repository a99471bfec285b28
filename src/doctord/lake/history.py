"""Figures of a lake over time: from its tiers, and from the rows that are not in them yet."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from doctord.lake.query import Lake
from doctord.lake.summaries import Summed, added_sums, ending, mark_of
from doctord.lake.tier_files import INSTANT, TIERS, by_period, read_index, read_periods
from doctord.lake.tiers import fresh

HOUR_S: Final = 3600
TIER_OF_STEP: Final = {60: "1m", HOUR_S: "1h"}


@dataclass(frozen=True, eq=False)
class Steps:
    """Figures by minute, hour, or so.

    Attributes:
        whose: Mark of the figure (`mark_of`), host, db, entity of each series.
        step_s: Seconds of a step.
        start: End of the first step.
        sums: By name a row for each series and a column for each step, NaN where nothing was measured.
    """

    whose: Sequence[tuple[str | None, ...]]
    step_s: int
    start: datetime
    sums: Mapping[str, npt.NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class Counted:
    """Counts in buckets (`doctord.lake.buckets`) by hour, sorted by series.

    Attributes:
        whose: Mark of the figure, host, db, entity of each series.
        series: Place in `whose` of each count.
        hour: The hour of each count, hours since 1970, that ends it.
        bucket, count: Its bucket, and how many rows lay in it.
    """

    whose: Sequence[tuple[str | None, ...]]
    series: npt.NDArray[np.int64]
    hour: npt.NDArray[np.int64]
    bucket: npt.NDArray[np.int32]
    count: npt.NDArray[np.uint32]


class History:
    """What a lake knows of some figures: nothing is written to it, and what is not summed up yet is read once."""

    def __init__(self, lake: Lake, figures: Sequence[Summed], between: tuple[datetime, datetime] | None = None) -> None:
        """Look into the tiers, and sum up the rest; with `between` only rows of these days.

        Raises:
            LakeError: a figure cannot be reckoned, or the tiers are damaged.
        """
        self._lake = lake.path
        self._index = read_index(lake.path)
        new = fresh(lake, figures, self._index, sealed=False, between=between)[0]
        self._new = {tier: self._index.numbered(rows).cast(TIERS[tier].columns) for tier, rows in new.items()}
        marks = {mark_of(figure) for figure in figures}
        wanted = [number for number, whose in enumerate(self._index.series) if whose[0] in marks]
        self._whose = [self._index.series[number] for number in wanted]
        self._row_of = np.full(len(self._index.series), -1)
        self._row_of[wanted] = np.arange(len(wanted))

    def steps(self, since: datetime, until: datetime, names: Sequence[str], step_s: int = HOUR_S) -> Steps:
        """Figures of the steps that end after `since` and no later than the step in which `until` lies.

        Args:
            since: Start.
            until: End.
            names: Which sums of each step: of `value` (mean by weight), `low`, `high`, `last`.
            step_s: Seconds of a step: a minute or an hour, or a divisor of an hour in whole minutes.

        Raises:
            LakeError: the tiers are damaged.
        """
        begin, end = int(since.timestamp() // step_s), int(-(-until.timestamp() // step_s))
        sums = {name: np.full((len(self._whose), end - begin), np.nan) for name in names}
        start, last = (datetime.fromtimestamp(step * step_s, UTC) for step in (begin, end))
        for part in self._summed(start, last, step_s):
            row = self._row_of[part["series"].to_numpy()]
            step = part["ts"].dt.epoch("us").to_numpy() // (step_s * 1_000_000) - begin - 1
            inside = (row >= 0) & (step >= 0) & (step < end - begin)
            for name, filled in sums.items():
                filled[row[inside], step[inside]] = part[name].to_numpy()[inside]
        return Steps(self._whose, step_s, start + timedelta(seconds=step_s), sums)

    def counted(self, since: datetime, until: datetime) -> Counted:
        """Counts of the hours that end after one moment and no later than another.

        Raises:
            LakeError: the tiers are damaged.
        """
        first, last = (moment.astimezone(UTC).replace(tzinfo=None) for moment in (since, until))
        ends = pl.col("ts").is_between(first, last, closed="right")
        parts = [part.filter(ends) for part in self._parts("1h-buckets", since, until)]
        rows = pl.concat([self._new["1h-buckets"].clear(), *parts]).sort("series")
        row = self._row_of[rows["series"].to_numpy()]
        wanted = row >= 0
        hour = rows["ts"].dt.epoch("s").to_numpy() // HOUR_S
        bucket, count = rows["bucket"].to_numpy(), rows["count"].to_numpy()
        return Counted(self._whose, row[wanted], hour[wanted], bucket[wanted], count[wanted])

    @property
    def until(self) -> datetime | None:
        """End of the last hour of which any of the figures is known; null where none is."""
        ends = [self._new["1h"]["ts"].max()]
        if months := self._index.files["1h"]:
            last = datetime.fromisoformat(f"{max(months)}-01")
            ends += [part["ts"].max() for _, part in read_periods(self._lake, self._index, "1h", last, last + INSTANT)]
        return max((end.replace(tzinfo=UTC) for end in ends if isinstance(end, datetime)), default=None)

    def minutes_since(self) -> datetime | None:
        """Start of the first day of which minutes are kept; null where none are."""
        first = min(self._index.files["1m"], default=None)
        return datetime.fromisoformat(first).replace(tzinfo=UTC) if first else None

    def _summed(self, since: datetime, until: datetime, step_s: int) -> Iterator[pl.DataFrame]:
        """Sums by step, part by part, each step of a series once."""
        tier = TIER_OF_STEP.get(step_s, "1m")
        for part in self._parts(tier, since, until):
            if step_s in TIER_OF_STEP:
                yield part
            else:
                yield added_sums(part.sort("ts").with_columns(ending(f"{step_s}s")))

    def _parts(self, tier: str, since: datetime, until: datetime) -> Iterator[pl.DataFrame]:
        """Rows of a tier, file by file, with those that are not in it yet."""
        rest = dict(by_period(tier, self._new[tier]))
        for period, kept in read_periods(self._lake, self._index, tier, since, until):
            new = rest.pop(period, None)
            yield kept if new is None else TIERS[tier].added(pl.concat([kept, new]))
        yield from (TIERS[tier].added(part) for part in rest.values())


def until_of(lake: Lake, figures: Sequence[Summed]) -> datetime | None:
    """End of the last hour of which any of the figures is known; null where none is."""
    return History(lake, figures).until
