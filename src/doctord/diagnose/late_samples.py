"""Samples of sessions that came late: a sampler waits for a CPU like those whom it samples."""

from typing import Final

import polars as pl

from doctord.analyse.time import SAMPLED
from doctord.diagnose.case import Case
from doctord.diagnose.finding import NotMeasured
from doctord.diagnose.phrase import phrase

# As `SessionCollector` of PostgreSQL samples; one that comes three times as late is no noise of the scheduler.
PERIOD_S: Final = 0.1
LATE: Final = 3.0
# Sessions without a number were counted by an exporter, as often as it was scraped.
OURS: Final = pl.col("sid").is_not_null()
HINT: Final = "a quieter moment, or a higher priority for doctord (nice); CPU and run queue are the kernel's own count"


def late_samples(case: Case) -> tuple[NotMeasured, ...]:
    """That sessions were sampled seldom: of what they waited for, less is known. Nothing where samples came in time."""
    dbs = case.dataset.frame("wait").filter(pl.sql_expr(SAMPLED) & pl.col("db").str.starts_with("postgresql:"))["db"]
    means = (
        (db, _apart_s(case.dataset.rows("session", OURS & (pl.col("db") == db), "ts", "interval_s")))
        for db in sorted({*dbs})
    )
    return tuple(
        NotMeasured(
            phrase("{}: what sessions did between samples", db),
            phrase("samples came {:.2f s} apart on average, where {:.1f s} was asked for", mean, PERIOD_S),
            HINT,
        )
        for db, mean in means
        if mean is not None and mean > LATE * PERIOD_S
    )


def _apart_s(looks: pl.DataFrame) -> float | None:
    """Seconds between the samples of a server's sessions, on average."""
    mean = looks.group_by("ts", maintain_order=True).agg(pl.col("interval_s").max())["interval_s"].mean()
    return mean if isinstance(mean, float) else None
