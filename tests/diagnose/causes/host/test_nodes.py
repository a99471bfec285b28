"""Memory of several nodes: the cause fires where memory lies elsewhere, and not where it is spread or small."""

from typing import Any

import pytest

from diagnose.hosts import GIB, host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

TWO = {
    "numa.node0.cpulist": "0-15,32-47", "numa.node0.distance": "10 21",
    "numa.node1.cpulist": "16-31,48-63", "numa.node1.distance": "21 10",
}  # fmt: skip
BOUND = {"900 postgres: checkpointer.cpus": "0-15"}
BUSY = {("CPU", "CPU"): 4.0}


def placed(local: float, remote: float, pid: int = 900) -> dict[tuple[str | None, str], float]:
    return {
        (f"{pid} shared memory", "numa_maps.local_bytes"): local * GIB,
        (f"{pid} shared memory", "numa_maps.remote_bytes"): remote * GIB,
        (f"{pid} file", "numa_maps.local_bytes"): 9.0 * GIB,
        (f"{pid} file", "numa_maps.remote_bytes"): 0.0,
    }


def seen(
    kernel: dict[tuple[str | None, str], float], told: dict[str, str] = TWO | BOUND, time: dict[Any, float] = BUSY
) -> Finding | None:
    rows = [
        {"component": "process" if name[0].isdigit() else "kernel", "name": name, "value": value}
        for name, value in told.items()
    ]
    dataset: Dataset = host(kernel=kernel, time=time, extra={"setting": rows})
    return {finding.cause: finding for finding in diagnose(dataset).findings}.get("memory_on_other_node")


def figures(side: tuple[Any, ...]) -> str:
    return " | ".join(said(evidence.figure) for evidence in side)


def test_a_process_that_is_bound_away_from_its_memory() -> None:
    finding = seen(placed(0.5, 9.5), TWO | BOUND | {"900 postgres: checkpointer.numa_policy": "bind:1"})
    assert finding is not None
    assert said(finding.title) == "95 % of the memory that process 900 uses is on another NUMA node"
    assert (finding.impact.share, finding.impact.known) == (pytest.approx(0.95 * 11 / 21, abs=0.04), "at_most")
    assert "95 % of 10.0 GiB are not on the node that process 900 ran on" in figures(finding.for_)
    assert "distance 21" in figures(finding.for_)
    assert "process 900 may run on node 0 only" in figures(finding.for_)
    assert "memory policy bind:1" in figures(finding.for_)
    assert not finding.against
    assert finding.confidence == 0.85


def test_a_process_that_may_run_everywhere_may_have_been_moved_a_moment_ago() -> None:
    finding = seen(placed(0.5, 9.5), TWO)
    assert finding is not None
    assert "process 900 is not known to be bound to a node" in figures(finding.against)
    assert finding.confidence == 0.6


def test_interleaved_memory_speaks_against_it() -> None:
    finding = seen(placed(0.5, 9.5), TWO | BOUND | {"900 postgres: checkpointer.numa_policy_shared": "interleave:0-1"})
    assert finding is not None
    assert "memory policy interleave:0-1" in figures(finding.against)


@pytest.mark.parametrize(
    ("kernel", "told", "time"),
    [
        (placed(5.0, 5.0), TWO | BOUND, BUSY),
        (placed(9.5, 0.5), TWO | BOUND, BUSY),
        (placed(0.001, 0.05), TWO | BOUND, BUSY),
        (placed(0.5, 9.5), BOUND, BUSY),
        (placed(0.5, 9.5), TWO | BOUND, {("CPU", "CPU"): 0.05}),
        (placed(0.5, 9.5), {name: value.replace("21", "10") for name, value in TWO.items()} | BOUND, BUSY),
        ({}, TWO | BOUND, BUSY),
    ],
    ids=["spread", "local", "small", "nodes not known", "idle", "no distance", "not measured"],
)
def test_placements_that_are_well(
    kernel: dict[tuple[str | None, str], float], told: dict[str, str], time: dict[Any, float]
) -> None:
    assert seen(kernel, told, time) is None


def test_a_process_that_hardly_runs_loses_little_whatever_the_others_do() -> None:
    busy_here = placed(9.5, 0.5, pid=1000) | placed(9.5, 0.5, pid=1001)
    assert seen(placed(0.5, 9.5) | busy_here) is None
