"""The drawing of a pass: rows, bars, the critical path without colour, and words for who cannot see it."""

from xml.etree import ElementTree as ET

import pytest
from syrupy.assertion import SnapshotAssertion

from doctord.dataset.calltrace import Timeline
from doctord.report.trace.timeline import LEFT, RIGHT, WIDTH, described, svg
from report.examples import HOSTILE
from traces import healthy, listener_before

SVG = "{http://www.w3.org/2000/svg}"


def listener() -> Timeline:
    timeline = listener_before()["timeline"]
    assert timeline
    return timeline


def drawn(timeline: Timeline) -> ET.Element:
    return ET.fromstring(svg(timeline, alone=True))  # noqa: S314 - what this program wrote itself


def bars(drawing: ET.Element) -> list[ET.Element]:
    return [group for group in drawing.iter(f"{SVG}g") if group.find(f"{SVG}title") is not None]


def test_looks_as_it_always_did(snapshot: SnapshotAssertion) -> None:
    assert svg(listener(), alone=True) == snapshot


def test_a_bar_stands_at_its_time_and_says_its_call() -> None:
    (fork,) = [bar for bar in bars(drawn(listener())) if "fork1" in str(bar[0].text)]
    assert fork[0].text == "fork1(): 30.0 ms from 7.2 ms, on the critical path"
    scale = (WIDTH - LEFT - RIGHT) / 0.2999
    assert float(fork[1].attrib["x"]) == pytest.approx(LEFT + 0.0072 * scale, abs=0.1)
    assert float(fork[1].attrib["width"]) == pytest.approx(0.03 * scale, abs=0.1)


def test_the_critical_path_shows_without_colour() -> None:
    rects = [bar[1].attrib for bar in bars(drawn(listener()))]
    on_path = [bar for bar in rects if bar["class"] == "path"]
    other = [bar for bar in rects if bar["class"] == "other"]
    assert len(on_path) == 3
    assert len(other) == 1
    assert all(bar["fill"].startswith("url(#") and bar["height"] != other[0]["height"] for bar in on_path)


def test_the_shortest_call_can_be_seen() -> None:
    timeline = listener()
    timeline["rows"][0]["bars"] = [
        {"start_s": 0.1, "seconds": 0.0, "call": "close", "arguments": "3", "on_path": False}
    ]
    assert all(float(bar[1].attrib["width"]) > 0.5 for bar in bars(drawn(timeline)))


def test_it_is_told_in_words() -> None:
    assert described(listener()) == (
        "15697: 30.0 ms on the critical path; grandchild (oracle): 2.8 ms on the critical path"
    )


def test_hostile_text_stays_text() -> None:
    timeline = listener()
    for row in timeline["rows"]:
        row["role"] = HOSTILE
        for bar in row["bars"]:
            bar["call"] = bar["arguments"] = HOSTILE
    drawing = drawn(timeline)
    assert not list(drawing.iter(f"{SVG}script"))
    assert "\x1b" not in svg(timeline)


def test_a_healthy_fixture_has_none() -> None:
    assert healthy()["timeline"] is None
