"""Samples as OTLP over HTTP takes them, in its encoding as JSON.

OpenTelemetry, "OTLP Specification" 1.x (OTLP/HTTP, JSON Protobuf Encoding), metrics.proto; "Semantic conventions for
system metrics" for the names that begin with `system.`.
"""

import json
from collections import defaultdict
from collections.abc import Sequence
from importlib.metadata import version
from math import isfinite
from typing import Any, Final

from doctord.app.metrics_out.samples import Moment, Sample

HEADERS: Final = {"Content-Type": "application/json"}
HOST: Final = "host"
# Where Prometheus' way of writing a unit into the name is not OpenTelemetry's.
_UNITS: Final = {"_ratio": "1", "_bytes": "By", "_seconds": "s"}
# JSON has no such numbers; the encoding has texts for them.
_NOT_FINITE: Final = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def export_request(moment: Moment) -> bytes:
    """The body of a request with all samples of a moment, those of each host as a resource."""
    by_host = defaultdict[str, list[Sample]](list)
    for sample in moment.samples:
        by_host[sample.labels.get(HOST, "")].append(sample)
    return json.dumps({"resourceMetrics": [_resource(host, own, moment) for host, own in by_host.items()]}).encode()


def _resource(host: str, samples: Sequence[Sample], moment: Moment) -> dict[str, Any]:
    by_name = defaultdict[str, list[Sample]](list)
    for sample in samples:
        by_name[sample.name].append(sample)
    about = {"service.name": "doctord", **({"host.name": host} if host else {})}
    metrics = [_metric(name, own, moment) for name, own in by_name.items()]
    scope = {"name": "doctord", "version": version("doctord")}
    return {
        "resource": {"attributes": _attributes(about)},
        "scopeMetrics": [{"scope": scope, "metrics": metrics}],
    }


def _metric(name: str, samples: Sequence[Sample], moment: Moment) -> dict[str, Any]:
    at_ns = str(int(moment.at.timestamp() * 1000) * 1_000_000)  # 64 bits are a text in JSON
    return {
        "name": dotted(name),
        "description": samples[0].about,
        "unit": next((unit for suffix, unit in _UNITS.items() if name.endswith(suffix)), ""),
        "gauge": {
            "dataPoints": [
                {
                    "attributes": _attributes({key: value for key, value in one.labels.items() if key != HOST}),
                    "timeUnixNano": at_ns,
                    "asDouble": one.value if isfinite(one.value) else _NOT_FINITE[str(one.value)],
                }
                for one in samples
            ]
        },
    }


def dotted(name: str) -> str:
    """The name as OpenTelemetry writes it: its parts by points, its unit elsewhere.

    >>> dotted("doctord_finding_impact_ratio"), dotted("system_memory_usage_bytes"), dotted("doctord_finding")
    ('doctord.finding_impact', 'system.memory.usage', 'doctord.finding')
    """
    bare = next((name.removesuffix(suffix) for suffix in _UNITS if name.endswith(suffix)), name)
    first, _, rest = bare.partition("_")
    return f"{first}.{rest.replace('_', '.') if first == 'system' else rest}"


def _attributes(values: dict[str, str]) -> list[dict[str, Any]]:
    return [{"key": key, "value": {"stringValue": value}} for key, value in values.items()]
