"""kubectl top: pods, containers, nodes."""

from pathlib import Path

import pytest

from latency_files import read_text
from reading import figure, picked, read_sample


def test_containers_of_pods() -> None:
    reading = read_sample("kubectl_top.pod.txt")
    assert reading.skipped_lines == 0
    assert figure(reading, "kubectl.cpus", entity="shop shop-db-1 postgres") == [1.25]
    assert figure(reading, "kubectl.cpus", entity="shop shop-pooler-7d9c pgbouncer") == [2.0]
    assert figure(reading, "kubectl.memory_bytes", entity="shop shop-db-1 exporter") == [18.0 * 2**20]


def test_nodes_of_which_nothing_is_known_have_no_rows() -> None:
    reading = read_sample("kubectl_top.node.txt")
    assert reading.skipped_lines == 0
    assert picked(reading, "statistic", "entity", "name", "value", "unit") == [
        ("node-a", "kubectl.cpus", pytest.approx(3.912), "cpus"),
        ("node-a", "kubectl.memory_bytes", 14021.0 * 2**20, "bytes"),
        ("node-a", "kubectl.cpu_pct", 97.0, "pct"),
        ("node-a", "kubectl.memory_pct", 88.0, "pct"),
    ]


def test_a_pod_without_its_namespace(tmp_path: Path) -> None:
    reading = read_text(tmp_path, "NAME      CPU(cores)   MEMORY(bytes)\nshop-db   250m         64Mi\nwhat is this\n")
    assert figure(reading, "kubectl.cpus", entity="shop-db") == [0.25]
    assert reading.skipped_lines == 1
