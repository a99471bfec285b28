"""Samples as OTLP takes them."""

import json
import math
from datetime import UTC, datetime

from doctord.app.metrics_out.otlp import export_request
from doctord.app.metrics_out.samples import Moment, Sample

AT = datetime(2026, 11, 27, tzinfo=UTC)


def test_each_host_is_a_resource_and_each_name_a_gauge() -> None:
    samples = (
        Sample("doctord_active_sessions", {"lake": "shop", "wait_class": "CPU"}, 1.5, "Average active sessions."),
        Sample("doctord_active_sessions", {"lake": "shop", "wait_class": "Commit"}, 0.5, "Average active sessions."),
        Sample("system_cpu_utilization_ratio", {"host": "db1", "cpu.mode": "user"}, 0.25),
        Sample("system_memory_usage_bytes", {"host": "db2", "system.memory.state": "free"}, 4096),
    )
    own, db1, db2 = json.loads(export_request(Moment(AT, samples)))["resourceMetrics"]
    assert own["resource"]["attributes"] == [{"key": "service.name", "value": {"stringValue": "doctord"}}]
    [metric] = own["scopeMetrics"][0]["metrics"]
    assert (metric["name"], metric["description"]) == ("doctord.active_sessions", "Average active sessions.")
    cpu, commit = metric["gauge"]["dataPoints"]
    assert cpu["timeUnixNano"] == str(int(AT.timestamp()) * 1_000_000_000)
    assert (cpu["asDouble"], commit["asDouble"]) == (1.5, 0.5)
    assert {"key": "wait_class", "value": {"stringValue": "Commit"}} in commit["attributes"]
    assert {"key": "host.name", "value": {"stringValue": "db1"}} in db1["resource"]["attributes"]
    [utilization], [usage] = (one["scopeMetrics"][0]["metrics"] for one in (db1, db2))
    assert (utilization["name"], utilization["unit"]) == ("system.cpu.utilization", "1")
    assert (usage["name"], usage["unit"]) == ("system.memory.usage", "By")
    assert [one["key"] for one in usage["gauge"]["dataPoints"][0]["attributes"]] == ["system.memory.state"]


def test_what_json_has_no_number_for_is_a_text() -> None:
    told = export_request(
        Moment(AT, tuple(Sample("doctord_odd", {}, value) for value in (math.inf, -math.inf, math.nan)))
    )
    [metric] = json.loads(told)["resourceMetrics"][0]["scopeMetrics"][0]["metrics"]
    assert [one["asDouble"] for one in metric["gauge"]["dataPoints"]] == ["Infinity", "-Infinity", "NaN"]
