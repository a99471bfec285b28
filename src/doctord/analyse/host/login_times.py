"""What logging in takes, part by part, as a probe times it: `latency` of `login local: first answer` and so on."""

from typing import NamedTuple

import polars as pl

from doctord.dataset.dataset import Dataset

LOGIN = r"^login (local|network): (.+)$"
PARTS = ("TCP connect", "first answer", "authentication", "first query")
# A login of a server that is well takes 2 to 20 ms; a pool that opens ten takes half a second of its users' time.
SLOW_S = 0.5


class SlowLogins(NamedTuple):
    """The logins at a server, by one way (`local`, `network`), that took half a second and more.

    `slow` of `logins` were slow; `parts` has the mean seconds of each of their parts, in order.
    """

    db: str
    way: str
    logins: int
    slow: int
    parts: dict[str, float]

    @property
    def seconds(self) -> float:
        """Of all parts."""
        return sum(self.parts.values())


def slow_logins(dataset: Dataset) -> list[SlowLogins]:
    """Where logins were slow, by server and way, the slowest first; the parts of one login have one `ts`."""
    told = dataset.frame("latency").filter(pl.col("subject").str.contains(LOGIN) & (pl.col("count") > 0))
    if told.is_empty():
        return []
    mean_s = pl.col("waited_us").sum() / 1e6 / pl.col("count").sum()
    wide = (
        told.with_columns(way=pl.col("subject").str.extract(LOGIN, 1), part=pl.col("subject").str.extract(LOGIN, 2))
        .group_by("db", "way", "ts", "part", maintain_order=True)
        .agg(pl.col("count").sum(), seconds=mean_s)
        .pivot("part", index=["db", "way", "ts"], values=["seconds", "count"], maintain_order=True)
    )
    parts = [part for part in PARTS if f"seconds_{part}" in wide.columns]
    is_slow = pl.sum_horizontal(f"seconds_{part}" for part in parts) >= SLOW_S
    weights = wide.with_columns(logins=pl.max_horizontal(f"count_{part}" for part in parts), is_slow=is_slow)
    sums = (
        weights.group_by("db", "way", maintain_order=True)
        .agg(
            pl.col("logins").sum(),
            pl.col("logins").filter("is_slow").sum().alias("slow"),
            *(pl.col(f"seconds_{part}").filter("is_slow").mean().alias(part) for part in parts),
        )
        .filter(pl.col("slow") > 0)
    )
    found = [
        SlowLogins(
            **{name: row[name] for name in ("db", "way", "logins", "slow")},
            parts={part: row[part] for part in parts if row[part] is not None},
        )
        for row in sums.to_dicts()
    ]
    return sorted(found, key=lambda login: (-login.seconds, login.db, login.way))
