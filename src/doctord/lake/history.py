"""Figures of a lake over time: from its rollups, and from the rows that are not in them yet."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from doctord.dataset.figure import Figure
from doctord.lake.place import LakeError
from doctord.lake.query import Lake
from doctord.lake.rollup_files import INSTANT, ROLLUPS, Index, by_period, read_index, read_periods
from doctord.lake.rollups import fresh
from doctord.lake.summaries import added_sums, ending, fingerprint_of

log = logging.getLogger(__name__)

MINUTE_S: Final = 60
HOUR_S: Final = 3600
ROLLUP_OF_STEP: Final = {MINUTE_S: "1m", HOUR_S: "1h"}


@dataclass(frozen=True, eq=False)
class Steps:
    """Figures by minute, hour, or so.

    Attributes:
        labels: Mark of the figure (`fingerprint_of`), host, db, entity of each series.
        step_s: Seconds of a step.
        start: End of the first step.
        sums: By name a row for each series and a column for each step, NaN where nothing was measured.
    """

    labels: Sequence[tuple[str | None, ...]]
    step_s: int
    start: datetime
    sums: Mapping[str, npt.NDArray[np.float64]]


class History:
    """What a lake knows of some figures: nothing is written to it, and what is not summed up yet is read once."""

    def __init__(
        self,
        lake: Lake,
        figures: Sequence[Figure],
        between: tuple[datetime, datetime] | None = None,
        counts: Callable[[str | None], bool] = lambda _: True,
    ) -> None:
        """Look into the rollups, and sum up the rest; with `between` only rows of these days.

        Of hosts whose name does not count nothing is told.

        What of the rollups is damaged is left out, and that is said.

        Raises:
            LakeError: a figure cannot be reckoned.
        """
        self._lake = lake.path
        self._index = _index_of(lake.path)
        new = fresh(lake, figures, self._index, sealed=False, between=between)[0]
        self._new = {rollup: self._index.numbered(rows).cast(ROLLUPS[rollup].columns) for rollup, rows in new.items()}
        fingerprints = {fingerprint_of(figure) for figure in figures}
        series = enumerate(self._index.series)
        wanted = [number for number, labels in series if labels[0] in fingerprints and counts(labels[1])]
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
            LakeError: a file of the rollups is gone.
        """
        begin, end = int(since.timestamp() // step_s), int(-(-until.timestamp() // step_s))
        sums = {name: np.full((len(self._whose), end - begin), np.nan) for name in names}
        start, last = (datetime.fromtimestamp(step * step_s, UTC) for step in (begin, end))
        for part in self._summed(start, last, step_s):
            row = self._row_of[part["series"].to_numpy()]
            step = part["ts"].dt.epoch("us").to_numpy() // (step_s * 1_000_000) - begin - 1
            inside = (row >= 0) & (step >= 0) & (step < end - begin)
            place = (row * (end - begin) + step)[inside]
            for name, filled in sums.items():
                np.put(filled, place, part[name].to_numpy()[inside])
        return Steps(self._whose, step_s, start + timedelta(seconds=step_s), sums)

    @property
    def labels(self) -> Sequence[tuple[str | None, ...]]:
        """Mark of the figure (`fingerprint_of`), host, db, entity of each series."""
        return self._whose

    def counted(self, since: datetime, until: datetime, rollup: str = "1h-buckets") -> pl.DataFrame:
        """Counts in buckets (`doctord.dataset.buckets`) of the steps that end after one moment, no later than another.

        Args:
            since: Start.
            until: End.
            rollup: `1h-buckets` or `1d`: steps of an hour or a day.

        Returns:
            `series` (place in `labels`), `ts` (end of the step, in UTC without saying so), `bucket`, `count`.

        Raises:
            LakeError: a file of the rollups is gone.
        """
        return self._between(rollup, since, until, pl.lit(value=True)).select("series", "ts", "bucket", "count")

    def hours_where(self, condition: pl.Expr, since: datetime, until: datetime) -> pl.DataFrame:
        """Hours that end after one moment and no later than another, and meet a condition on their sums.

        Returns:
            `series` (place in `labels`), `ts` (end of the hour, in UTC without saying so), `count`, `weight`.

        Raises:
            LakeError: a file of the rollups is gone.
        """
        return self._between("1h", since, until, condition).select("series", "ts", "count", "weight")

    @property
    def until(self) -> datetime | None:
        """End of the last hour of which any of the figures is known; null where none is."""
        ends = [self._last(self._new["1h"])]
        for month in sorted(self._index.files["1h"], reverse=True):
            first = datetime.fromisoformat(f"{month}-01")
            parts = read_periods(self._lake, self._index, "1h", first, first + INSTANT)
            if kept := [end for _, part in parts if (end := self._last(part))]:
                ends += kept
                break
        return max((end for end in ends if end), default=None)

    def _last(self, hours: pl.DataFrame) -> datetime | None:
        """End of the last of some hours of which any of the figures is known."""
        end = hours.filter(self._row_of[hours["series"].to_numpy()] >= 0)["ts"].max()
        return end.replace(tzinfo=UTC) if isinstance(end, datetime) else None

    def finest_s(self, since: datetime, until: datetime) -> int:
        """Seconds of the shortest step in which all that is known of a time is kept: of a minute, or of an hour.

        Raises:
            LakeError: a file of the rollups is gone.
        """
        first = min(self._index.files["1m"], default=None)
        begun = min(until, datetime.fromisoformat(first).replace(tzinfo=UTC)) if first else until
        after, last = (moment.astimezone(UTC).replace(tzinfo=None) for moment in (since, begun))
        for _, part in read_periods(self._lake, self._index, "1h", since, begun):
            older = part.filter(pl.col("ts").is_between(after, last, closed="right"))
            if (self._row_of[older["series"].to_numpy()] >= 0).any():
                return HOUR_S
        return MINUTE_S

    def _between(self, rollup: str, since: datetime, until: datetime, condition: pl.Expr) -> pl.DataFrame:
        """Rows of a rollup that end between two moments and meet a condition, `series` being the place in `labels`."""
        first, last = (moment.astimezone(UTC).replace(tzinfo=None) for moment in (since, until))
        wanted = pl.col("ts").is_between(first, last, closed="right") & condition
        parts = [part.filter(wanted) for part in self._parts(rollup, since, until)]
        rows = pl.concat([self._new[rollup].clear(), *parts])
        return rows.with_columns(pl.Series("series", self._row_of[rows["series"].to_numpy()])).filter(
            pl.col("series") >= 0
        )

    def _summed(self, since: datetime, until: datetime, step_s: int) -> Iterator[pl.DataFrame]:
        """Sums by step, part by part, each step of a series once."""
        rollup = ROLLUP_OF_STEP.get(step_s, "1m")
        for part in self._parts(rollup, since, until):
            if step_s in ROLLUP_OF_STEP:
                yield part
            else:
                yield added_sums(part.sort("ts").with_columns(ending(f"{step_s}s")))

    def _parts(self, rollup: str, since: datetime, until: datetime) -> Iterator[pl.DataFrame]:
        """Rows of a rollup, file by file, with those that are not in it yet."""
        rest = dict(by_period(rollup, self._new[rollup]))
        for period, kept in read_periods(self._lake, self._index, rollup, since, until):
            new = rest.pop(period, None)
            yield kept if new is None else ROLLUPS[rollup].added(pl.concat([kept, new]))
        yield from (ROLLUPS[rollup].added(part) for part in rest.values())


def _index_of(lake: Path) -> Index:
    try:
        return read_index(lake)
    except LakeError as error:
        log.warning("%s\nhint: %s", error, error.hint)
        return Index()
