"""Times on end in which something was so."""

import polars as pl

# A row that begins later than half an interval after the one before it ended leaves a gap: nobody knows what was there.
GAP = 1.5
# What holds for a quarter of the time, or for so long without a break, is more than a burst.
LASTING, LASTING_S = 0.25, 900.0


def longest(rows: pl.DataFrame, condition: pl.Expr, *by: str) -> pl.DataFrame:
    """The longest time on end in which a condition held, of each of what rows are about.

    Args:
        rows: with `ts` and `interval_s`; what has no interval adds nothing.
        condition: what holds or not; null is not.
        by: the columns that say what a row is about; rows without them are one series.

    Returns:
        Columns `by` and longest_s; of what it held for only.
    """
    if by and rows.is_empty():
        return rows.select(*by, pl.col("interval_s").alias("longest_s"))
    ordered = rows.sort(*by, "ts", maintain_order=True).with_columns(holds=condition.fill_null(value=False))
    since_s = pl.col("ts").diff().dt.total_microseconds() / 1e6
    follows = (since_s <= GAP * pl.col("interval_s")).fill_null(value=True)
    changed = (pl.col("holds") != pl.col("holds").shift(1)).fill_null(value=True) | ~follows
    run = changed.cast(pl.Int64).cum_sum()
    runs = ordered.with_columns(run=run.over(*by) if by else run).filter("holds")
    lengths = runs.group_by(*by, "run", maintain_order=True).agg(pl.col("interval_s").sum().alias("longest_s"))
    most = pl.col("longest_s").max()
    return lengths.group_by(*by, maintain_order=True).agg(most) if by else lengths.select(most)


def held(rows: pl.DataFrame, condition: pl.Expr, *by: str) -> pl.DataFrame:
    """How much of the time a condition held, of each of what rows are about, and how long at most on end.

    Args:
        rows: with `ts` and `interval_s`; without an interval they are as long as each other.
        condition: what holds or not; null is not.
        by: the columns that say what a row is about; rows without them are one series.

    Returns:
        Columns `by`, part (0 to 1), longest_s and is_lasting; of what it held for only.
    """
    weight, part = pl.col("interval_s").fill_null(1.0), pl.col("part")
    shares = [(weight * condition.fill_null(value=False)).sum().truediv(weight.sum()).alias("part")]
    parts = rows.group_by(*by, maintain_order=True).agg(shares) if by else rows.select(shares)
    ends = longest(rows, condition, *by)
    joined = (
        parts.join(ends, on=by, maintain_order="left", nulls_equal=True)
        if by
        else parts.join(ends, how="cross", maintain_order="left")
    )
    is_lasting = (part >= LASTING) | (pl.col("longest_s").fill_null(0.0) >= LASTING_S)
    return joined.with_columns(is_lasting=is_lasting)


def covered_s(frame: pl.DataFrame, bridging_s: float = 0.0) -> float:
    """Seconds that the intervals of rows cover together: what several rows cover counts once.

    Args:
        frame: with `ts` and `interval_s`; what has no interval adds nothing.
        bridging_s: gaps up to this length count as covered.
    """
    if frame.is_empty():
        return 0.0
    # of those that end together the longest holds the others: of hundreds of processes one row a second is left
    each = frame.group_by("ts", maintain_order=True).agg(pl.col("interval_s").max()).drop_nulls()
    end = pl.col("ts").dt.timestamp("us")
    ordered = each.select(end=end, start=end - pl.col("interval_s") * 1_000_000).sort("start", maintain_order=True)
    until_then = pl.col("end").cum_max().shift(1)
    gap = (pl.col("start") - until_then).fill_null(0.0).clip(lower_bound=0)
    covered = (pl.col("end") - pl.max_horizontal("start", until_then)).clip(lower_bound=0)
    bridged = pl.when(gap <= bridging_s * 1_000_000).then(gap).otherwise(0.0)
    return float(ordered.select((covered + bridged).sum()).item() or 0.0) / 1e6
