"""Violations as alerts."""

import json
from datetime import timedelta

import pytest

from doctord.analyse.capacity.forecast import When
from doctord.analyse.capacity.series import Labels
from doctord.analyse.capacity.thresholds.alert import alertmanager, broken, foreseen, prometheus, violated
from doctord.analyse.capacity.thresholds.check import check
from doctord.analyse.capacity.thresholds.plan import Plan
from doctord.analyse.capacity.thresholds.service_level import ServiceLevel, judged
from doctord.analyse.capacity.thresholds.threshold import Threshold
from doctord.dataset.dataset import Dataset
from histories import MONDAY, NAN, history

NOW = MONDAY + timedelta(hours=3)
FULL = Threshold("full", "filesystem_used_pct", 90.0, reason='it "stops"', plan=Plan("extend", "storage", 7 * 86_400.0))
SERIES = history([80.0, 91.0, 92.0, NAN], "filesystem_used_pct", Labels("a", None, '/data "x"\\'))


def test_a_violation_is_an_alert_since_it_began() -> None:
    (violation,) = check([FULL], [SERIES]).violations
    (sent,) = json.loads(alertmanager([violated(violation)], NOW))
    assert sent["startsAt"] == "2026-01-05T01:00:00Z"
    assert sent["labels"] == {
        "alertname": "full", "state": "violated", "severity": "critical", "figure": "filesystem_used_pct",
        "unit": "%", "host": "a", "entity": '/data "x"\\',
    }  # fmt: skip
    assert sent["annotations"]["plan"] == "extend"
    assert sent["annotations"]["lead_time"] == "7 days, 0:00:00"


@pytest.mark.parametrize(("days", "state"), [(3, "due"), (7, "due"), (8, "foreseen")])
def test_a_day_to_come_is_due_once_the_plan_takes_as_long(days: int, state: str) -> None:
    when = When("date", NOW + timedelta(days=days + 9), NOW + timedelta(days=days))
    alert = foreseen(FULL, SERIES, when, NOW)
    assert alert is not None
    assert (alert.state, alert.lead_s, alert.value) == (state, days * 86_400.0, 92.0)
    (sent,) = json.loads(alertmanager([alert], NOW))
    assert sent["startsAt"] == "2026-01-05T03:00:00Z"
    assert sent["annotations"]["violated_in"].startswith(f"{days} days")


def test_without_a_day_there_is_no_alert() -> None:
    assert foreseen(FULL, SERIES, None, NOW) is None
    assert foreseen(FULL, SERIES, When("not within the horizon", why="it does not grow"), NOW) is None


def test_prometheus_reads_one_sample_of_each_metric() -> None:
    (violation,) = check([FULL], [SERIES]).violations
    lines = prometheus([violated(violation)]).splitlines()
    samples = [line for line in lines if not line.startswith("#")]
    labels = (
        '{threshold="full",state="violated",figure="filesystem_used_pct",unit="%",host="a",entity="/data \\"x\\"\\\\"}'
    )
    assert samples == [
        f"doctord_violation{labels} 1",
        f"doctord_violation_value{labels} 92.0",
        f"doctord_violation_limit{labels} 90.0",
        f"doctord_violation_lead_seconds{labels} 0.0",
    ]
    assert lines[1] == "# TYPE doctord_violation gauge"


def test_a_broken_service_level_is_an_alert() -> None:
    row = {"ts": NOW, "host": "a", "run": "day", "duration_s": 62_100.0, "over_limit": 24}
    (one,) = judged([ServiceLevel("slow", most_per_24h=30)], Dataset.from_rows(timing=[row]))
    (sent,) = json.loads(alertmanager([broken(one)], NOW))
    assert sent["labels"]["subject"] == "day"
    assert "24 in 17.25 h" in sent["annotations"]["summary"]


def test_what_may_be_reached_is_told_as_such() -> None:
    alert = foreseen(
        FULL, SERIES, When("not within the horizon", earliest=NOW + timedelta(days=30), why="it grows"), NOW
    )
    assert alert is not None
    assert alert.text.endswith("limit 90 % perhaps, from 2026-02-04 or later: it grows")
