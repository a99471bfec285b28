"""`/metrics`: what is true now, for Prometheus to scrape; every label has few values, never a statement or a user.

A scrape does not wait for what takes long: verdicts and forecasts are told as they were last worked out, and not at all
before that.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import anyio.to_thread
from prometheus_client import CollectorRegistry, Counter, ProcessCollector, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from doctord.app.metrics_out.samples import Sample
from doctord.app.over_time.load import Wanted, load_found
from doctord.errors import UserError
from doctord.moments import parse_moment
from doctord.serve.lakes import Lakes
from doctord.serve.verdicts import CLEAR, Verdicts

log = logging.getLogger(__name__)

MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
LOAD_OF: Final = "-1m"
MOST_CLASSES: Final = 30


class Metrics:
    """The metrics of some lakes and of the server itself."""

    def __init__(self, lakes: Lakes, verdicts: Verdicts) -> None:
        """Nothing was answered yet; `verdicts` are those of the lakes."""
        self._lakes, self._known = lakes, verdicts.known
        self._own = CollectorRegistry(auto_describe=False)
        ProcessCollector(namespace="doctord", registry=self._own)
        self._requests = Counter(
            "doctord_http_requests",
            "Requests answered, by resource and status.",
            ("resource", "status"),
            registry=self._own,
        )

    def answered(self, resource: str, status: int) -> None:
        """A request was answered; resources are those that there are, all others are one."""
        self._requests.labels(resource, str(status)).inc()

    async def text(self) -> bytes:
        """All of them, in Prometheus' format."""
        registry = CollectorRegistry(auto_describe=False)
        registry.register(_Given(await anyio.to_thread.run_sync(lambda: list(self._now()))))
        return generate_latest(registry) + generate_latest(self._own)

    def samples(self) -> Iterator[Sample]:
        """What is told of the lakes, one by one."""
        for family in self._now():
            yield from (Sample(one.name, one.labels, one.value, family.documentation) for one in family.samples)

    def _now(self) -> Iterator[GaugeMetricFamily]:
        """What is told of the lakes."""
        newest = GaugeMetricFamily(
            "doctord_newest_data_timestamp_seconds", "Time of the newest row of a lake.", labels=["lake"]
        )
        active = GaugeMetricFamily(
            "doctord_active_sessions", "Average active sessions of the last minute.", labels=["lake", "wait_class"]
        )
        for name in self._lakes.places:
            moment = self._lakes.newest(name)
            if moment is not None:
                newest.add_metric([name], moment.timestamp())
            for wait_class, sessions in self._load(name):
                active.add_metric([name, wait_class], sessions)
        yield from (newest, active, *self._findings(), *self._thresholds())

    def _load(self, lake: str) -> Iterator[tuple[str, float]]:
        try:
            asked = self._lakes.asked(lake, None, LOAD_OF, None)
            load = load_found(asked.load, asked.since, asked.until, Wanted("wait_class", {}, 1, MOST_CLASSES)).load
        except UserError as refusal:
            log.debug("%s: %s", lake, refusal)
            return
        if load.seconds:
            yield from ((band.name or "", band.sessions) for band in load.bands)

    def _findings(self) -> Iterator[GaugeMetricFamily]:
        labels = ["lake", "cause", "severity"]
        impact = GaugeMetricFamily(
            "doctord_finding_impact_ratio",
            "Share of database time of a finding of the last five minutes.",
            labels=labels,
        )
        confidence = GaugeMetricFamily(
            "doctord_finding", "Confidence (0 to 1) in a finding of the last five minutes.", labels=labels
        )
        for name, known in self._known.items():
            worst = dict[str, Mapping[str, Any]]()
            for finding in (known.findings or CLEAR)["findings"]:
                worst.setdefault(finding["cause"], finding)
            for cause, finding in worst.items():
                confidence.add_metric([name, cause, finding["severity"]], finding["confidence"])
                if finding["impact"] is not None:
                    impact.add_metric([name, cause, finding["severity"]], finding["impact"])
        yield from (confidence, impact)

    def _thresholds(self) -> Iterator[GaugeMetricFamily]:
        violated = GaugeMetricFamily(
            "doctord_threshold_violations",
            "How many devices, file systems... violate it.",
            labels=["lake", "threshold"],
        )
        breach = GaugeMetricFamily(
            "doctord_threshold_breach_timestamp_seconds",
            "When it will be violated first.",
            labels=["lake", "threshold"],
        )
        for name, known in self._known.items():
            of_threshold = dict[str, list[Mapping[str, Any]]]()
            for item in (known.forecast or {"items": ()})["items"]:
                of_threshold.setdefault(item["threshold"], []).append(item)
            for threshold, items in of_threshold.items():
                violated.add_metric([name, threshold], sum(one["verdict"] == "violated" for one in items))
                if dates := [one["date"] for one in items if one["date"]]:
                    breach.add_metric([name, threshold], _timestamp(min(dates)))
        yield from (violated, breach)


@dataclass(frozen=True, eq=False)
class _Given(Collector):
    """Metrics that were worked out already."""

    families: Sequence[GaugeMetricFamily]

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """These."""
        return iter(self.families)


def _timestamp(moment: str) -> float:
    return parse_moment(moment, datetime.now(UTC)).timestamp()
