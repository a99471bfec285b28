"""What a server did, as figures over time that mean the same on another server, or under another load.

What is counted by the second is divided by the commits of that second, and time is a share of time: a server that does
twice as much at night is not ill, and one of twice the size is comparable. The rates themselves are there too, for a
signature holds them against the same server's usual ones: where nothing is committed they alone tell what is done.
Levels (bytes in use, sessions) are left out.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

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
ACTIVE: Final = "active sessions"
# Whether clients wait longer, in the order in which it is told: of the database, else of the host.
SUFFERS: Final = (DATABASE_TIME, ACTIVE, "CPU pressure", "memory pressure")
# As for findings: less is the resting state of a quiet server, and its waits are chance.
LEAST_SESSIONS: Final = 0.1
_COUNTED: Final = ("per_s", "bytes_per_s", "blocks_per_s", "ms_per_s")
_OWN: Final = "doctord"

_HOST_AS_A_WHOLE: Final = "cpu IS NULL"
# Of a host, by table: name, value, by what entities are averaged (null: a rate, of which theirs are added up).
_OF_HOST: Final = {
    "cpu": (
        ("CPU used", "usr_pct + sys_pct + coalesce(irq_pct, 0)", "1"),
        ("CPU in the kernel", "sys_pct", "1"),
        ("CPU stolen", "steal_pct", "1"),
        ("CPU pressure", "pressure_some_pct", "1"),
        ("run queue", "run_queue", "1"),
        ("context switches", "csw_per_s", None),
        ("interrupts", "interrupts_per_s", None),
        ("processes started", "forks_per_s", None),
    ),
    "memory": (
        ("memory available", "100.0 * available_bytes / NULLIF(total_bytes, 0)", "1"),
        ("memory pressure", "pressure_some_pct", "1"),
        ("pages swapped in", "swap_in_per_s", None),
        ("pages swapped out", "swap_out_per_s", None),
        ("pages scanned", "scan_per_s", None),
        ("major faults", "major_faults_per_s", None),
        ("minor faults", "minor_faults_per_s", None),
    ),
    "disk": (
        ("requests to devices", "coalesce(requests_per_s, reads_per_s + writes_per_s)", None),
        ("bytes read", "read_bytes_per_s", None),
        ("bytes written", "write_bytes_per_s", None),
        ("time of a read", "read_ms", "reads_per_s"),
        ("time of a write", "write_ms", "writes_per_s"),
        ("device busy", "util_pct", "util_pct"),  # of several the one that is busy
    ),
    "network": (
        ("network bytes", "CASE WHEN interface IS NOT NULL THEN rx_bytes_per_s + tx_bytes_per_s END", None),
        ("segments sent again", "100.0 * retransmits_per_s / NULLIF(segments_out_per_s, 0)", "segments_out_per_s"),
    ),
}
_FOREGROUND: Final = "wait_class <> 'Idle' AND coalesce(kind, 'foreground') <> 'background'"
NEEDS: Final = {
    "cpu": _HOST_AS_A_WHOLE,
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

    @property
    def unseen_s(self) -> float:
        """For how long nothing tells how clients did: the server did not answer, or nobody recorded.

        A server at rest is seen; of what tells no sessions at all, that which stands for them counts.
        """
        is_seen = np.isfinite(self.spent_s)
        if not is_seen.any() and self.suffers is not None:
            is_seen = ~np.isnan(self.values[:, self.suffers])
        return float((~is_seen).sum()) * self.step_s

    def place(self, moment_s: float) -> int:
        """The step that begins at a moment, or next to it; none is before the first or after the last."""
        return int(np.clip(round((moment_s - self.since_s) / self.step_s), 0, self.steps))


def figures_of(dataset: Dataset) -> Figures | None:
    """The figures of a host and the servers on it; null where nothing tells of two steps.

    Args:
        dataset: of the tables in `NEEDS`; others are not looked at.
    """
    told = [one for one in _told(dataset) if one.rows.height]
    if not told:
        return None
    spans = [_span(one.rows) for one in told]
    grid = _Grid(min(begin for begin, _ in spans), max(end for _, end in spans))
    if grid.steps < FEWEST_STEPS:
        return None
    shares, rates = dict[str, Numbers](), dict[str, Numbers]()
    for one in told:
        (rates if one.is_rate else shares)[one.name] = grid.means(one.rows, one.looked)
    unknown = np.full(grid.steps, np.nan)
    commits, active = rates.pop(COMMITS, unknown), shares.pop(DATABASE_TIME, unknown)
    return of_rates(shares, rates, commits, active, since_s=grid.since_s, step_s=grid.step_s)


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
    at_rest = (active < LEAST_SESSIONS) & ~(commits > 0)
    costs = dict(shares)
    costs[DATABASE_TIME if counted else ACTIVE] = (
        _per(np.where(at_rest, np.nan, active), commits) if counted else active
    )
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


def _per(values: Numbers, commits: Numbers) -> Numbers:
    """What one commit took; infinite where there was none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(commits > 0, values / commits, np.where((commits == 0) & (values > 0), np.inf, np.nan))


def _differs(values: Numbers) -> bool:
    known = values[~np.isnan(values)]
    return bool(len(known) > 1 and (known != known[0]).any())


class _Told(NamedTuple):
    """One figure, a row for each moment (ts, interval_s, value), and whether it is counted by the second.

    Where rows tell only of what was there, `looked` has the moments that were looked at (ts, interval_s).
    """

    name: str
    is_rate: bool
    rows: pl.DataFrame
    looked: pl.DataFrame | None = None


