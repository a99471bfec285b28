"""Rows summed up by minute, hour and day so that the sums can be added to each other later.

By minute and hour: number, mean, extremes, last value. By hour and day: counts in buckets, of which percentiles follow.
"""

import hashlib
import math
import re
from typing import TYPE_CHECKING, Final

import polars as pl

from doctord.dataset.buckets import GROWTH, ZERO_AT
from doctord.dataset.figure import Figure
from doctord.dataset.tables import OLD_NAMES, TABLES
from doctord.lake.place import LakeError

if TYPE_CHECKING:
    import duckdb

LABELS: Final = ("figure", "host", "db", "entity")
_HOUR_US: Final = 3_600_000_000

_ROWS: Final = """
CREATE OR REPLACE TEMP VIEW valued AS SELECT * FROM (
    SELECT host, {db} AS db, {entity} AS entity, ts, ({value})::DOUBLE AS value,
        coalesce(({weight})::DOUBLE, 1) AS weight
    FROM "{table}" WHERE {where}
) WHERE isfinite(value) AND weight > 0 AND isfinite(weight)
"""
_MINUTES: Final = """
SELECT host, db, entity, make_timestamp((epoch_us(ts) + 59999999) // 60000000 * 60000000) AS ts,
    count(*) AS count, sum(weight) AS weight, sum(value * weight) / sum(weight) AS value,
    min(value) AS low, max(value) AS high, arg_max(value, valued.ts) AS last
FROM valued GROUP BY ALL
"""
_BUCKETS: Final = f"""
SELECT host, db, entity, make_timestamp((epoch_us(ts) + {_HOUR_US - 1}) // {_HOUR_US} * {_HOUR_US}) AS ts,
    CASE WHEN value = 0 THEN 0
        ELSE sign(value) * ({ZERO_AT} + ceil(ln(abs(value)) / {math.log(GROWTH)!r})) END::INTEGER AS bucket,
    count(*) AS count
FROM valued GROUP BY ALL
"""  # noqa: S608 - numbers of this file


def fingerprint_of(figure: Figure) -> str:
    """A short mark of what a figure is made of: with another definition it is another figure, whatever its name.

    A column that was renamed counts under its old name, so that what is kept for years goes on.
    """
    made_of = repr((figure.table, figure.value, figure.where, figure.each, figure.weight))
    for (table, new), old in OLD_NAMES.items():
        if table == figure.table:
            made_of = re.sub(rf"\b{new}\b", old, made_of)
    return hashlib.sha256(made_of.encode()).hexdigest()[:16]


def minutes_and_buckets(connection: "duckdb.DuckDBPyConnection", figure: Figure) -> tuple[pl.DataFrame, pl.DataFrame]:
    """What a connection's table tells of a figure.

    Returns:
        By `LABELS` and minute (`ts`, its end): `count` of rows, `weight` (sum), `value` (mean by weight), `low`,
        `high`, `last`; and by `LABELS` and hour (`ts`, its end): `bucket` and `count`. What has no rows is not in it.

    Raises:
        LakeError: it cannot be reckoned.
    """
    import duckdb  # noqa: PLC0415 - who imports this for a file alone does without it

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
        minutes, buckets = (connection.sql(query).pl() for query in (_MINUTES, _BUCKETS))
    except duckdb.Error as error:
        said = str(error).splitlines()[0]
        raise LakeError(f"figure {figure.name!r}: {said}", "docs/how-to/keep-capacity.md shows the form") from error
    fingerprint = pl.lit(fingerprint_of(figure)).alias("figure")
    return minutes.with_columns(fingerprint), buckets.with_columns(fingerprint)


def added_sums(rows: pl.DataFrame, by: tuple[str, ...] = ("series",)) -> pl.DataFrame:
    """Sums with those of the same step added; of `last` the later row's is kept."""
    weight = pl.col("weight")
    return rows.group_by(*by, "ts", maintain_order=True).agg(
        pl.col("count").sum(),
        weight.sum(),
        ((pl.col("value") * weight).sum() / weight.sum()).alias("value"),
        pl.col("low").min(),
        pl.col("high").max(),
        pl.col("last").last(),
    )


def added_buckets(rows: pl.DataFrame, by: tuple[str, ...] = ("series",)) -> pl.DataFrame:
    """Counts of buckets with those of the same step added."""
    return rows.group_by(*by, "ts", "bucket").agg(pl.col("count").sum())


def ending(every: str) -> pl.Expr:
    """The end of the step (`1h`, `5m`) in which a moment lies; its own end belongs to it."""
    return pl.col("ts").dt.offset_by("-1us").dt.truncate(every).dt.offset_by(every)
