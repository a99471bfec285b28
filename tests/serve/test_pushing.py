"""A real `doctord serve` that sends its metrics."""

import time
from pathlib import Path
from typing import Any

from http_server import LAKES, served
from receiver import receiving

PATIENCE_S = 60
NEWEST = "doctord.newest_data_timestamp"

Told = list[tuple[str, dict[str, str], Any]]


def test_metrics_of_a_lake_reach_a_receiver_again_and_again(lakes: list[Path], tmp_path: Path) -> None:
    """Of a lake that nobody fills any more: up to when there is data, and no findings."""
    with receiving() as heard:
        settings = tmp_path / "metrics.toml"
        settings.write_text(f'every_s = 1\n[[to]]\nkind = "otlp"\nurl = "{heard.url}/v1/metrics"\n')
        with served("--lake", lakes[0], "--metrics-to", settings):
            until = time.monotonic() + PATIENCE_S
            while len(_points(heard.told, NEWEST)) < 2 and time.monotonic() < until:
                time.sleep(0.2)
    assert heard.told[0][0] == "/v1/metrics"
    first, *_ = _points(heard.told, NEWEST)
    assert {one["key"]: one["value"]["stringValue"] for one in first} == {"lake": LAKES[0]}
    assert _points(heard.told, "doctord.finding") == []


def _points(told: Told, name: str) -> list[list[dict[str, Any]]]:
    """The attributes of all points of a metric."""
    resources = [resource for _, _, document in told for resource in document["resourceMetrics"]]
    metrics = [metric for resource in resources for metric in resource["scopeMetrics"][0]["metrics"]]
    return [point["attributes"] for one in metrics if one["name"] == name for point in one["gauge"]["dataPoints"]]
