"""What a server did, as figures over time that mean the same on another server, or under another load.

What is counted by the second is divided by the commits of that second, and time is a share of time: a server that does
twice as much at night is not ill, and one of twice the size is comparable. The rates themselves are there too, for a
signature holds them against the same server's usual ones: where nothing is committed they alone tell what is done.
Levels (bytes in use, sessions) are left out.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing
import polars as pl

from doctord.analyse.study.samples import Numbers
from doctord.analyse.time import SAMPLED
from doctord.dataset.common_statistics import names_of
from doctord.dataset.dataset import Dataset

MOST_STEPS: Final = 1800
FEWEST_STEPS: Final = 2
SHORTEST_S: Final = 1.0
COMMITS: Final = "commits"
PER_COMMIT, PER_SECOND = " per commit", " per second"
DATABASE_TIME: Final = "database time"
# Whether clients wait longer, in the order in which it is told: of the database, else of the host.
SUFFERS: Final = (DATABASE_TIME, "CPU pressure", "memory pressure")
# As for findings: less is the resting state of a quiet server, and its waits are chance.
LEAST_SESSIONS: Final = 0.1
_COUNTED: Final = ("per_s", "bytes_per_s", "blocks_per_s", "ms_per_s")
_OWN: Final = "doctord"

# Of a host: name, table, which of its rows, value; by what entities are averaged (null: a rate, added up, by commit).
_OF_HOST: Final = (
    ("CPU used", "cpu", "cpu IS NULL", "usr_pct + sys_pct + coalesce(irq_pct, 0)", "1"),
    ("CPU in the kernel", "cpu", "cpu IS NULL", "sys_pct", "1"),
    ("CPU stolen", "cpu", "cpu IS NULL", "steal_pct", "1"),
    ("CPU pressure", "cpu", "cpu IS NULL", "pressure_some_pct", "1"),
    ("run queue", "cpu", "cpu IS NULL", "run_queue", "1"),
    ("context switches", "cpu", "cpu IS NULL", "csw_per_s", None),
    ("interrupts", "cpu", "cpu IS NULL", "interrupts_per_s", None),
    ("processes started", "cpu", "cpu IS NULL", "forks_per_s", None),
    ("memory available", "memory", "true", "100.0 * available_bytes / NULLIF(total_bytes, 0)", "1"),
    ("memory pressure", "memory", "true", "pressure_some_pct", "1"),
    ("pages swapped in", "memory", "true", "swap_in_per_s", None),
    ("pages swapped out", "memory", "true", "swap_out_per_s", None),
    ("pages scanned", "memory", "true", "scan_per_s", None),
    ("major faults", "memory", "true", "major_faults_per_s", None),
    ("minor faults", "memory", "true", "minor_faults_per_s", None),
    ("requests to devices", "disk", "true", "coalesce(requests_per_s, reads_per_s + writes_per_s)", None),
    ("bytes read", "disk", "true", "read_bytes_per_s", None),
    ("bytes written", "disk", "true", "write_bytes_per_s", None),
    ("time of a read", "disk", "reads_per_s > 0", "read_ms", "reads_per_s"),
    ("time of a write", "disk", "writes_per_s > 0", "write_ms", "writes_per_s"),
    ("device busy", "disk", "util_pct > 0", "util_pct", "util_pct"),  # of several the one that is busy
    ("network bytes", "network", "interface IS NOT NULL", "rx_bytes_per_s + tx_bytes_per_s", None),
    ("segments sent again", "network", "segments_out_per_s > 0", "100.0 * retransmits_per_s / segments_out_per_s", "1"),
)
_FOREGROUND: Final = "wait_class <> 'Idle' AND coalesce(kind, 'foreground') <> 'background'"
NEEDS: Final = {
    "cpu": "cpu IS NULL",
    "memory": "true",
    "disk": "true",
    "network": "true",
    "wait": _FOREGROUND,
    "statistic": f"kind = 'rate' AND component <> '{_OWN}'",
}
"""What figures are made of: tables, each with a condition in SQL on its rows."""


@dataclass(frozen=True, eq=False)
class Figures:
    """Figures over time, in even steps.

    Attributes:
        names: Of each figure.
        since_s: When the first step begins, seconds since 1970.
        step_s: How long each is.
        values: Steps x figures; NaN where nothing was measured; infinite where a cost was paid and nothing was done.
        is_cost: Of each figure whether it is a cost or a share, which a change of the load alone does not move.
        suffers: Place of the figure by which clients wait longer where it is high; null where nothing tells.
        spent_s, done: Seconds of database time and commits of each step; NaN where not measured.
    """

    names: tuple[str, ...]
    since_s: float
    step_s: float
    values: Numbers
    is_cost: "np.typing.NDArray[np.bool_]"
    suffers: int | None
    spent_s: Numbers
    done: Numbers

    @property
    def steps(self) -> int:
        """How many steps there are."""
        return len(self.values)

    def place(self, moment_s: float) -> int:
        """The step that begins at a moment, or next to it; none is before the first or after the last."""
        return int(np.clip(round((moment_s - self.since_s) / self.step_s), 0, self.steps))


def figures_of(dataset: Dataset) -> Figures | None:
    """The figures of a host and the servers on it; null where nothing tells of two steps.

    Args:
        dataset: of the tables in `NEEDS`; others are not looked at.
    """
    parts = [part for part in _rows(dataset) if part.height]
    if not parts:
        return None
    rows = pl.concat(parts)
    ends_s, lengths_s = rows["ts"].dt.epoch("us").to_numpy() / 1e6, rows["interval_s"].to_numpy()
    since_s, until_s = float((ends_s - lengths_s).min()), float(ends_s.max())
    step_s = max(SHORTEST_S, (until_s - since_s) / MOST_STEPS)
    steps = round((until_s - since_s) / step_s)
    if steps < FEWEST_STEPS:
        return None
    shares, rates = dict[str, Numbers](), dict[str, Numbers]()
    by_name = rows.partition_by("name", "is_rate", as_dict=True, maintain_order=True)
    for (name, is_rate), part in by_name.items():
        (rates if is_rate else shares)[str(name)] = _spread(part, since_s, step_s, steps)
    unknown = np.full(steps, np.nan)
    commits, active = rates.pop(COMMITS, unknown), shares.pop(DATABASE_TIME, unknown)
    waited = np.where((active < LEAST_SESSIONS) & ~(commits > 0), np.nan, active)
    return of_rates(shares, rates, commits, waited, since_s=since_s, step_s=step_s)


def of_rates(
    shares: Mapping[str, Numbers],
    rates: Mapping[str, Numbers],
    commits: Numbers,
    active: Numbers,
    *,
    since_s: float = 0.0,
    step_s: float = 1.0,
) -> Figures:
    """Figures of what was measured, whatever told it.

    Args:
        shares: Of each figure its value in each step: shares of time, and times of one of many; NaN: not measured.
        rates: The same of what is counted by the second.
        commits: Commits a second in each step; NaN where not measured.
        active: Sessions that work or wait in each step, on average; NaN likewise.
        since_s: When the first step begins, seconds since 1970.
        step_s: Seconds of a step.
    """
    counted = bool(np.isfinite(commits).any())
    costs = dict(shares)
    costs[DATABASE_TIME] = _per(active, commits) if counted else active
    if counted:
        costs |= {f"{name}{PER_COMMIT}": _per(values, commits) for name, values in rates.items()}
    plain = {f"{name}{PER_SECOND}": values for name, values in {COMMITS: commits, **rates}.items()}
    known = {name: values for name, values in (costs | plain).items() if _differs(values)}
    names = tuple(known)
    return Figures(
        names,
        since_s,
        step_s,
        np.column_stack(list(known.values())) if known else np.empty((len(commits), 0)),
        np.array([name in costs or not counted for name in names], dtype=bool),
        next((names.index(name) for name in SUFFERS if name in known), None),
        active * step_s,
        commits * step_s,
    )


def _spread(rows: pl.DataFrame, since_s: float, step_s: float, steps: int) -> Numbers:
    """The mean of each step over what was measured in it; a row counts in all steps that its interval covers."""
    ends = (rows["ts"].dt.epoch("us").to_numpy() / 1e6 - since_s) / step_s
    begins = ends - rows["interval_s"].to_numpy() / step_s
    first = np.clip(np.floor(begins + 0.5), 0, steps - 1).astype(np.int64)
    covered = np.maximum(np.clip(np.floor(ends + 0.5), 1, steps).astype(np.int64) - first, 1)
    offset = np.arange(int(covered.sum())) - np.repeat(np.cumsum(covered) - covered, covered)
    places = np.repeat(first, covered) + offset
    summed = np.bincount(places, np.repeat(rows["value"].to_numpy(), covered), steps)
    counted = np.bincount(places, minlength=steps)
    means: Numbers = np.divide(summed, counted, out=np.full(steps, np.nan), where=counted > 0)
    return means


def _per(values: Numbers, commits: Numbers) -> Numbers:
    """What one commit took; infinite where there was none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(commits > 0, values / commits, np.where((commits == 0) & (values > 0), np.inf, np.nan))


