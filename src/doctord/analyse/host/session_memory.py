"""Sessions of a database server that take more and more memory, and the limit that this memory meets first.

Memory of their own alone (RssAnon): shared buffers are counted for whoever touches them first, page cache gives way.
The trend is that of `growth.py` (H. Theil, 1950; P. K. Sen, 1968), over as little as a check-up.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

import numpy as np
import polars as pl

from doctord.analyse.backends import CLIENT_BACKEND, own_backends
from doctord.analyse.host.cgroups import MemoryGroup, memory_groups
from doctord.analyse.host.growth import trend
from doctord.dataset.dataset import Dataset

# Half of a short check-up: a session that is younger has only just begun.
LEAST_S: Final = 8.0
LEAST_STEPS: Final = 4
# A heap grows by pieces of this size, and the kernel counts pages late by some dozens for each CPU.
LEAST_BYTES: Final = 2.0**19
# A cache that fills grows ever more slowly; what nobody frees goes on as it began. A session that has run for long has
# filled its caches; of one that began with the look, less of a fall tells.
GOES_ON, GOES_ON_YOUNG = 0.5, 0.75
OLD_S: Final = 300.0
# What one statement has needed all the time that one looked is given back at its end.
ONE_STATEMENT: Final = 0.6
# What began in the last minutes of an hour is flat over all of it. Less than two minutes of it would tell of what comes
# and goes.
SHORTEST_S: Final = 120.0
# A session without a row among so many intervals at the end has ended.
LAST_LOOKS: Final = 5
# A group that grows by less than this part of what the sessions take is that of another server.
ITS_OWN: Final = 0.25


class Grower(NamedTuple):
    """A session whose own memory grew all the time: from how much to how much, and how fast.

    `age_s` is how old it was at the end, null where that is not known. `is_one_statement` says that one statement ran
    for most of the time; user and program are null where no sample saw the session at work.
    """

    pid: int
    first_bytes: float
    last_bytes: float
    bytes_per_s: float
    age_s: float | None
    user: str | None
    program: str | None
    db: str | None
    is_one_statement: bool


class Growing(NamedTuple):
    """The sessions that grow, the fastest first, among so many; they were looked at since then, for `over_s`.

    `net_per_s` is by how much all sessions together grew, those that came and those that ended counted in.
    """

    growers: tuple[Grower, ...]
    sessions: int
    net_per_s: float
    over_s: float
    since: datetime

    @property
    def bytes_per_s(self) -> float:
        """What those that grow take a second, no more than all sessions together do."""
        return min(sum(one.bytes_per_s for one in self.growers), self.net_per_s)

    @property
    def is_one_statement(self) -> bool:
        """Whether most of it is taken within one statement each."""
        within = sum(one.bytes_per_s for one in self.growers if one.is_one_statement)
        return within > 0.5 * sum(one.bytes_per_s for one in self.growers)


class Limit(NamedTuple):
    """What ends the growth: a control group (`path`), else the host's memory; what is left of it, and for how long.

    `limit_bytes` is the group's, else all the host's memory, null where that is not known. `swap_bytes` is what is left
    of the host's swap: part of the room of the host.
    """

    path: str | None
    limit_bytes: float | None
    room_bytes: float
    bytes_per_s: float
    swap_bytes: float = 0.0

    @property
    def seconds(self) -> float:
        """Until it is reached, at that rate."""
        return max(self.room_bytes, 0.0) / self.bytes_per_s


def growing(dataset: Dataset) -> Iterator[Growing]:
    """The client sessions whose memory grew all the time, those that have ended left out: looked at ever more closely.

    First of all the time that they were looked at, then of its last half, and so on down to some minutes.
    """
    is_told = (pl.col("command") == CLIENT_BACKEND) & pl.col("anon_bytes").is_not_null()
    is_client = is_told & ~pl.col("pid").is_in(_own(dataset))
    columns = ("ts", "interval_s", "pid", "started", "anon_bytes")
    rows = dataset.rows("process", is_client, *columns).sort("ts", maintain_order=True)
    end = _last(dataset.frame("process")["ts"])
    if rows.is_empty() or end is None:
        return
    over_s = (end - rows["ts"][0]).total_seconds()
    while not rows.is_empty():
        if (found := _growing(dataset, rows, end)) is not None:
            yield found
        over_s /= 2
        if over_s < SHORTEST_S:
            return
        rows = rows.filter(pl.col("ts") >= end - timedelta(seconds=over_s))


def _growing(dataset: Dataset, rows: pl.DataFrame, end: datetime) -> Growing | None:
    over_s = _seconds(rows["ts"])
    parts = rows.partition_by("pid", "started", maintain_order=True)
    living = [part for part in parts if _lives(part, end)]
    grown = [(part, slope) for part in living if (slope := _grows(part))]
    if not grown:
        return None
    who = _who(dataset, [int(part["pid"][0]) for part, _ in grown], rows["ts"][0])
    found = [_grower(part, slope, who, over_s) for part, slope in grown]
    sums = rows.group_by("ts", maintain_order=True).agg(pl.col("anon_bytes").sum())
    net = _slope(sums["ts"], sums["anon_bytes"])[0]
    found.sort(key=lambda one: -one.bytes_per_s)
    return Growing(tuple(found), len(living), net, over_s, rows["ts"][0])


def _lives(rows: pl.DataFrame, end: datetime) -> bool:
    longest = rows["interval_s"].max()
    seconds = longest if isinstance(longest, float) else 0.0
    return float((end - rows["ts"][-1]).total_seconds()) <= LAST_LOOKS * seconds


def _last(times: pl.Series) -> datetime | None:
    last = times.max()
    return last if isinstance(last, datetime) else None


def limits(dataset: Dataset, grown: Growing) -> list[Limit]:
    """What the growth meets, the nearest first: limits of the server's groups and of those above them, the host."""
    of_groups = [limit for group in memory_groups(dataset) if (limit := _of_group(dataset, group, grown))]
    return sorted([*of_groups, *_of_host(dataset, grown)], key=lambda limit: limit.seconds)


