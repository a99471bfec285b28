"""Clocks of two zones: how far the local times of one dataset are from those of another, of the same host and run.

A tool that prints local times without their zone, beside one that tells UTC, gives two runs of one. Where both have a
figure, the same values come again some quarter hours apart; where they have none, two tools that were begun and ended
together show the same minutes and seconds at both ends.
"""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Final

import polars as pl

from doctord.dataset.dataset import Dataset

# All zones are whole quarter hours from UTC, from 12 hours behind to 14 ahead.
QUARTER_S = 900
AHEAD_S = range(-12 * 3600, 14 * 3600 + QUARTER_S, QUARTER_S)
# Figures of the kernel that several tools print alike: table, what tells its rows apart, columns.
FIGURES: Final[Mapping[str, tuple[str | None, tuple[str, ...]]]] = {
    "cpu": (None, ("idle_pct", "usr_pct")),
    "memory": (None, ("free_bytes",)),
    "disk": ("device", ("reads_per_s", "writes_per_s")),
    "network": ("interface", ("rx_bytes_per_s", "tx_bytes_per_s")),
}
# Tools begin their intervals within a second of each other: of intervals shorter than a minute means of five are alike.
SHORT_S, AVERAGED = 60.0, 5
FEWEST = 10  # values that are compared; fewer may be alike by chance, at one of a hundred distances
OVERLAPPING = 0.8  # of the shorter of two; what is of one run overlaps
MOST = 2000  # values that are enough
# Deviation of the values from each other in parts of their own spread: unrelated ones have 1.4, a constant one 1.
ALIKE = 0.5
TIMES_WORSE = 2.0
# Tools that one script begins and ends, one after the other.
TOGETHER_S = 2.0
LEAST_S = 10.0


def ahead_s(known: Dataset, local: Dataset) -> int | None:
    """Seconds that the second dataset's times are ahead of the first's, whole quarter hours.

    Null where they are not, or where neither figures nor ends tell that they are of one run.
    """
    one, other = _series(known), _series(local)
    common = set(one["name"]) & set(other["name"])
    if not common:
        return _by_ends(known, local)
    one, other = (rows.filter(pl.col("name").is_in(common)) for rows in (one, other))
    width_s = _width_s(one, other)
    binned, other = _binned(one, width_s, 0), other.head(MOST * len(common))
    misfits = {ahead: misfit for ahead in AHEAD_S if (misfit := _misfit(binned, _binned(other, width_s, ahead)))}
    best = min(misfits, key=lambda ahead: (misfits[ahead], abs(ahead)), default=0)
    is_found = best and misfits[best] <= ALIKE and misfits[best] * TIMES_WORSE <= misfits.get(0, TIMES_WORSE)
    return best if is_found else None


def _by_ends(known: Dataset, local: Dataset) -> int | None:
    """The same from when both begin and end; not where they begin with a minute, as all that cron runs does."""
    if not (known.since and known.until and local.since and local.until):
        return None
    begins, ends = ((theirs - ours).total_seconds() for ours, theirs in
                    ((known.since, local.since), (known.until, local.until)))  # fmt: skip
    ahead = round(begins / QUARTER_S) * QUARTER_S
    is_short = known.until - known.since < timedelta(seconds=LEAST_S)
    from_minute_s = (known.since.second + 30) % 60 - 30
    if is_short or not ahead or ahead not in AHEAD_S or abs(from_minute_s) <= TOGETHER_S:
        return None
    return ahead if max(abs(begins - ahead), abs(ends - ahead)) <= TOGETHER_S else None


def _series(dataset: Dataset) -> pl.DataFrame:
    """The figures of a dataset: columns name, s (end of the interval, seconds), length_s, value; in order of time."""
    return pl.concat(_parts(dataset)).sort("s", maintain_order=True)


def _parts(dataset: Dataset) -> Iterator[pl.DataFrame]:
    for table, (entity, columns) in FIGURES.items():
        rows = dataset.frame(table)
        rows = rows.filter(pl.col("cpu").is_null()) if table == "cpu" else rows
        of = pl.col(entity).fill_null("") if entity else pl.lit("")
        for column in columns:
            yield rows.select(
                pl.concat_str(pl.lit(f"{table}.{column} "), of).alias("name"),
                (pl.col("ts").dt.timestamp("us") / 1e6).alias("s"),
                pl.col("interval_s").alias("length_s"),
                pl.col(column).cast(pl.Float64).alias("value"),
            ).filter(pl.col("length_s") > 0).drop_nulls("value")  # fmt: skip


def _width_s(*series: pl.DataFrame) -> float:
    """Seconds of the steps in which two are compared."""
    lengths = [float(rows["length_s"].median() or 1.0) for rows in series]  # type: ignore[arg-type]
    longest = max(lengths)
    return longest * AVERAGED if longest < SHORT_S else longest


def _binned(series: pl.DataFrame, width_s: float, ahead: int) -> pl.DataFrame:
    """Means by name and step of time, as if its clock were so far ahead."""
    step = ((pl.col("s") - ahead - pl.col("length_s") / 2) / width_s).floor().cast(pl.Int64).alias("step")
    return series.group_by("name", step, maintain_order=True).agg(pl.col("value").mean())


def _misfit(one: pl.DataFrame, other: pl.DataFrame) -> float | None:
    """How far figures are from each other, in parts of their spread, the median; null where too few meet."""
    pairs = one.join(other, on=["name", "step"], suffix="_other", maintain_order="left")
    shorter = min(rows["step"].n_unique() for rows in (one, other))
    if pairs["step"].n_unique() < OVERLAPPING * shorter:
        return None
    apart = ((pl.col("value") - pl.col("value_other")) ** 2).mean().sqrt()
    spread = pl.col("value").std()
    parts = {"misfit": apart / spread, "spread": spread}
    found = pairs.group_by("name", maintain_order=True).agg(pl.len(), **parts)
    fit = found.filter((pl.col("len") >= FEWEST) & (pl.col("spread") > 0))["misfit"]
    return None if fit.is_empty() else float(fit.median() or 1e-9)  # type: ignore[arg-type]