def _differs(values: Numbers) -> bool:
    known = values[~np.isnan(values)]
    return bool(len(known) > 1 and (known != known[0]).any())


def _rows(dataset: Dataset) -> Iterator[pl.DataFrame]:
    """What was measured, a row for each figure and moment: name, is_rate, ts, interval_s, value."""
    for name, table, where, value, weight in _OF_HOST:
        frame = dataset.frame(table)
        if frame.height:
            chosen = frame.filter(pl.sql_expr(where))
            yield (
                _averaged(chosen, name, value, weight) if weight else _summed(chosen, pl.lit(name), value, is_rate=True)
            )
    yield from _waits(dataset)
    statistics = dataset.frame("statistic")
    if statistics.height:
        rates = statistics.filter((pl.col("kind") == "rate") & pl.col("unit").is_in(_COUNTED))
        is_commit = pl.col("name").is_in(names_of(COMMITS))
        yield _summed(rates.filter(is_commit), pl.lit(COMMITS), "value", is_rate=True)
        others = rates.filter(~is_commit & (pl.col("component") != _OWN))
        yield _summed(others, pl.col("name"), "value", is_rate=True)


def _waits(dataset: Dataset) -> Iterator[pl.DataFrame]:
    """Sessions at work in all, and by what they wait for: none in a moment that was sampled is none, not unknown."""
    waits = dataset.frame("wait")
    if waits.is_empty():
        return
    looked = waits.filter(pl.sql_expr(SAMPLED)).unique("ts", maintain_order=True)
    chosen = waits.filter(pl.sql_expr(_FOREGROUND))
    yield _summed(chosen, pl.lit(DATABASE_TIME), "average_active_sessions", is_rate=False)
    for (kind, event), rows in chosen.partition_by("wait_class", "event", as_dict=True, maintain_order=True).items():
        name = pl.lit(str(kind) if kind == event else f"{kind}: {event}")
        yield _summed(rows, name, "average_active_sessions", is_rate=False)
        yield _summed(looked.join(rows, on="ts", how="anti", maintain_order="left"), name, "0.0", is_rate=False)


