"""On which NUMA nodes the memory of database processes lies, and where they run."""

from typing import NamedTuple

import polars as pl

from doctord.analyse import figures
from doctord.analyse.host.scheduling import cpu_list
from doctord.dataset.dataset import Dataset
from doctord.regex import regex

# Code of programs and libraries is small, and cached by each CPU.
_KINDS = ("shared memory", "heap", "anonymous")
_NODE = regex(r"numa\.node(\d+)\.(distance|cpulist)")
HERE = 10
"""The distance of a node to itself; that of another is relative to it (ACPI, System Locality Information Table)."""


class Node(NamedTuple):
    """One node of memory: its CPUs, and its distance to each node in their order."""

    number: int
    cpus: frozenset[int]
    distances: tuple[int, ...]


class Placement(NamedTuple):
    """A database process: bytes that it has touched on the node that it ran on, and on all others, when looked at.

    `policy` is that of its memory, `shared_policy` that of its shared memory where it differs; null where not told.
    """

    pid: int
    local_bytes: float
    remote_bytes: float
    policy: str | None
    shared_policy: str | None

    @property
    def remote_share(self) -> float:
        """Share (0 to 1) of its memory on other nodes."""
        return self.remote_bytes / (self.local_bytes + self.remote_bytes)


def nodes(dataset: Dataset) -> list[Node]:
    """The nodes of the host by their numbers; none where there is one, or they are not known."""
    rows = dataset.frame("setting").filter(pl.col("name").str.starts_with("numa.node") & pl.col("value").is_not_null())
    told: dict[int, dict[str, str]] = {}
    for name, value in rows.select("name", "value").iter_rows():
        if (found := _NODE.fullmatch(name)) is not None:
            told.setdefault(int(found[1]), {})[found[2]] = value
    return [
        Node(number, cpu_list(of.get("cpulist")), tuple(int(word) for word in of.get("distance", "").split()))
        for number, of in sorted(told.items())
    ]


def placements(dataset: Dataset) -> list[Placement]:
    """Where the memory of each process that was looked at lies, who has most elsewhere first."""
    local, remote = (_by_pid(dataset, f"numa_maps.{where}_bytes") for where in ("local", "remote"))
    policies = _policies(dataset)
    found = [
        Placement(pid, local[pid], remote.get(pid, 0.0), *policies.get(pid, (None, None)))
        for pid in local
        if local[pid] + remote.get(pid, 0.0) > 0
    ]
    return sorted(found, key=lambda one: (-one.remote_bytes, one.pid))


def _by_pid(dataset: Dataset, name: str) -> dict[int, float]:
    sums: dict[int, float] = {}
    for figure in figures.figures(dataset, name):
        pid, _, kind = (figure.entity or "").partition(" ")
        if pid.isdigit() and kind in _KINDS:
            sums[int(pid)] = sums.get(int(pid), 0.0) + figure.mean
    return sums


def _policies(dataset: Dataset) -> dict[int, tuple[str | None, str | None]]:
    rows = dataset.frame("setting").filter((pl.col("component") == "process") & pl.col("value").is_not_null())
    told: dict[int, dict[str, str]] = {}
    for name, value in rows.select("name", "value").unique("name", keep="last", maintain_order=True).iter_rows():
        process, _, what = name.rpartition(".")
        pid = process.partition(" ")[0]
        if pid.isdigit() and what.startswith("numa_policy"):
            told.setdefault(int(pid), {})[what] = value
    return {pid: (of.get("numa_policy"), of.get("numa_policy_shared")) for pid, of in told.items()}
