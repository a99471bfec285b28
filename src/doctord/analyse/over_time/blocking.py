"""Who blocked whom, over time: a tree of sessions, each below the one that it waited for."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import polars as pl

from doctord.analyse.over_time.buckets import Buckets, Numbers
from doctord.dataset.dataset import Dataset

DEEPEST: Final = 12  # longer chains are circles, or a queue in which nobody tells the ends apart
MOST_NODES: Final = 2000
_US: Final = 1_000_000
_ABOUT: Final = ("user", "program", "client", "kind", "state", "event", "statement_id")


@dataclass(eq=False)
class Blocked:
    """A session, and those that waited for it.

    Attributes:
        db: Database server.
        sid: The session; 0: a prepared transaction, which has none.
        about: What it was: user, program, client, kind, and state, event and statement_id that it was seen in most
            while it stood here; null where it was not sampled.
        waited_s: Seconds that it waited itself, at this place of the tree.
        behind_s: Seconds that others waited behind it, directly or through others.
        values: How many stood behind it in each bucket, on average.
        below: Those that waited for it, the one with most time first.
    """

    db: str
    sid: int
    values: Numbers
    about: dict[str, str | None] = field(default_factory=dict)
    waited_s: float = 0.0
    behind_s: float = 0.0
    below: list["Blocked"] = field(default_factory=list)


def blocking_trees(dataset: Dataset, buckets: Buckets) -> list[Blocked]:
    """The trees of blocked sessions, the one behind whose root others waited longest first."""
    paths = _paths(dataset)
    if paths.is_empty():
        return []
    placed = paths.with_columns(bucket=((pl.col("end_us") - 1) // _US - buckets.start_s) // buckets.width_s)
    placed = placed.filter(pl.col("bucket").is_between(0, buckets.count - 1))
    sums = placed.group_by("db", "path", "bucket", maintain_order=True).agg(pl.col("interval_s").sum())
    whole = pl.col("interval_s").sum().over("db", "path")  # where there are too many, those of most time are there
    sums = sums.sort(whole, "db", "path", "bucket", descending=[True, False, False, False], maintain_order=True)
    forest = _Forest(buckets)
    for db, path, bucket, seconds in sums.iter_rows():
        forest.add(str(db), tuple(path), int(bucket), float(seconds))
    _tell(dataset, list(forest.nodes.values()))
    _order(forest.roots)
    return sorted(forest.roots, key=lambda one: (-one.behind_s, one.db, one.sid))


@dataclass(eq=False)
class _Forest:
    """Trees that grow path by path; a node is known by the sessions before it."""

    buckets: Buckets
    nodes: dict[tuple[str, tuple[int, ...]], Blocked] = field(default_factory=dict)
    roots: list[Blocked] = field(default_factory=list)

    def add(self, db: str, path: tuple[int, ...], bucket: int, seconds: float) -> None:
        """Put the seconds that the last of a path waited where they belong: to it, and to all who stand before it."""
        for length in range(1, len(path) + 1):
            node = self.nodes.get((db, path[:length])) or self._new(db, path[:length])
            if node is None:
                return
            if length == len(path):
                node.waited_s += seconds
            else:
                node.behind_s += seconds
                node.values[bucket] += seconds / self.buckets.width_s

    def _new(self, db: str, path: tuple[int, ...]) -> Blocked | None:
        if len(self.nodes) >= MOST_NODES:
            return None
        node = self.nodes[db, path] = Blocked(db, path[-1], np.zeros(self.buckets.count))
        beside = self.roots if len(path) == 1 else self.nodes[db, path[:-1]].below
        beside.append(node)
        return node


def _paths(dataset: Dataset) -> pl.DataFrame:
    """Of each sample of a blocked session who stands before it, the root first: db, path, end_us, interval_s."""
    session = dataset.frame("session")
    waiting = session.filter(pl.col("blocker_sid").is_not_null()).select(
        "db", "ts", "sid", "blocker_sid", "interval_s", end_us=pl.col("ts").dt.epoch("us")
    )
    ahead = waiting.select("db", "ts", pl.col("sid").alias("first"), pl.col("blocker_sid").alias("next"))
    ahead = ahead.unique(["db", "ts", "first"], keep="first", maintain_order=True)
    chains = waiting.with_columns(path=pl.concat_list("blocker_sid", "sid"), first=pl.col("blocker_sid"))
    for _ in range(DEEPEST):
        chains = chains.join(ahead, on=["db", "ts", "first"], how="left", maintain_order="left")
        is_longer = pl.col("next").is_not_null() & ~pl.col("path").list.contains(pl.col("next"))
        if not chains.select(is_longer.any()).item():
            break
        longer = pl.when(is_longer).then(pl.concat_list("next", "path")).otherwise(pl.col("path"))
        chains = chains.with_columns(path=longer, first=pl.when(is_longer).then("next")).drop("next")
    return chains.select("db", "path", "end_us", pl.col("interval_s").fill_null(0.0))


def _tell(dataset: Dataset, nodes: Sequence[Blocked]) -> None:
    """Say of each session what it was, and what it was seen in most."""
    sids = sorted({node.sid for node in nodes})
    session = dataset.frame("session").filter(pl.col("sid").is_in(sids))
    about = session.group_by("db", "sid", maintain_order=True).agg(
        *(pl.col(name).cast(pl.String).drop_nulls().mode().sort().first() for name in _ABOUT)
    )
    known = {(row["db"], row["sid"]): {name: row[name] for name in _ABOUT} for row in about.iter_rows(named=True)}
    for node in nodes:
        node.about = known.get((node.db, node.sid), dict.fromkeys(_ABOUT))


def _order(nodes: Sequence[Blocked]) -> None:
    for node in nodes:
        node.below.sort(key=lambda one: (-(one.behind_s + one.waited_s), one.sid))
        _order(node.below)
