"""Alerts on their way: to Alertmanager (its API v2), or as a document to whoever takes webhooks."""

import json
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final
from urllib.parse import urlencode

from doctord.app.alerts.settings import SEVERITIES, Receiver
from doctord.app.alerts.state import Alert, grouped
from doctord.app.receivers import is_taken, post

_BEFORE: Final = timedelta(minutes=10)


def send(receiver: Receiver, alerts: Sequence[Alert], page: str) -> bool:
    """Tell a receiver of alerts; whether all arrived. What did not is in the log, without the receiver's secrets.

    Args:
        receiver: who is told.
        alerts: of what; those that are less than it wants to know are left out.
        page: the address of the page of `doctord serve`, for links.
    """
    least = SEVERITIES.index(receiver.severity)
    wanted = [one for one in alerts if SEVERITIES.index(one.condition.severity) >= least]
    if not wanted:
        return True
    if receiver.kind == "alertmanager":
        return _post(receiver, f"{receiver.url.rstrip('/')}/api/v2/alerts", alertmanager(wanted, page))
    arrived = [_post(receiver, receiver.url, webhook(name, group, page)) for name, group in grouped(wanted)]
    return all(arrived)


def alertmanager(alerts: Sequence[Alert], page: str) -> list[dict[str, Any]]:
    """Alerts as Alertmanager takes them (its API v2, `postableAlerts`)."""
    return [
        {
            "labels": {
                "alertname": one.condition.name,
                "severity": one.condition.severity,
                "host": one.condition.host,
                "lake": one.condition.lake,
                **({"of": one.condition.of} if one.condition.of else {}),
            },
            "annotations": {"summary": one.condition.what},
            "startsAt": one.since.isoformat(),
            **({"endsAt": one.at.isoformat()} if one.status == "resolved" else {}),
            "generatorURL": link(one, page),
        }
        for one in alerts
    ]


def webhook(name: str, alerts: Sequence[Alert], page: str) -> dict[str, Any]:
    """The document of a webhook: one cause or threshold, with all that it is about."""
    return {
        "version": 1,
        "name": name,
        "status": alerts[0].status,
        "alerts": [
            {
                "host": one.condition.host,
                "lake": one.condition.lake,
                "of": one.condition.of,
                "severity": one.condition.severity,
                "summary": one.condition.what,
                "since": one.since.isoformat(),
                "until": one.at.isoformat() if one.status == "resolved" else None,
                "link": link(one, page),
            }
            for one in alerts
        ],
    }


def link(alert: Alert, page: str) -> str:
    """The page at the time of an alert, with a while before it."""
    begin, end = (f"{moment:%Y-%m-%dT%H:%M:%SZ}" for moment in (alert.since - _BEFORE, alert.at))
    return f"{page}?{urlencode({'lake': alert.condition.lake, 'from': begin, 'to': end})}"


def _post(receiver: Receiver, url: str, told: object) -> bool:
    headers = {"Content-Type": "application/json"}
    return is_taken(post(receiver.name, url, receiver.token, json.dumps(told).encode(), headers))
