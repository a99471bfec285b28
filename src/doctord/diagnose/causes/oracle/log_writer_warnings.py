"""Writes of the log of which Oracle's log writer complains in its trace, where nothing else times them."""

from collections.abc import Iterator

import polars as pl

from doctord.diagnose.case import Case
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence, NotMeasured
from doctord.diagnose.phrase import phrase

WRITE, SIZE = "lgwr.slow_write_ms", "lgwr.slow_write_bytes"
# What is slower than this for a reason other than its size: any disk writes tens of megabytes a second in one piece.
SLOW_BYTES_PER_S = 20e6
# Once is a hiccup of the storage, or a backup.
AGAIN_AND_AGAIN = 10
WARNED_FROM_MS = 500.0
QUICK_ONES = NotMeasured(
    "how many quick writes lay between",
    "LGWR's trace tells only of those that took half a second or longer",
    "The histogram of log file parallel write (v$event_histogram, AWR), or doctord record.",
)


def warned_writes(case: Case) -> Iterator[Claim]:
    """Writes that took half a second and longer, each told once."""
    rows = case.dataset.frame("statistic").filter(pl.col("name").is_in([WRITE, SIZE]))
    writes = rows.filter(pl.col("name") == WRITE)["value"].drop_nulls()
    if writes.is_empty():
        return
    total_ms, count = float(writes.sum()), writes.len()
    bytes_per_s = float(rows.filter(pl.col("name") == SIZE)["value"].sum()) / total_ms * 1e3
    hours = rows.filter(pl.col("name") == WRITE)["ts"].dt.truncate("1h").n_unique()
    for_, against = weigh(
        [Sign("statistic", f"name = '{SIZE}'", bytes_per_s, SLOW_BYTES_PER_S, "{:bytes} a second while they lasted",
              "so little is not what takes the time", "large writes: bandwidth counts", below=True)]
    )  # fmt: skip
    yield Claim(
        phrase("The log's device stalls: {:,.0f} writes took half a second or longer, {:,.0f ms} on average",
               count, total_ms / count),
        impact=NOT_MEASURED,
        confidence=0.8,
        severity=None if count >= AGAIN_AND_AGAIN else "note",
        for_=[
            Evidence("statistic", f"name = '{WRITE}'",
                     phrase("{:,.0f ms} in the middle, {:,.0f ms} at most", _quantile(writes, 0.5),
                            _quantile(writes, 1.0)),
                     phrase("{:.0f ms}", WARNED_FROM_MS),
                     phrase("{:,.0f} warnings of LGWR, in {:,.0f} different hours", count, hours), "at_least"),
            *for_,
        ],
        against=against,
        not_measured=[QUICK_ONES],
    )  # fmt: skip


def _quantile(values: pl.Series, of: float) -> float:
    return float(values.quantile(of, "nearest") or 0.0)