def _own(dataset: Dataset) -> list[int]:
    """Our own sessions, on all servers."""
    servers = dataset.frame("session")["db"].drop_nulls().unique(maintain_order=True)
    return [pid for db in servers for pid in own_backends(dataset, db)]


def _grows(rows: pl.DataFrame) -> float | None:
    """How much a session grows a second, bytes; null where it does not grow all the time, or has done so no longer."""
    seconds = _seconds(rows["ts"])
    first, last = float(rows["anon_bytes"][0]), float(rows["anon_bytes"][-1])
    if seconds < LEAST_S or last - first < LEAST_BYTES:
        return None
    steps = _steps(rows)
    if steps.height < LEAST_STEPS:
        return None
    slope, low = _slope(steps["ts"], steps["anon_bytes"])
    age_s = _age_s(rows)
    least = GOES_ON if age_s is not None and age_s >= OLD_S else GOES_ON_YOUNG
    # The mean of a third, since a session that works now and then grows in steps.
    if low <= 0 or _mean_slope(rows, 2 / 3, 1.0) < least * _mean_slope(rows, 0.0, 2 / 3):
        return None
    return min(slope, (last - first) / seconds)


def _age_s(rows: pl.DataFrame) -> float | None:
    born = rows["started"].drop_nulls()
    return (rows["ts"][-1] - born[-1]).total_seconds() if len(born) else None


def _grower(
    rows: pl.DataFrame,
    bytes_per_s: float,
    who: dict[int, tuple[str | None, str | None, str | None, float]],
    over_s: float,
) -> Grower:
    pid, seconds = int(rows["pid"][0]), _seconds(rows["ts"])
    first, last = float(rows["anon_bytes"][0]), float(rows["anon_bytes"][-1])
    user, program, db, statement_s = who.get(pid, (None, None, None, 0.0))
    is_one = statement_s >= ONE_STATEMENT * min(over_s, seconds)
    return Grower(pid, first, last, bytes_per_s, _age_s(rows), user, program, db, is_one)


