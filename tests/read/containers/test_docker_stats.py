"""docker stats: the same of the table, of the terminal and of JSON."""

from pathlib import Path

import pytest

from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.report.wording import verdict
from latency_files import read_text
from reading import SAMPLES, figure, picked, read_sample

TABLE = (SAMPLES / "docker_stats.txt").read_text()


def test_table_and_json_say_the_same() -> None:
    table, objects = read_sample("docker_stats.txt"), read_sample("docker_stats.json")
    assert table.skipped_lines == objects.skipped_lines == 0
    for entity in ("shop-db", "shop-web"):
        of_table = dict(picked(table, "statistic", "name", "value", entity=entity))
        first = picked(objects, "statistic", "name", "value", entity=entity)[:8]
        assert of_table == dict(first)
        assert len(of_table) == 8
    assert picked(table, "statistic", "value", "unit", name="docker.memory_bytes", entity="shop-db") == [
        (pytest.approx(1.912 * 2**30), "bytes")
    ]
    assert figure(table, "docker.written_bytes", entity="shop-web") == [512_000.0]
    assert picked(table, "statistic", "name", entity="old-job") == [], "it does not run"


def test_a_container_that_comes_again_begins_another_look() -> None:
    assert figure(read_sample("docker_stats.json"), "docker.cpu_pct", entity="shop-db") == [187.45, 12.0]


def test_the_live_table_of_a_terminal(tmp_path: Path) -> None:
    reading = read_text(tmp_path, f"\x1b[2J\x1b[H{TABLE}\x1b[2J\x1b[H{TABLE.replace('187.45%', '99.00%')}")
    assert figure(reading, "docker.cpu_pct", entity="shop-db") == [187.45, 99.0]
    assert reading.skipped_lines == 0


def test_use_is_no_verdict() -> None:
    diagnosis = diagnose(Dataset.from_batches(read_sample("docker_stats.txt").batches))
    assert diagnosis.health == "not_judged"
    assert verdict(diagnosis) == "No verdict: what containers use tells nothing of what they wait for"
