"""A real `doctord serve` that sends its metrics."""

import time
from pathlib import Path
from typing import Any

from http_server import LAKES, served
from receiver import receiving

PATIENCE_S = 60


def test_metrics_of_a_lake_reach_a_receiver(lakes: list[Path], tmp_path: Path) -> None:
    with receiving() as heard:
        settings = tmp_path / "metrics.toml"
        settings.write_text(f'every_s = 1\n[[to]]\nkind = "otlp"\nurl = "{heard.url}/v1/metrics"\n')
        with served("--lake", lakes[0], "--metrics-to", settings):
            until = time.monotonic() + PATIENCE_S
            while not _causes(heard.told) and time.monotonic() < until:
                time.sleep(0.2)
    assert heard.told[0][0] == "/v1/metrics"
    assert "row_locks" in _causes(heard.told)
    labels = {one["key"]: one["value"]["stringValue"] for one in _points(heard.told, "doctord.active_sessions")[0]}
    assert labels["lake"] == LAKES[0]


Told = list[tuple[str, dict[str, str], Any]]


def _causes(told: Told) -> set[str]:
    points = _points(told, "doctord.finding")
    return {one["value"]["stringValue"] for point in points for one in point if one["key"] == "cause"}


def _points(told: Told, name: str) -> list[list[dict[str, Any]]]:
    """The attributes of all points of a metric."""
    resources = [resource for _, _, document in told for resource in document["resourceMetrics"]]
    metrics = [metric for resource in resources for metric in resource["scopeMetrics"][0]["metrics"]]
    return [point["attributes"] for one in metrics if one["name"] == name for point in one["gauge"]["dataPoints"]]
