"""What logging in takes, part by part, as a probe times it: `latency` of `login local: first answer` and so on."""

from dataclasses import dataclass

import polars as pl

from doctord.dataset.dataset import Dataset

LOGIN = r"^login (local|network): (.+)$"
PARTS = ("TCP connect", "first answer", "authentication", "first query")


@dataclass(frozen=True, slots=True)
class LoginTime:
    """The mean seconds of each part of the logins at a server, by one way, in order; `logins`: how many there were."""

    db: str
    way: str
    logins: int
    parts: dict[str, float]

    @property
    def seconds(self) -> float:
        """Of all parts."""
        return sum(self.parts.values())


def login_times(dataset: Dataset) -> list[LoginTime]:
    """Logins by server and way (`local`, `network`), the slowest first."""
    told = dataset.frame("latency").filter(pl.col("subject").str.contains(LOGIN) & (pl.col("count") > 0))
    if told.is_empty():
        return []
    sums = (
        told.with_columns(way=pl.col("subject").str.extract(LOGIN, 1), part=pl.col("subject").str.extract(LOGIN, 2))
        .group_by("db", "way", "part", maintain_order=True)
        .agg(count=pl.col("count").sum(), seconds=pl.col("waited_us").sum() / 1e6 / pl.col("count").sum())
    )
    times = []
    for (db, way), parts in sums.partition_by("db", "way", maintain_order=True, as_dict=True).items():
        of = dict(parts.select("part", "seconds").iter_rows())
        ordered = {part: of[part] for part in PARTS if part in of}
        times.append(LoginTime(str(db), str(way), int(parts["count"].max() or 0), ordered))  # type: ignore[arg-type]
    return sorted(times, key=lambda time: (-time.seconds, time.db, time.way))
