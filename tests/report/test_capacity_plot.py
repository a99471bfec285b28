"""The plot of a figure that nears its limit."""

from xml.etree.ElementTree import Element, fromstring

import numpy as np
import pytest

from doctord.analyse.capacity.agenda import Entry
from doctord.analyse.capacity.series import DAY_S, HOUR_S
from doctord.report.capacity_plot import MOST_BLOCKS, blocks_of, svg, ticks_of
from doctord.report.plot import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH
from histories import NAN, history
from report.capacity_examples import WITHIN_S, agenda_of, patient

FOUND = {
    (entry.item.series.figure.name, entry.item.series.whose.entity): entry for entry in agenda_of(patient()).entries
}


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


def test_blocks_end_with_the_history_and_keep_its_extremes() -> None:
    values = np.arange(1000.0)
    values[100:200] = NAN
    blocks = blocks_of(history(values, step_s=HOUR_S), 0.0, DAY_S)
    assert blocks.end[-1] == history(values).end.timestamp()
    assert len(blocks.end) <= MOST_BLOCKS
    assert (np.nanmin(blocks.low), np.nanmax(blocks.high)) == (0.0, 999.0)
    assert np.isnan(blocks.value).sum() == 3


def test_long_times_have_months_and_short_ones_days() -> None:
    assert [label for _, label in ticks_of(1767225600.0, 1767225600.0 + 240 * DAY_S)][:2] == ["Mar 2026", "May 2026"]
    assert all(" 20" not in label for _, label in ticks_of(1767225600.0, 1767225600.0 + 30 * DAY_S))
