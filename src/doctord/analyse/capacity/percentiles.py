"""How values are spread: percentiles of the rows of an hour or a day, from counts in buckets.

A mean of a day hides the hour that hurts, and the worst row of it is chance. What a host must carry lies between: what
95 % of the rows are no worse than, the 95th percentile, or the 5th where low values are the bad ones.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import numpy as np
import polars as pl

from doctord.analyse.capacity.series import HOUR_S, Labels, Series, text_of, valued
from doctord.dataset.buckets import bucket_of, percentiles
from doctord.dataset.dataset import Dataset
from doctord.dataset.figure import Figure

SHOWN: Final = {"p1": 0.01, "p5": 0.05, "p50": 0.5, "p95": 0.95, "p99": 0.99}
DECIDES: Final = {"high": "p95", "low": "p5"}
_HOURS: Final = 1 << 20  # hours since 1970 are fewer

Key = tuple[str, Labels]


class Percentiles:
    """Counts in buckets by hour, of which any percentile of any hours follows."""

    def __init__(self, keys: Sequence[tuple[Figure, Labels]], parts: Iterable[pl.DataFrame]) -> None:
        """Take whom each series is about, and counts in parts, best one for each day that will be asked for.

        Counts: `series` (place of whom), `ts` (end of the hour, in UTC without saying so), `bucket`, `count`.
        """
        self._keys = keys
        self._parts = [part for part in parts if not part.is_empty()]

    def of_day(
        self, end: datetime, hours: Mapping[Key, int | None], shares: Mapping[str, float]
    ) -> dict[Key, dict[str, float]]:
        """Percentiles and number of `rows` of the 24 hours that end at a moment.

        Args:
            end: The moment.
            hours: For each figure and whom it is about, the one hour of the day (its start, UTC) to look at; null: all.
            shares: Name of each percentile, and its share.
        """
        wanted = [hours.get((figure.name, labels)) for figure, labels in self._keys]
        rows = self._day(end)
        if rows.is_empty():
            return {}
        if any(hour is not None for hour in wanted):
            hour = pl.Series("hour", wanted, pl.Int8).to_frame().with_row_index("series")
            own = pl.col("ts").dt.offset_by("-1h").dt.hour() == pl.col("hour")
            typed = hour.cast({"series": rows.schema["series"]})
            rows = rows.join(typed, on="series", maintain_order="left").filter(pl.col("hour").is_null() | own)
        found = percentiles(rows, "series", shares)
        names = ("rows", *shares)
        return {self._key(row["series"]): {name: row[name] for name in names} for row in found.iter_rows(named=True)}

    def _day(self, end: datetime) -> pl.DataFrame:
        last = end.astimezone(UTC).replace(tzinfo=None)
        first = last - timedelta(days=1)
        found = list[pl.DataFrame]()
        for part in self._parts:
            low, high = part["ts"].min(), part["ts"].max()
            assert isinstance(low, datetime)  # noqa: S101 - no part is empty
            assert isinstance(high, datetime)  # noqa: S101
            if first < low and high <= last:
                found.append(part)
            elif low <= last and high > first:
                found.append(part.filter(pl.col("ts").is_between(first, last, closed="right")))
        return pl.concat(found) if found else pl.DataFrame()

    def series(self, wanted: Iterable[tuple[str, str]]) -> Iterator[Series]:
        """A series by hour for each figure (its name) and percentile (`p95`) that is wanted."""
        if not self._parts:
            return
        rows_of_all = pl.concat(self._parts)
        for name, of in dict.fromkeys(wanted):
            own = [place for place, (figure, _) in enumerate(self._keys) if figure.name == name]
            hour = pl.col("ts").dt.epoch("s") // HOUR_S
            rows = rows_of_all.filter(pl.col("series").is_in(own)).select(
                (pl.col("series") * _HOURS + hour).alias("step"), "bucket", "count"
            )
            found = percentiles(rows, "step", {of: share_of(of)})
            placed = found.select((pl.col("step") // _HOURS).alias("series"), pl.col("step") % _HOURS, of)
            for (place,), part in placed.group_by("series", maintain_order=True):
                yield self._spaced(int(str(place)), of, part)

    def _spaced(self, place: int, of: str, part: pl.DataFrame) -> Series:
        hours = part["step"].to_numpy()
        first = int(hours.min())
        values = np.full(int(hours.max()) - first + 1, np.nan)
        values[hours - first] = part[of].to_numpy()
        start = datetime.fromtimestamp(first * HOUR_S, UTC)
        return Series(*self._keys[place], HOUR_S, start, values, values, values, of)

    def _key(self, place: int) -> Key:
        figure, labels = self._keys[place]
        return figure.name, labels


def share_of(name: str) -> float:
    """The share that a percentile's name means.

    Raises:
        ValueError: it is no such name.

    >>> share_of("p95"), share_of("p2.5")
    (0.95, 0.025)
    """
    share = float(name.removeprefix("p")) / 100
    if not name.startswith("p") or not 0 < share < 1:
        raise ValueError(f"{name!r} is no percentile")
    return share


def percentiles_of(dataset: Dataset, figures: Iterable[Figure]) -> Percentiles:
    """How the rows of a dataset are spread."""
    keys, parts = list[tuple[Figure, Labels]](), list[pl.DataFrame]()
    for figure in figures:
        counted = (
            valued(dataset.frame(figure.table), figure)
            .group_by(
                "host", "db", "entity", "step_us", bucket_of(pl.col("value")).alias("bucket"), maintain_order=True
            )
            .agg(pl.len().alias("count"))
        )
        for (host, db, entity), part in counted.group_by("host", "db", "entity", maintain_order=True):
            place = pl.lit(len(keys), pl.Int64).alias("series")
            parts.append(part.select(place, pl.from_epoch("step_us", "us").alias("ts"), "bucket", "count"))
            keys.append((figure, Labels(text_of(host), text_of(db), text_of(entity))))
    return Percentiles(keys, [pl.concat(parts)] if parts else [])
