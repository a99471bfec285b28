"""Rules on how the processes are scheduled that a whole database waits for."""

import pytest

from doctord.dataset.dataset import Dataset
from doctord.lint import engine
from doctord.lint.violation import Violation

WRITER = {"policy": "SCHED_OTHER", "nice": "0", "cpus": "0-3", "memory_nodes": "0-1", "slice_ms": "2.8"}
REAL_TIME = {"policy": "SCHED_FIFO", "rt_priority": "10", "cpus": "0-3"}


def said(told: dict[str, str], rt_runtime_us: str = "950000") -> dict[str, Violation]:
    """Violations by rule, on a host with four CPUs."""
    rows = [
        {"host": "h", "component": "process", "name": f"7 postgres: walwriter.{name}", "value": value}
        for name, value in told.items()
    ]
    kernel = {"host": "h", "component": "kernel", "name": "kernel.sched_rt_runtime_us", "value": rt_runtime_us}
    nodes = {"host": "h", "component": "kernel", "name": "cpu.numa_nodes", "value": "0-1"}
    cpus = [{"host": "h", "cpu": number, "idle_pct": 50.0} for number in range(4)]
    return {
        one.rule: one for one in engine.examine(Dataset.from_rows(setting=[*rows, kernel, nodes], cpu=cpus)).violations
    }


@pytest.mark.parametrize(
    ("told", "rule", "title"),
    [
        (WRITER | {"nice": "5"}, "comes_after_others", "postgres: walwriter (pid 7): nice 5"),
        (WRITER | {"policy": "SCHED_BATCH"}, "comes_after_others", "postgres: walwriter (pid 7): SCHED_BATCH"),
        (WRITER | {"cpus": "2"}, "bound_to_few_cpus", "postgres: walwriter (pid 7) may run on CPU 2 of 4"),
        (WRITER | {"memory_nodes": "1"}, "memory_of_few_nodes",
         "postgres: walwriter (pid 7) takes memory of node 1 of 0,1 only"),
        (WRITER | {"numa_policy": "bind:0"}, "memory_of_few_nodes",
         "postgres: walwriter (pid 7) takes memory of node 0 of 0,1 only"),
        (WRITER | {"numa_policy_shared": "bind=static:1", "memory_nodes": "0"}, "memory_of_few_nodes",
         "postgres: walwriter (pid 7) takes memory of node 0 of 0,1 only"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(told: dict[str, str], rule: str, title: str) -> None:
    violations = said(told)
    assert list(violations) == [f"process/{rule}"]
    assert violations[f"process/{rule}"].title == title


def test_real_time_is_dangerous_without_a_limit() -> None:
    assert list(said(REAL_TIME, "-1")) == ["process/real_time_unlimited"]
    assert not said(REAL_TIME)
    assert not said(WRITER, "-1")


@pytest.mark.parametrize("told", [WRITER, WRITER | {"nice": "-5"}, WRITER | {"cpus": "0-1"}, {"policy": "SCHED_OTHER"},
                                  WRITER | {"numa_policy": "interleave:0-1"}, WRITER | {"numa_policy": "bind:0-1"},
                                  WRITER | {"numa_policy": "prefer:1"}])  # fmt: skip
def test_what_is_well_is_not_named(told: dict[str, str]) -> None:
    assert not said(told)
