"""Times on end in which something was so."""

import polars as pl

# A row that begins later than half an interval after the one before it ended leaves a gap: nobody knows what was there.
GAP = 1.5


def longest(rows: pl.DataFrame, condition: pl.Expr, *by: str) -> pl.DataFrame:
    """The longest time on end in which a condition held, of each of what rows are about.

    Args:
        rows: with `ts` and `interval_s`; what has no interval adds nothing.
        condition: what holds or not; null is not.
        by: the columns that say what a row is about; rows without them are one series.

    Returns:
        Columns `by` and longest_s; of what it held for only.
    """
    ordered = rows.sort(*by, "ts", maintain_order=True).with_columns(holds=condition.fill_null(value=False))
    since_s = pl.col("ts").diff().dt.total_microseconds() / 1e6
    follows = (since_s <= GAP * pl.col("interval_s")).fill_null(value=True)
    changed = (pl.col("holds") != pl.col("holds").shift(1)).fill_null(value=True) | ~follows
    run = changed.cast(pl.Int64).cum_sum()
    runs = ordered.with_columns(run=run.over(*by) if by else run).filter("holds")
    lengths = runs.group_by(*by, "run", maintain_order=True).agg(pl.col("interval_s").sum().alias("longest_s"))
    most = pl.col("longest_s").max()
    return lengths.group_by(*by, maintain_order=True).agg(most) if by else lengths.select(most)
