"""Rows summed up by hour so that the sums can be added to each other later: mean, extremes, and percentiles of a day.

Percentiles come from counts in buckets whose edges grow by 2 %: any percentile is right to 1 % of itself, and counts
of several days, or hosts, are simply added (C. Masson, J. E. Rim, H. K. Lee, "DDSketch: a fast and fully-mergeable
quantile sketch with relative-error guarantees", VLDB 2019).
"""

import hashlib
import math
from typing import Final, Protocol

import duckdb
import numpy as np
import numpy.typing as npt
import polars as pl

from doctord.chart.tables import TABLES
from doctord.lake.place import LakeError

GROWTH: Final = 1.02
ZERO_AT: Final = 40_000  # no logarithm of a double is as far from zero: the sign of a bucket's number is the value's
WHOSE: Final = ("figure", "host", "db", "entity")

_ROWS: Final = """
CREATE OR REPLACE TEMP VIEW valued AS SELECT * FROM (
    SELECT host, {db} AS db, {entity} AS entity, ts, ({value})::DOUBLE AS value,
        coalesce(({weight})::DOUBLE, 1) AS weight
    FROM "{table}" WHERE {where}
) WHERE isfinite(value) AND weight > 0 AND isfinite(weight)
"""
_HOURS: Final = """
SELECT host, db, entity, make_timestamp((epoch_us(ts) + 3599999999) // 3600000000 * 3600000000) AS ts,
    count(*) AS count, sum(weight) AS weight, sum(value * weight) / sum(weight) AS value,
    min(value) AS low, max(value) AS high, arg_max(value, valued.ts) AS last
FROM valued GROUP BY ALL
"""
_DAYS: Final = f"""
SELECT host, db, entity, date_trunc('day', ts - INTERVAL 1 MICROSECOND) AS ts,
    CASE WHEN value = 0 THEN 0
        ELSE sign(value) * ({ZERO_AT} + ceil(ln(abs(value)) / {math.log(GROWTH)!r})) END::INTEGER AS bucket,
    count(*) AS count
FROM valued GROUP BY ALL
"""  # noqa: S608 - two numbers


class Summed(Protocol):
    """What must be known of a figure to sum it up; `doctord.analyse.capacity.figure.Figure` says it."""

    @property
    def name(self) -> str: ...  # noqa: D102 - as there
    @property
    def table(self) -> str: ...  # noqa: D102
    @property
    def value(self) -> str: ...  # noqa: D102
    @property
    def where(self) -> str: ...  # noqa: D102
    @property
    def each(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def weight(self) -> str: ...  # noqa: D102


def mark_of(figure: Summed) -> str:
    """A short mark of what a figure is made of: with another definition it is another figure, whatever its name."""
    made_of = (figure.table, figure.value, figure.where, figure.each, figure.weight)
    return hashlib.sha256(repr(made_of).encode()).hexdigest()[:16]


def hours_and_days(connection: duckdb.DuckDBPyConnection, figure: Summed) -> tuple[pl.DataFrame, pl.DataFrame]:
    """What a connection's table tells of a figure.

    Returns:
        By `WHOSE` and hour (`ts`, its end): `count` of rows, `weight` (sum), `value` (mean by weight), `low`, `high`,
        `last`; and by `WHOSE` and day (`ts`, its start): `bucket` and `count`. Hours without rows are not in it.

    Raises:
        LakeError: it cannot be reckoned.
    """
    entity = f"concat_ws(' ', {', '.join(figure.each)})" if figure.each else "''"
    has_db = "db" in TABLES[figure.table].columns_named
    rows = _ROWS.format(
        db="db" if has_db else "NULL::VARCHAR",
        entity=entity,
        value=figure.value,
        weight=figure.weight,
        table=figure.table,
        where=figure.where or "true",
    )
    try:
        connection.execute(rows)
        hours, days = (connection.sql(query).pl() for query in (_HOURS, _DAYS))
    except duckdb.Error as error:
        said = str(error).splitlines()[0]
        raise LakeError(f"figure {figure.name!r}: {said}", "docs/how-to/keep-capacity.md shows the form") from error
    mark = pl.lit(mark_of(figure)).alias("figure")
    return hours.with_columns(mark), days.with_columns(mark)


def added_hours(rows: pl.DataFrame) -> pl.DataFrame:
    """Sums of hours with those of the same hour added; of `last` the later row's is kept."""
    weight = pl.col("weight")
    return rows.group_by("series", "ts", maintain_order=True).agg(
        pl.col("count").sum(),
        weight.sum(),
        ((pl.col("value") * weight).sum() / weight.sum()).alias("value"),
        pl.col("low").min(),
        pl.col("high").max(),
        pl.col("last").last(),
    )


def added_days(rows: pl.DataFrame) -> pl.DataFrame:
    """Counts of buckets with those of the same day added."""
    return rows.group_by("series", "ts", "bucket").agg(pl.col("count").sum())


def percentile(buckets: npt.NDArray[np.int32], counts: npt.NDArray[np.uint32], share: float) -> float:
    """The value below which this share (0 to 1) of what was counted lies; NaN where nothing was.

    >>> round(percentile(np.array([ZERO_AT + 1], np.int32), np.array([5], np.uint32), 0.5), 4)
    1.0099
    """
    if not counts.sum():
        return math.nan
    order = np.argsort(buckets)
    below = np.cumsum(counts[order])
    bucket = int(buckets[order][np.searchsorted(below, share * below[-1])])
    if not bucket:
        return 0.0
    return math.copysign(2 * GROWTH ** (abs(bucket) - ZERO_AT) / (GROWTH + 1), bucket)
