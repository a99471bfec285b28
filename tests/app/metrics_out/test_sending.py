"""What a receiver does not take waits for it, in its order."""

import logging
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from doctord.app.metrics_out.samples import Moment, Sample
from doctord.app.metrics_out.sending import MOST_KEPT, Sending
from doctord.app.metrics_out.settings import Destination
from doctord.app.receivers import Address
from receiver import Heard, receiving

BEGIN = datetime(2026, 11, 27, tzinfo=UTC)


@pytest.fixture
def heard() -> Iterator[Heard]:
    with receiving() as heard:
        yield heard


def moment(number: int) -> Moment:
    return Moment(BEGIN + timedelta(seconds=number), (Sample("doctord_finding", {}, number),))


def sending(heard: Heard) -> Sending:
    return Sending(Destination("otlp", Address(f"{heard.url}/v1/a-secret", "open sesame")))


def values(heard: Heard) -> list[float]:
    found = [told["resourceMetrics"][0]["scopeMetrics"][0]["metrics"][0] for _, _, told in heard.told]
    return [one["gauge"]["dataPoints"][0]["asDouble"] for one in found]


def test_what_arrives_is_sent_once_with_the_token(heard: Heard) -> None:
    to = sending(heard)
    to.add(moment(1))
    to.add(Moment(BEGIN, ()))  # of no lake anything is known yet
    to.send()
    to.send()
    [(path, headers, _)] = heard.told
    assert (path, headers["Authorization"]) == ("/v1/a-secret", "Bearer open sesame")


@pytest.mark.parametrize("status", [429, 503])
def test_what_is_not_taken_now_waits_in_its_order(heard: Heard, status: int) -> None:
    to, heard.status = sending(heard), status
    for number in (1, 2, 3):
        to.add(moment(number))
        to.send()
    assert values(heard) == [1, 1, 1]
    heard.status = 200
    to.send()
    assert values(heard) == [1, 1, 1, 1, 2, 3]


def test_what_is_refused_for_good_is_not_sent_again(heard: Heard, caplog: pytest.LogCaptureFixture) -> None:
    to, heard.status = sending(heard), 400
    to.add(moment(1))
    with caplog.at_level(logging.WARNING):
        to.send()
        to.send()
    assert values(heard) == [1]
    assert "otlp 127.0.0.1 does not take what it is sent: HTTP 400" in caplog.text
    assert "secret" not in caplog.text
    assert "sesame" not in caplog.text


def test_of_too_much_that_waits_the_oldest_goes() -> None:
    to = Sending(Destination("otlp", Address("http://127.0.0.1:1/", None)))
    for number in range(MOST_KEPT + 5):
        to.add(moment(number))
    to.send()
    with receiving() as heard:
        to.to = Destination("otlp", Address(heard.url, None))
        to.send()
        assert values(heard) == [*map(float, range(5, MOST_KEPT + 5))]


def test_what_comes_while_it_sends_is_not_taken_for_sent(heard: Heard, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of as many as are kept the oldest is on its way as another one pushes it out."""
    to, post = sending(heard), Sending._post
    for number in range(MOST_KEPT):
        to.add(moment(number))

    def meanwhile(self: Sending, one: Moment) -> int:
        if one == moment(0):
            self.add(moment(MOST_KEPT))
        return post(self, one)

    monkeypatch.setattr(Sending, "_post", meanwhile)
    to.send()
    assert values(heard) == [*map(float, range(MOST_KEPT + 1))]
