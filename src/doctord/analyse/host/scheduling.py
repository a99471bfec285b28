"""How a process is scheduled, and where it may run, as the settings of component `process` tell."""

from typing import NamedTuple

import polars as pl

from doctord.analyse.figures import mean
from doctord.dataset.dataset import Dataset

COMPONENT = "process"


class Scheduling(NamedTuple):
    """What is set for one process; null is what was not told. Of nice and real-time priority its policy has one.

    `cpus` are those that it may run on. `autogroup_nice` is that of its session: what counts against other sessions
    where these are grouped.
    """

    policy: str | None
    nice: int | None
    rt_priority: int | None
    cpus: frozenset[int]
    autogroup_nice: int | None

    @property
    def is_real_time(self) -> bool:
        """Whether it runs before all tasks that share by time."""
        return self.policy in {"SCHED_FIFO", "SCHED_RR", "SCHED_DEADLINE"}

    def is_bound(self, cpus: int) -> bool:
        """Whether it may run on some of the host's CPUs only."""
        return 0 < len(self.cpus) < cpus


def scheduling(dataset: Dataset, pid: int) -> Scheduling | None:
    """How a process is scheduled, as it was told last; null where that was not told."""
    begins = f"{pid} "
    rows = dataset.frame("setting").filter(
        (pl.col("component") == COMPONENT) & pl.col("name").str.starts_with(begins) & pl.col("value").is_not_null()
    )
    told = {name.rpartition(".")[2]: value for name, value in rows.select("name", "value").iter_rows()}
    if not told:
        return None
    return Scheduling(
        policy=told.get("policy"),
        nice=_number(told.get("nice")),
        rt_priority=_number(told.get("rt_priority")),
        cpus=cpu_list(told.get("cpus")),
        autogroup_nice=_number(told.get("autogroup_nice")),
    )


def idle_pct(dataset: Dataset, cpus: frozenset[int], *, others: bool = False) -> float | None:
    """Idle time of some CPUs, or of all others, %; null where it was not measured by CPU."""
    rows = dataset.frame("cpu").filter(pl.col("cpu").is_not_null())
    among = pl.col("cpu").is_in(sorted(cpus))
    return mean(rows.filter(~among if others else among), "idle_pct")


def cpu_list(text: str | None) -> frozenset[int]:
    """The CPUs of a list as the kernel writes it; none of what is no such list.

    >>> sorted(cpu_list("0-2,7"))
    [0, 1, 2, 7]
    """
    cpus = set[int]()
    for part in (text or "").split(","):
        first, _, last = part.strip().partition("-")
        if first.isdigit() and (last or first).isdigit():
            cpus.update(range(int(first), int(last or first) + 1))
    return frozenset(cpus)


def _number(text: str | None) -> int | None:
    return int(text) if text and text.removeprefix("-").isdigit() else None
