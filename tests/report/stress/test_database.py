"""What is said of a load test: the knee first, the limit, and the pitfall before any figure."""

import json

import numpy as np
import pytest

from doctord.analyse.stress.latencies import counted
from doctord.analyse.stress.reads import Reads
from doctord.app.stress.database import Asked, Ran, Stress
from doctord.report.stress import database as words
from doctord.stress.kits import blocks
from doctord.stress.pgbench import Given
from report.examples import HEALTHY, ONE

SECONDS = 30
CACHED = Reads(6000 * SECONDS, 8192, 0.0, SECONDS)


def given(offered_per_s: float | None, ms: float, *, clients: int = 32, late_s: float | None = 0.0) -> Given:
    number = int((offered_per_s or 100.0 * clients) * SECONDS)
    latency_us = np.full(number, ms * 1000.0)
    return Given(
        offered_per_s, clients, SECONDS, counted(np.arange(number) % SECONDS + 0.5, latency_us, SECONDS), 0, late_s, 1.0
    )


def found(limit_ms: float = 20.0, reads: Reads | None = None) -> Stress:
    steps = [
        Ran(given(100.0, 2), HEALTHY, reads),
        Ran(given(1100.0, 900, late_s=4.0), ONE, reads),
        Ran(given(700.0, 8), HEALTHY, reads),
        Ran(given(1000.0, 60), ONE, reads),
    ]
    probes = [given(None, 2, clients=clients, late_s=None) for clients in (1, 2, 4, 8)]
    return Stress(Asked("host=db", blocks(1 << 20), limit_ms=limit_ms), "15.20", probes, steps, limit_ms)


def test_the_knee_comes_first_then_the_limit() -> None:
    lines = words.render(found(), 80, colour=False).splitlines()
    assert lines[0].startswith("835 transactions a second (835 to 835): 99 of 100 transactions within 20 ms")
    assert lines[1].startswith("From 1,000 a second on the limit is: ")
    assert any("does not keep up" in line for line in lines)
    assert max(map(len, lines)) <= 80


def test_a_level_that_nothing_holds_and_one_that_all_hold() -> None:
    assert words.render(found(1.0), 80, colour=False).startswith("No load that was given holds 99 of 100")
    assert found(1.0).healthy is False
    easy = Stress(found().asked, "15", found().probes, found().steps[:1], 20.0)
    assert words.render(easy, 80, colour=False).startswith("At least 100 transactions a second")


@pytest.mark.parametrize(
    ("reads", "is_said"), [(CACHED, True), (CACHED._replace(device_bytes=1.5e9), False), (None, False)]
)
def test_the_pitfall_is_said(reads: Reads | None, *, is_said: bool) -> None:
    assert ("This was no test of the disk" in words.render(found(reads=reads), 80, colour=False)) is is_said


def test_the_document_has_numbers_and_nulls() -> None:
    document = json.loads(json.dumps(words.document(found(reads=CACHED))))
    assert document["knee"]["is_reached"] is True
    assert document["knee"]["per_s"]["value"] == pytest.approx(836, rel=0.01)
    assert document["limit"]["from_per_s"] == 1000.0
    assert [step["keeps_up"] for step in document["steps"]] == [True, False, True, True]
    assert document["steps"][0]["cause"] is None
    assert document["reads"]["is_pitfall"] is True
    assert document["probes"][0]["late_ms"] is None
