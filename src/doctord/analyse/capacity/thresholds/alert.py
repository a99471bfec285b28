"""Violations, those of now and those to come, as alerts that Prometheus and its Alertmanager take.

Prometheus reads text (its exposition format 0.0.4) from a file of node_exporter's textfile collector; Alertmanager is
sent JSON (POST /api/v2/alerts). An alert of a day to come says how long it is until then, and whether that is still
longer than the plan takes.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal, TypeAlias

import numpy as np

from doctord.analyse.capacity.forecast.breach_date import When
from doctord.analyse.capacity.series import Series
from doctord.analyse.capacity.thresholds.check import Breach
from doctord.analyse.capacity.thresholds.plan import Plan
from doctord.analyse.capacity.thresholds.service_level import Judged
from doctord.analyse.capacity.thresholds.threshold import Threshold
from doctord.units import number, quantity

State = Literal["violated", "due", "foreseen"]
METRICS = (
    ("doctord_violation", "State of a threshold or service level: 1 in the state of its label."),
    ("doctord_violation_value", "The value: worst when violated, else the newest, in the unit of its label."),
    ("doctord_violation_limit", "The limit that it is held against."),
    ("doctord_violation_lead_seconds", "Seconds until it is violated, at the earliest; 0 when it is."),
)


Form: TypeAlias = Literal["prometheus", "alertmanager"]


@dataclass(frozen=True, slots=True)
class Alert:
    """One alert.

    Attributes:
        name: Of the threshold or the service level.
        state: `violated` now; `due`: to come, and the plan takes as long as is left, or longer; `foreseen`: later.
        labels: Whom it is about.
        value, limit: What is, and what may be.
        lead_s: Seconds until it is violated, at the earliest; 0 when it is.
        since: Since when it is violated, or when it will be.
        text: The same in a sentence.
        reason, plan: Of the threshold.
    """

    name: str
    state: State
    labels: dict[str, str]
    value: float
    limit: float
    lead_s: float
    since: datetime | None
    text: str
    reason: str
    plan: Plan


def violated(violation: Breach) -> Alert:
    """The alert of a violation that lasts."""
    threshold, series = violation.threshold, violation.series
    worst, limit = (quantity(value, series.figure.unit, 4) for value in (violation.worst, violation.limit))
    text = f"{series.name}: {worst} at worst, limit {limit}"
    return Alert(
        threshold.name, "violated", _labels(series), violation.worst, violation.limit, 0.0, violation.since, text,
        threshold.reason, threshold.plan,
    )  # fmt: skip


def broken(judged: Judged) -> Alert:
    """The alert of a service level that was not kept."""
    unit = "per 24 h" if judged.is_per_day else "%"
    whom = {"host": judged.host, "subject": judged.subject}
    text = f"{judged.level.name}: {number(judged.value, 4)} {unit} ({judged.scaling}), limit {number(judged.limit, 4)}"
    labels = {"unit": unit} | {key: name for key, name in whom.items() if name}
    return Alert(
        judged.level.name, "violated", labels, judged.value, judged.limit, 0.0, None, text,
        judged.level.reason, judged.level.plan,
    )  # fmt: skip


def foreseen(threshold: Threshold, series: Series, when: When | None, now: datetime) -> Alert | None:
    """The alert of a violation to come; null where none may be within the horizon, or cannot be told."""
    first = (when.earliest or when.date) if when else None
    if when is None or first is None:
        return None
    lead_s = max(0.0, (first - now).total_seconds())
    is_due = threshold.plan.lead_s is not None and lead_s <= threshold.plan.lead_s
    about = f"about {when.date:%Y-%m-%d}" if when.date else "perhaps"
    latest = f"to {when.latest:%Y-%m-%d}" if when.latest else "or later"
    limit = quantity(threshold.limit, series.figure.unit, 4)
    text = f"{series.name}: limit {limit} {about}, from {first:%Y-%m-%d} {latest}"
    measured = series.values[~np.isnan(series.values)]
    return Alert(
        threshold.name, "due" if is_due else "foreseen", _labels(series), float(measured[-1]), threshold.limit, lead_s,
        when.date or first, f"{text}: {when.why}", threshold.reason, threshold.plan,
    )  # fmt: skip


def written(alerts: Sequence[Alert], form: Form, now: datetime | None) -> str:
    """Alerts in one of the two forms; `now` is when they were found, null: at this moment."""
    return prometheus(alerts) if form == "prometheus" else alertmanager(alerts, now)


def prometheus(alerts: Iterable[Alert]) -> str:
    """Alerts in Prometheus' text format, one sample of each metric for each; without alerts only what they mean."""
    alerts, lines = list(alerts), list[str]()
    for metric, meaning in METRICS:
        lines += [f"# HELP {metric} {meaning}", f"# TYPE {metric} gauge"]
        for alert in alerts:
            value = {"value": alert.value, "limit": alert.limit, "seconds": alert.lead_s}.get(metric.split("_")[-1], 1)
            labels = {"threshold": alert.name, "state": alert.state} | alert.labels
            lines.append(f"{metric}{{{','.join(f'{key}={_quoted(text)}' for key, text in labels.items())}}} {value!r}")
    return "\n".join(lines)


def alertmanager(alerts: Sequence[Alert], now: datetime | None) -> str:
    """Alerts as Alertmanager takes them: a JSON array of labels, annotations and startsAt.

    Args:
        alerts: what to send.
        now: when they were found, which is when an alert of a day to come begins; null: at this moment.
    """
    found = now or datetime.now(UTC)
    return json.dumps([_sent(alert, found) for alert in alerts], indent=2, ensure_ascii=False)


def _sent(alert: Alert, found: datetime) -> dict[str, object]:
    begun = alert.since if alert.state == "violated" and alert.since else found
    plan = alert.plan
    texts = {
        "summary": alert.text,
        "description": alert.reason,
        "plan": plan.text,
        "owner": plan.owner,
        "lead_time": str(timedelta(seconds=plan.lead_s)) if plan.lead_s is not None else "",
        "violated_in": str(timedelta(seconds=round(alert.lead_s))) if alert.state != "violated" else "",
    }
    severity = {"violated": "critical", "due": "warning", "foreseen": "info"}[alert.state]
    return {
        "labels": {"alertname": alert.name, "state": alert.state, "severity": severity} | alert.labels,
        "annotations": {key: text for key, text in texts.items() if text},
        "startsAt": begun.astimezone(UTC).isoformat().replace("+00:00", "Z"),
    }


def _labels(series: Series) -> dict[str, str]:
    labels = {"host": series.labels.host, "db": series.labels.db, "entity": series.labels.entity}
    told = {key: name for key, name in labels.items() if name}
    return {"figure": series.figure.name, "unit": series.figure.unit} | told


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
