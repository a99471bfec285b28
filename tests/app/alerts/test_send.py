"""Alerts arrive where they are sent, as the receiver takes them."""

import logging
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from doctord.app.alerts.send import send
from doctord.app.alerts.settings import Receiver
from doctord.app.alerts.state import Alert, Condition
from receiver import Heard, receiving

BEGIN = datetime(2026, 11, 26, 3, 0, tzinfo=UTC)
END = BEGIN + timedelta(minutes=7)
LOCKS = Condition("shop", "db1", "row_locks", None, "critical", "62 % of database time waits for row locks")
FULL = Condition("shop", "db1", "filesystem_full", "/var", "warning", "/var is 97 % full")
PAGE = "https://doctord.example.org/"


@pytest.fixture
def heard() -> Iterator[Heard]:
    with receiving() as heard:
        yield heard


def test_alertmanager_takes_what_fires_and_what_is_over(heard: Heard) -> None:
    alerts = [Alert(FULL, BEGIN, "firing", END), Alert(LOCKS, BEGIN, "resolved", END)]
    assert send(Receiver("alertmanager", heard.url, None, "warning"), alerts, PAGE)
    [(path, _, [fires, over])] = heard.told
    assert path == "/api/v2/alerts"
    assert fires == {
        "labels": {
            "alertname": "filesystem_full", "severity": "warning", "host": "db1", "lake": "shop", "of": "/var",
        },
        "annotations": {"summary": "/var is 97 % full"},
        "startsAt": "2026-11-26T03:00:00+00:00",
        "generatorURL": f"{PAGE}?lake=shop&from=2026-11-26T02%3A50%3A00Z&to=2026-11-26T03%3A07%3A00Z",
    }  # fmt: skip
    assert over["endsAt"] == "2026-11-26T03:07:00+00:00"


def test_a_webhook_has_one_message_for_a_cause_with_the_token(heard: Heard) -> None:
    alerts = [Alert(LOCKS._replace(host=f"db{number}"), BEGIN, "firing", END) for number in range(3)]
    assert send(Receiver("webhook", f"{heard.url}/hook", "open sesame", "warning"), alerts, PAGE)
    [(path, headers, told)] = heard.told
    assert (path, headers["Authorization"]) == ("/hook", "Bearer open sesame")
    assert (told["name"], told["status"]) == ("row_locks", "firing")
    assert [one["host"] for one in told["alerts"]] == ["db0", "db1", "db2"]
    assert told["alerts"][0]["until"] is None


def test_who_wants_to_know_of_the_critical_alone_is_told_of_no_warning(heard: Heard) -> None:
    assert send(Receiver("webhook", heard.url, None, "critical"), [Alert(FULL, BEGIN, "firing", END)], PAGE)
    assert heard.told == []


@pytest.mark.parametrize("status", [302, 401, 500])
def test_a_refusal_is_told_without_a_secret_and_a_redirect_is_not_followed(
    heard: Heard, caplog: pytest.LogCaptureFixture, status: int
) -> None:
    heard.status = status
    receiver = Receiver("webhook", f"{heard.url}/a-secret", "open sesame", "warning")
    with caplog.at_level(logging.WARNING):
        assert not send(receiver, [Alert(FULL, BEGIN, "firing", END)], PAGE)
    assert len(heard.told) == 1
    assert f"webhook 127.0.0.1 does not take what it is sent: HTTP {status}" in caplog.text
    assert "secret" not in caplog.text
    assert "sesame" not in caplog.text


def test_nobody_there_is_told(caplog: pytest.LogCaptureFixture) -> None:
    nobody = Receiver("webhook", "http://127.0.0.1:1/a-secret", None, "warning")
    with caplog.at_level(logging.WARNING):
        assert not send(nobody, [Alert(FULL, BEGIN, "firing", END)], PAGE)
    assert "webhook 127.0.0.1 cannot be told" in caplog.text
    assert "secret" not in caplog.text
