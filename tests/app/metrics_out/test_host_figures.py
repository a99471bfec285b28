"""Figures of the hosts of a lake."""

from pathlib import Path

import pytest

from doctord.app.metrics_out.host_figures import host_figures
from doctord.lake.query import Lake
from http_server import LAKES, unpacked


def test_a_recorded_host_under_the_names_of_opentelemetry(tmp_path: Path) -> None:
    lake = unpacked(LAKES[0], tmp_path / "lake")
    span = Lake(lake).span()
    assert span
    found = host_figures(lake, span[1])
    names = {one.name for one in found}
    assert names >= {
        "system_cpu_utilization_ratio", "system_memory_usage_bytes", "system_linux_memory_available_bytes",
        "system_filesystem_utilization_ratio", "system_filesystem_usage_bytes",
    }  # fmt: skip
    modes = {one.labels["cpu.mode"]: one.value for one in found if one.name == "system_cpu_utilization_ratio"}
    assert sum(modes.values()) == pytest.approx(1.0, abs=0.02)
    assert {one.labels["host"] for one in found} == {found[0].labels["host"]}
    parts = [one.value for one in found if one.name == "system_filesystem_utilization_ratio"]
    assert all(0 <= part <= 1 for part in parts)