class _Grid:
    """Even steps over a time."""

    def __init__(self, since_s: float, until_s: float) -> None:
        """Steps from one moment to another, in seconds since 1970, as fine as there may be."""
        self.since_s = since_s
        self.step_s = max(SHORTEST_S, (until_s - since_s) / MOST_STEPS)
        self.steps = round((until_s - since_s) / self.step_s)

    def means(self, rows: pl.DataFrame, looked: pl.DataFrame | None) -> Numbers:
        """The mean of each step over what was measured in it, or looked at; a row counts in all steps it covers."""
        places, repeats = self._places(rows)
        lengths = rows["interval_s"].to_numpy()
        summed = np.bincount(places, np.repeat(rows["value"].to_numpy() * lengths / repeats, repeats), self.steps)
        if looked is not None:
            places, repeats = self._places(looked)
            lengths = looked["interval_s"].to_numpy()
        measured = np.bincount(places, np.repeat(lengths / repeats, repeats), self.steps)
        means: Numbers = np.divide(summed, measured, out=np.full(self.steps, np.nan), where=measured > 0)
        return means

    def _places(self, rows: pl.DataFrame) -> tuple["np.typing.NDArray[np.int64]", "np.typing.NDArray[np.int64]"]:
        """The steps that each row covers, one after the other, and how many these are."""
        ends = (rows["ts"].dt.epoch("us").to_numpy() / 1e6 - self.since_s) / self.step_s
        begins = ends - rows["interval_s"].to_numpy() / self.step_s
        first = np.clip(np.floor(begins + 0.5), 0, self.steps - 1).astype(np.int64)
        repeats = np.maximum(np.clip(np.floor(ends + 0.5), 1, self.steps).astype(np.int64) - first, 1)
        offset = np.arange(int(repeats.sum())) - np.repeat(np.cumsum(repeats) - repeats, repeats)
        return np.repeat(first, repeats) + offset, repeats


def _span(rows: pl.DataFrame) -> tuple[float, float]:
    """From when to when rows tell, seconds since 1970."""
    ends, lengths = rows["ts"].dt.epoch("us").to_numpy() / 1e6, rows["interval_s"].to_numpy()
    return float((ends - lengths).min()), float(ends.max())


def _told(dataset: Dataset) -> Iterator[_Told]:
    for table, figures in _OF_HOST.items():
        yield from _of_host(dataset.frame(table), figures)
    yield from _waits(dataset.frame("wait"))
    yield from _statistics(dataset.frame("statistic"))


def _of_host(frame: pl.DataFrame, figures: Sequence[tuple[str, str, str | None]]) -> Iterator[_Told]:
    if frame.is_empty():
        return
    rows = frame.filter(
        (pl.col("interval_s") > 0) & (pl.sql_expr(_HOST_AS_A_WHOLE) if "cpu" in frame.columns else True)
    )
    taken = []
    for name, value, weight in figures:
        own = pl.sql_expr(value).cast(pl.Float64)
        if weight is None:
            taken.append(pl.when(own.count() > 0).then(own.sum()).alias(name))
        else:
            by = pl.when(own.is_not_null()).then(pl.sql_expr(weight).cast(pl.Float64))
            taken.append(((own * by).sum() / by.sum()).alias(name))
    moments = rows.group_by("ts", maintain_order=True).agg(pl.col("interval_s").max(), *taken)
    for name, _, weight in figures:
        known = moments.select("ts", "interval_s", pl.col(name).alias("value")).filter(pl.col("value").is_finite())
        yield _Told(name, weight is None, known)


def _waits(waits: pl.DataFrame) -> Iterator[_Told]:
    """Sessions at work in all, and by what they wait for: none in a moment that was sampled is none, not unknown."""
    if waits.is_empty():
        return
    looked = waits.filter(pl.sql_expr(SAMPLED)).unique("ts", maintain_order=True)
    rows = waits.filter(pl.sql_expr(_FOREGROUND) & (pl.col("interval_s") > 0)).select(
        "ts", "interval_s", "wait_class", "event", pl.col("average_active_sessions").alias("value")
    )
    known = rows.drop_nulls("value")
    covered = looked if looked.height else None
    yield _Told(DATABASE_TIME, is_rate=False, rows=_summed(known), looked=covered)
    for (kind, event), part in known.partition_by("wait_class", "event", as_dict=True, maintain_order=True).items():
        name = str(kind) if kind == event else f"{kind}: {event}"
        yield _Told(name, is_rate=False, rows=_summed(part), looked=covered)


def _statistics(statistics: pl.DataFrame) -> Iterator[_Told]:
    """All that is counted by the second, entities added up; commits under one name whatever the vendor calls them."""
    if statistics.is_empty():
        return
    is_counted = (pl.col("kind") == "rate") & pl.col("unit").is_in(_COUNTED) & (pl.col("component") != _OWN)
    rows = statistics.filter(is_counted & (pl.col("interval_s") > 0) & pl.col("value").is_finite())
    is_commit = pl.col("name").is_in(names_of(COMMITS))
    told = rows.select(
        "ts", "interval_s", "value", pl.when(is_commit).then(pl.lit(COMMITS)).otherwise("name").alias("name")
    )
    for (name,), part in told.partition_by("name", as_dict=True, maintain_order=True).items():
        yield _Told(str(name), is_rate=True, rows=_summed(part))


def _summed(rows: pl.DataFrame) -> pl.DataFrame:
    """What entities have in sum at each moment."""
    return rows.group_by("ts", maintain_order=True).agg(pl.col("interval_s").max(), pl.col("value").sum())