def _steps(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows that bring a new reading, and the last one: between two readings the last is told again."""
    column = pl.col("anon_bytes")
    is_new = (column != column.shift()).fill_null(value=True)
    return rows.filter(is_new | (pl.int_range(pl.len()) == pl.len() - 1))


def _mean_slope(rows: pl.DataFrame, since: float, until: float) -> float:
    """Bytes a second between two parts (0 to 1) of the rows."""
    last = rows.height - 1
    one, other = round(last * since), round(last * until)
    seconds = (rows["ts"][other] - rows["ts"][one]).total_seconds()
    return float(rows["anon_bytes"][other] - rows["anon_bytes"][one]) / seconds if seconds else 0.0


def _who(
    dataset: Dataset, pids: Sequence[int], since: datetime
) -> dict[int, tuple[str | None, str | None, str | None, float]]:
    """By process: user, program and server of its session, and how long its longest statement since then ran."""
    known = (
        dataset.frame("session")
        .filter((pl.col("kind") == "client") & pl.col("pid").is_in(pids))
        .group_by("pid", maintain_order=True)
        .agg(
            pl.col("user", "program", "db").last(),
            pl.col("statement_s").filter((pl.col("state") == "active") & (pl.col("ts") >= since)).max().fill_null(0.0),
        )
    )
    return {pid: (user, program, db, seconds) for pid, user, program, db, seconds in known.iter_rows()}


def _of_group(dataset: Dataset, group: MemoryGroup, grown: Growing) -> Limit | None:
    """A group with a limit whose own memory grows: page cache of files is no part of what it cannot give back."""
    if not group.limit_bytes or group.usage_bytes is None:
        return None
    is_its = (pl.col("component") == "cgroup") & (pl.col("entity") == group.path) & (pl.col("ts") >= grown.since)
    told = dataset.frame("statistic").filter(is_its)
    by_name = {name: _series(told, f"memory.{name}") for name in ("anon_bytes", "usage_bytes", "file_bytes")}
    if any(rows.is_empty() for rows in by_name.values()):
        return None
    slope, low = _slope(by_name["anon_bytes"]["ts"], by_name["anon_bytes"]["value"])
    per_s = min(slope, grown.bytes_per_s)
    held = by_name["usage_bytes"]["value"][-1] - by_name["file_bytes"]["value"][-1]
    if min(low, per_s) <= 0 or slope < ITS_OWN * grown.bytes_per_s:
        return None
    return Limit(group.path, group.limit_bytes, group.limit_bytes - held, per_s)


def _of_host(dataset: Dataset, grown: Growing) -> Iterator[Limit]:
    memory = dataset.frame("memory").sort("ts", maintain_order=True)
    available, total, swap = (
        memory[name].drop_nulls() for name in ("available_bytes", "total_bytes", "swap_free_bytes")
    )
    if len(available) and grown.bytes_per_s > 0:
        left = float(swap[-1]) if len(swap) else 0.0
        whole = float(total[-1]) if len(total) else None
        yield Limit(None, whole, float(available[-1]) + left, grown.bytes_per_s, left)


def _series(rows: pl.DataFrame, name: str) -> pl.DataFrame:
    return rows.filter((pl.col("name") == name) & pl.col("value").is_not_null()).sort("ts", maintain_order=True)


def _slope(times: pl.Series, values: pl.Series) -> tuple[float, float]:
    """The trend a second, and the lower end of its interval."""
    seconds = ((times - times[0]).dt.total_microseconds() / 1e6).to_numpy()
    kept = np.linspace(0, len(seconds) - 1, min(len(seconds), 120)).astype(int)
    slope, low, _ = trend(seconds[kept], values.to_numpy().astype(float)[kept])
    return slope, low


def _seconds(times: pl.Series) -> float:
    return float((times[-1] - times[0]).total_seconds())