def _summed(frame: pl.DataFrame, name: pl.Expr, value: str, *, is_rate: bool) -> pl.DataFrame:
    """What entities have in sum at each moment: rates."""
    return _at_moments(frame, name, value, "1.0", pl.col("value").sum(), is_rate=is_rate)


def _averaged(frame: pl.DataFrame, name: str, value: str, weight: str) -> pl.DataFrame:
    """What entities have on average at each moment: shares, and times of one of many."""
    mean = (pl.col("value") * pl.col("weight")).sum() / pl.col("weight").sum()
    return _at_moments(frame, pl.lit(name), value, weight, mean, is_rate=False)


def _at_moments(
    frame: pl.DataFrame, name: pl.Expr, value: str, weight: str, taken: pl.Expr, *, is_rate: bool
) -> pl.DataFrame:
    rows = frame.filter(pl.col("interval_s") > 0).select(
        name.alias("name"),
        "ts",
        "interval_s",
        pl.sql_expr(value).cast(pl.Float64).alias("value"),
        pl.sql_expr(weight).cast(pl.Float64).alias("weight"),
    )
    known = rows.filter(pl.col("value").is_finite() & (pl.col("weight") > 0))
    return known.group_by("name", "ts", maintain_order=True).agg(
        pl.lit(is_rate).first().alias("is_rate"), pl.col("interval_s").max(), taken.alias("value")
    )
