"""The plot of a figure that nears its limit."""

from xml.etree.ElementTree import Element, fromstring

import pytest

from doctord.analyse.capacity.action_plan import Entry
from doctord.report.capacity.plot import svg
from doctord.report.plot import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH
from report.capacity_examples import WITHIN_S, agenda_of, host

FOUND = {(entry.item.series.figure.name, entry.item.series.labels.entity): entry for entry in agenda_of(host()).entries}


def drawn(entry: Entry) -> Element:
    return fromstring(svg(entry, WITHIN_S))  # noqa: S314 - made here


def of_class(root: Element, name: str) -> list[Element]:
    return [element for element in root.iter() if name in element.get("class", "").split()]


def titles(elements: list[Element]) -> list[str]:
    return [title.text or "" for element in elements for title in element.iter("title")]


def test_it_shows_the_date_its_interval_and_the_plan_s_beginning() -> None:
    root = drawn(FOUND["space_left_bytes", "users"])
    assert titles(of_class(root, "crossing")) == ["passed about 2026-10-17"]
    (between,) = titles(of_class(root, "between"))
    assert between.startswith("passed between 2026-10-0")
    assert titles(of_class(root, "begin")) == ["begin with the plan by 2026-10-10"]
    assert [text.text for text in of_class(root, "date")] == ["2026-10-17"]


def test_the_crossing_lies_on_the_limit() -> None:
    root = drawn(FOUND["space_left_bytes", "users"])
    (dot,), (limit,) = of_class(root, "crossing"), of_class(root, "limit")
    assert f" {dot.get('cy')}H" in limit.get("d", "")


def test_a_gap_is_shaded_and_breaks_the_line() -> None:
    root = drawn(FOUND["space_left_bytes", "users"])
    assert titles(of_class(root, "gap")) == ["not measured"]
    assert len([line for line in of_class(root, "line") if "c2" in line.get("class", "")]) == 2


def test_shifts_and_outliers_are_marked() -> None:
    root = drawn(FOUND["cpu_used_pct", ""])
    assert titles(of_class(root, "shift")) == ["the level shifted, 2026-06-05 00:00 UTC"]
    (outlier,) = titles(of_class(root, "outlier"))
    assert outlier.endswith("UTC: 97 %")


def test_what_is_violated_has_no_date_but_its_beginning_is_seen() -> None:
    root = drawn(FOUND["filesystem_used_pct", "/u02"])
    assert of_class(root, "crossing") == []
    line = of_class(root, "line")[0].get("d", "")
    (limit,) = of_class(root, "limit")
    begins = float(line.split("V")[0].split(" ")[1])
    assert begins > float(limit.get("d", "").split(" ")[1].split("H")[0])


@pytest.mark.parametrize("entry", FOUND.values(), ids=lambda entry: entry.item.series.name)
def test_nothing_is_drawn_outside(entry: Entry) -> None:
    if entry.verdict == "cannot be told":
        return
    for element in drawn(entry).iter("circle"):
        assert LEFT <= float(element.get("cx", "")) <= WIDTH - RIGHT
        assert TOP <= float(element.get("cy", "")) <= HEIGHT - BOTTOM
