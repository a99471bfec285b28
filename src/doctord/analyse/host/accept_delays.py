"""How long clients wait until a server accepts their connections, by listening socket."""

from typing import NamedTuple

import polars as pl

from doctord.analyse import figures
from doctord.dataset.dataset import Dataset

DELAY, QUEUE, BACKLOG, PID = "listen.accept_delay", "listen.accept_queue", "listen.backlog", "listen.pid"
DROPS = "listen.drops_per_s"
# What one connection more costs a client on a server that is well is a tenth of that: a fork and a few round trips.
SLOW_S = 0.1
# A client or two that came at a bad moment are nobody's trouble: a tenth of the samples, or a minute of them.
LEAST_SAMPLES, LEAST_SHARE, MANY_SAMPLES = 3, 0.1, 60
STUCK = 0.8  # seconds that the delay grows in a second


class AcceptDelay(NamedTuple):
    """A listening socket at which clients wait.

    `delay_s` is the mean over the `slow` samples, of `samples`, in which it was 0.1 s or more, `longest_s` the largest;
    `is_stuck` says that it grew with the time, as where nobody is accepted; `waiting` the mean number of connections in
    its queue then, `backlog` how many may wait; `pid` the process that accepts. Null is what was not measured.
    """

    socket: str
    delay_s: float
    longest_s: float
    slow: int
    samples: int
    is_stuck: bool
    waiting: float | None
    backlog: float | None
    pid: int | None

    @property
    def accepts_per_s(self) -> float | None:
        """Connections accepted a second, an estimate: those who wait, by how long each does (Little's law)."""
        return self.waiting / self.delay_s if self.waiting and not self.is_stuck else None


def accept_delays(dataset: Dataset) -> list[AcceptDelay]:
    """Sockets whose clients wait 0.1 s and longer in a tenth of the samples, or in sixty, the slowest first.

    Source: J. D. C. Little, "A proof for the queuing formula L = lambda W", 1961: who waits, by how many are served.
    """
    told = dataset.frame("statistic").filter(pl.col("name").is_in([DELAY, QUEUE, BACKLOG, PID]))
    is_late = (pl.col("name") == DELAY) & (pl.col("value") >= SLOW_S)
    told = told.filter(is_late.any().over("entity"))
    if told.is_empty():
        return []
    wide = told.pivot("name", index=["entity", "ts"], values="value", aggregate_function="last")
    wide = wide.with_columns(pl.lit(None, pl.Float64).alias(name) for name in (QUEUE, BACKLOG, PID) if name not in wide)
    is_slow = pl.col(DELAY) >= SLOW_S
    delays, times = pl.col(DELAY).filter(is_slow), pl.col("ts").filter(is_slow)
    grown_s, passed_s = delays.last() - delays.first(), (times.last() - times.first()).dt.total_microseconds() / 1e6
    sums = (
        wide.sort("ts", maintain_order=True)
        .group_by("entity", maintain_order=True)
        .agg(
            samples=pl.len(),
            slow=is_slow.sum(),
            delay_s=delays.mean(),
            longest_s=delays.max(),
            is_stuck=(passed_s > 0) & (grown_s >= STUCK * passed_s),
            waiting=pl.col(QUEUE).filter(is_slow).mean(),
            backlog=pl.col(BACKLOG).drop_nulls().last(),
            pid=pl.col(PID).drop_nulls().last().cast(pl.Int64),
        )
    )
    enough = pl.max_horizontal(
        pl.lit(LEAST_SAMPLES), pl.min_horizontal(pl.col("samples") * LEAST_SHARE, pl.lit(MANY_SAMPLES))
    )
    slow = sums.filter(pl.col("slow") >= enough).sort(
        "delay_s", "entity", descending=[True, False], maintain_order=True
    )
    return [AcceptDelay(**row) for row in slow.rename({"entity": "socket"}).to_dicts()]


class Dropped(NamedTuple):
    """Connection requests dropped a second, and the table and rows that tell it."""

    per_s: float
    table: str
    filter: str


def dropped(dataset: Dataset, port: int) -> Dropped | None:
    """What the sockets of a port drop; null where nothing tells.

    The whole host's overflows count where its sockets are not told apart.
    """
    if figures.figures(dataset, BACKLOG):
        ends = (f":{port}", f".s.PGSQL.{port}")
        told = figures.figures(dataset, DROPS)
        own = sum(figure.mean for figure in told if figure.entity and figure.entity.endswith(ends))
        return Dropped(own, "statistic", f"name = '{DROPS}' and entity like '%{port}'")
    host = dataset.frame("network").filter(pl.col("interface").is_null())
    overflows = figures.mean(host, "listen_overflows_per_s")
    return None if overflows is None else Dropped(overflows, "network", "interface is null")
