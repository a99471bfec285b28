"""When no CPU was left, and who waited for one and who had them just then: what a mean over minutes hides."""

from typing import Final, NamedTuple

import polars as pl

from doctord.dataset.dataset import Dataset

# A tenth left is what bursts within a second use up: with less, somebody waits at most moments.
LEAST_IDLE_PCT: Final = 10.0

_USED_S: Final = pl.coalesce(pl.col("usr_pct") + pl.col("sys_pct"), "cpu_pct").fill_null(0.0) / 100
_WAITED_S: Final = pl.col("run_wait_pct").fill_null(0.0) / 100


class FullMoments(NamedTuple):
    """The intervals of a host in which hardly any CPU time was idle.

    `part` (0 to 1) is how much of the time they are, `seconds` how long they are together, `times` how often they came,
    `waited` what part (0 to 1) of all waiting for a CPU is in them, null where nobody waited or it was not measured.
    `ends` are when they ended.
    """

    part: float
    seconds: float
    times: int
    waited: float | None
    ends: pl.Series


def full_moments(dataset: Dataset, pids: pl.Series) -> FullMoments | None:
    """Of a host whose CPUs and processes were sampled at the same moments; null where a CPU was always free.

    Args:
        dataset: with `cpu` and `process`.
        pids: of the processes whose waiting for a CPU counts.
    """
    idle = pl.col("idle_pct") + pl.col("wait_io_pct").fill_null(0.0)
    host = (
        dataset.frame("cpu")
        .filter(pl.col("cpu").is_null() & pl.col("idle_pct").is_not_null() & pl.col("interval_s").is_not_null())
        .sort("ts", maintain_order=True)
        .select("ts", "interval_s", full=idle <= LEAST_IDLE_PCT)
    )
    whole_s, full = float(host["interval_s"].sum() or 0.0), host.filter("full")
    if not whole_s or full.is_empty() or host["ts"].n_unique() < host.height:
        return None
    begins = host["full"] & ~host["full"].shift(1, fill_value=False)
    waited = waited_in(dataset, pids, full["ts"])
    seconds = float(full["interval_s"].sum())
    return FullMoments(seconds / whole_s, seconds, int(begins.sum()), waited, full["ts"])


def waited_in(dataset: Dataset, pids: pl.Series, ends: pl.Series) -> float | None:
    """What part (0 to 1) of all the time that some processes waited for a CPU is in the intervals that ended then."""
    rows = _of(dataset, pids)
    whole_s, then_s = (_seconds(some, _WAITED_S) for some in (rows, _at(rows, ends)))
    return then_s / whole_s if whole_s else None


def used_in(dataset: Dataset, pids: pl.Series, ends: pl.Series) -> float:
    """CPU seconds that some processes used in the intervals that ended then."""
    return _seconds(_at(_of(dataset, pids), ends), _USED_S)


def wanted_in(dataset: Dataset, pids: pl.Series, ends: pl.Series) -> float:
    """The same with the seconds in which they were ready for a CPU: who queues makes others queue as well."""
    return _seconds(_at(_of(dataset, pids), ends), _USED_S + _WAITED_S)


def _of(dataset: Dataset, pids: pl.Series) -> pl.DataFrame:
    columns = ("ts", "interval_s", "usr_pct", "sys_pct", "cpu_pct", "run_wait_pct")
    return dataset.rows("process", pl.col("pid").is_in(pids.implode()), *columns)


def _at(rows: pl.DataFrame, ends: pl.Series) -> pl.DataFrame:
    return rows.filter(pl.col("ts").is_in(ends.implode()))


def _seconds(rows: pl.DataFrame, share: pl.Expr) -> float:
    return float(rows.select((share * pl.col("interval_s")).sum()).item() or 0.0)
