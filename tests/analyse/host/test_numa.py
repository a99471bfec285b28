"""Nodes and placements, from settings and statistics."""

from doctord.analyse.host.numa import nodes, placements
from doctord.dataset.dataset import Dataset


def test_nodes_have_their_cpus_and_distances() -> None:
    told = {
        "numa.node1.cpulist": "2-3", "numa.node1.distance": "21 10", "numa.node0.cpulist": "0-1",
        "numa.node0.distance": "10 21", "numa.node2.cpulist": None,
    }  # fmt: skip
    dataset = Dataset.from_rows(
        setting=[{"component": "kernel", "name": name, "value": of} for name, of in told.items()]
    )
    first, second = nodes(dataset)
    assert (first.number, first.cpus, first.distances) == (0, frozenset({0, 1}), (10, 21))
    assert (second.number, second.cpus, second.distances) == (1, frozenset({2, 3}), (21, 10))
    assert nodes(Dataset.from_rows()) == []


def test_placements_leave_out_files_and_what_was_not_measured() -> None:
    figures = [
        ("7 heap", "local", 30.0), ("7 heap", "remote", 10.0), ("7 shared memory", "local", 0.0),
        ("7 shared memory", "remote", 40.0), ("7 file", "local", 900.0), ("8 heap", "local", 0.0),
        ("8 heap", "remote", 0.0), ("9 heap", "local", 5.0),
    ]  # fmt: skip
    rows = [
        {"component": "kernel", "entity": entity, "name": f"numa_maps.{where}_bytes", "value": value, "kind": "gauge"}
        for entity, where, value in figures
    ]
    policy = {"component": "process", "name": "7 postgres: walwriter.numa_policy", "value": "bind:0"}
    first, second = placements(Dataset.from_rows(statistic=rows, setting=[policy]))
    assert (first.pid, first.remote_share, first.policy, first.shared_policy) == (7, 0.625, "bind:0", None)
    assert (second.pid, second.remote_share, second.policy) == (9, 0.0, None)
