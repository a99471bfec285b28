"""The page of latency maps: what stands in it, and in a real browser what pointing, zooming and comparing do."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from math import inf
from pathlib import Path
from typing import Any

import pytest

from browser import CHROMIUM, Page, browser
from doctord.analyse.latency.difference import difference, part
from doctord.analyse.latency.histogram import Bucket, Histogram
from doctord.analyse.latency.map import LatencyMap, Marker
from doctord.report.map.difference import sentences
from doctord.report.map.html import data, page
from maps import T0, bimodal_with_bursts, map_of, of_means, powers

pytestmark = pytest.mark.slow

RESTART = Marker(T0 + timedelta(seconds=60), "restart", "</script><b>started again</b>")
DRAWN = map_of(180, bimodal_with_bursts, RESTART)
# Places in a window 1200 wide: the cells of the first map lie between these, 180 columns.
LEFT, SIDE = 68, 150 + 10

needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium to open the page in")


def held(html: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)
    assert found
    return dict(json.loads(found[1]))


def test_a_page_needs_nothing_else_and_ends_no_script_early() -> None:
    html = page([DRAWN])
    assert html.count("<script") == html.count("</script>") == 2
    assert "default-src 'none'" in html
    assert not re.search(r"""(src|href)=["']|https?://|@import|url\((?!#)""", html)
    assert held(html)["maps"][0]["markers"][0]["text"] == "</script><b>started again</b>"


def test_the_data_holds_every_wait_and_tells_a_gap_from_none() -> None:
    drawn = map_of(4, lambda second: [powers({6: 5, 13: 2}), None, Histogram(), powers({6: 1})][second])
    found = data(drawn, 40)
    assert [counts and sum(counts) for counts in found["counts"]] == [7, None, 0, 1]
    assert sum(sum(waits) for waits in found["waits"] if waits) == pytest.approx(drawn.whole.time.us, abs=0.1)
    assert (found["rows"][0][1], found["rows"][-1][1]) == (64, 8192)


def test_what_is_above_the_last_edge_has_no_upper_one() -> None:
    above = map_of(1, lambda _: powers({6: 5}).merge(Histogram.of([Bucket(64, inf, 3)])))
    assert data(above, 40)["rows"][-1] == [64, None]
    assert data(above, 40)["timeIs"] == "at least"


def test_means_keep_their_counts_and_stay_means() -> None:
    found = data(of_means(10), 40)
    assert found["means"][:2] == [1000, 2000]
    assert found["means"][5] is found["means"][7] is None
    assert [counts and sum(counts) for counts in found["counts"]] == [10, 11, 12, 13, 14, None, 16, 0, 18, 19]


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture
def opened(window: Page, tmp_path: Path) -> Iterator[Page]:
    show(window, tmp_path, [DRAWN, of_means(60)])
    yield window
    assert window.errors == []


def show(window: Page, folder: Path, maps: list[LatencyMap], width: int = 1200, **more: Any) -> None:
    file = folder / "map.html"
    file.write_text(page(maps, **more), encoding="utf-8")
    window.open(file, width)


def x_of(window: Page, column: float, of: int = 180) -> float:
    box = window.value("(box => [box.left, box.width])(document.querySelector('canvas').getBoundingClientRect())")
    return float(box[0] + LEFT + (column + 0.5) / of * (box[1] - LEFT - SIDE))


def y_of(window: Page, row: int) -> float:
    """The middle of a row, counted from the top of the first map."""
    return float(window.value("document.querySelector('canvas').getBoundingClientRect().top")) + 30 + 14 * (row + 0.5)


def pixels(window: Page) -> list[int]:
    """How the first map looks: the amounts of red, green and blue in it."""
    return list(
        window.value(
            "(canvas => [...canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data]"
            ".reduce((sums, value, at) => (sums[at % 4] += value, sums), [0, 0, 0, 0]))"
            "(document.querySelector('canvas'))"
        )
    )


@needs_browser
def test_hovering_says_what_a_cell_holds(opened: Page) -> None:
    before = pixels(opened)
    opened.mouse("mouseMoved", x_of(opened, 10), y_of(opened, 7))
    # The rows go from 1.05 s down: the eighth is 8.19 ms, where second 10 has 90 waits of 344.
    assert opened.text("#readout") == (
        "2026-11-21 06:00:09 to 06:00:10, 4.1 ms to 8.19 ms: 90 waits, 26.2 % of 344 in the column;"
        " 553 ms waited, of 701 ms."
    )
    assert pixels(opened) != before
    opened.mouse("mouseMoved", x_of(opened, 34), y_of(opened, 7))
    assert opened.text("#readout") == "2026-11-21 06:00:33 to 06:00:34: not measured."
    opened.mouse("mouseMoved", x_of(opened, 60), y_of(opened, 7))
    assert "restart: </script><b>started again</b>" in opened.text("#readout")


@needs_browser
def test_dragging_zooms_and_back_goes_back(opened: Page) -> None:
    before = pixels(opened)
    opened.drag(x_of(opened, 40), x_of(opened, 59), y_of(opened, 3))
    assert opened.text("#figures tbody td") == "2026-11-21 06:00:39 to 06:00:59"
    inside = DRAWN.between(T0 + timedelta(seconds=39), T0 + timedelta(seconds=59))
    assert opened.text("#figures tbody tr:nth-child(3) td") == f"{inside.whole.total:,}"
    assert pixels(opened) != before
    opened.value("document.querySelector('#back').click()")
    assert opened.text("#figures tbody td") == "2026-11-21 05:59:59 to 06:02:59"


@needs_browser
def test_two_intervals_are_compared_in_the_words_of_the_analysis(opened: Page) -> None:
    assert opened.value("document.querySelector('#difference-panel').hidden")
    for interval, begin, end in (("a", 0, 29), ("b", 100, 159)):
        opened.choose("#mode", interval)
        opened.drag(x_of(opened, begin), x_of(opened, end), y_of(opened, 3))
    assert not opened.value("document.querySelector('#difference-panel').hidden")
    a = part(DRAWN, None, T0 + timedelta(seconds=29))
    b = part(DRAWN, T0 + timedelta(seconds=99), T0 + timedelta(seconds=159))
    expected = list(sentences(difference(a, b)))
    assert len(expected) == 4
    assert opened.text("#difference").split("\n") == expected
    assert opened.text("#figures thead").split() == ["Shown", "A", "B"]


@needs_browser
def test_all_can_be_done_with_keys(opened: Page) -> None:
    opened.value("document.querySelector('canvas').focus()")
    opened.press("ArrowRight")
    assert opened.text("#readout").startswith("2026-11-21 05:59:59 to 06:00:00")
    for _ in range(9):
        opened.press("ArrowRight", shift=True)
    opened.press("a")
    opened.press("End")
    opened.press("PageUp", shift=True)
    opened.press("Enter")
    assert opened.text("#figures tbody tr").endswith("06:02:38 to 06:02:59\t2026-11-21 05:59:59 to 06:00:09")
    opened.press("b")
    assert "in B" in opened.text("#difference")
    opened.press("Backspace")
    assert "05:59:59 to 06:02:59" in opened.text("#figures tbody tr")


@needs_browser
def test_a_moment_to_compare_at_names_both_sides(window: Page, tmp_path: Path) -> None:
    show(window, tmp_path, [DRAWN], compare_at=T0 + timedelta(seconds=89))
    found = difference(part(DRAWN, None, T0 + timedelta(seconds=89)), part(DRAWN, T0 + timedelta(seconds=89)))
    assert window.text("#difference").split("\n") == list(sentences(found))


@needs_browser
def test_colours_can_be_spread_otherwise(opened: Page) -> None:
    seen = [pixels(opened)]
    for scale in ("log", "linear"):
        opened.choose("#scale", scale)
        seen.append(pixels(opened))
    assert len({tuple(look) for look in seen}) == 3


@needs_browser
def test_another_map_can_be_chosen_and_means_say_so(opened: Page) -> None:
    opened.choose("#map", "1")
    assert opened.text("h1") == "vda read"
    assert "mean only" in opened.text("#about")
    opened.mouse("mouseMoved", x_of(opened, 10, of=60), y_of(opened, 2))
    assert opened.text("#readout") == "2026-11-21 06:00:09 to 06:00:10: 20 waits, mean 3 ms."


@needs_browser
@pytest.mark.parametrize("width", [1200, 500, 390])
def test_nothing_is_wider_than_the_window(window: Page, tmp_path: Path, width: int) -> None:
    show(window, tmp_path, [replace(DRAWN, subject="a " + "very_long_name_" * 20)], width)
    assert window.value("document.documentElement.scrollWidth") <= width
    assert window.value("document.querySelector('canvas').clientWidth") <= width
    box = "document.querySelector('#figures').parentElement"
    assert window.value(f"{box}.scrollWidth <= {box}.clientWidth")


@needs_browser
def test_names_of_percentiles_stand_beside_the_bars(window: Page, tmp_path: Path) -> None:
    show(window, tmp_path, [DRAWN], 390)
    beside = window.value(
        "(canvas => [...canvas.getContext('2d').getImageData(canvas.width - 28, 30, 28, canvas.height - 60).data])"
        "(document.querySelector('canvas'))"
    )
    pixels = [beside[at : at + 4] for at in range(0, len(beside), 4)]
    assert any(alpha for *_, alpha in pixels)
    assert all(max(colour) - min(colour) < 40 for *colour, alpha in pixels if alpha)


@needs_browser
def test_a_page_that_was_out_of_sight_is_drawn_when_it_comes_back(opened: Page) -> None:
    before = pixels(opened)
    seen = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
    opened.value(f"document.body.style.display = 'none', {seen}")
    assert opened.value("document.querySelector('canvas').width") == 0
    opened.value(f"document.body.style.display = '', {seen}")
    assert pixels(opened) == before


@needs_browser
def test_a_map_without_columns_opens(window: Page, tmp_path: Path) -> None:
    show(window, tmp_path, [replace(DRAWN, columns=())])
    assert "nothing" in window.text("#about")
    window.mouse("mouseMoved", 300, 400)
    show(window, tmp_path, [])
    assert window.text("h1") == "No latencies"
    assert window.errors == []


@needs_browser
def test_an_hour_of_seconds_in_forty_rows_is_drawn_at_once(window: Page, tmp_path: Path) -> None:
    fine = [Bucket(2 ** (nth / 2), 2 ** ((nth + 1) / 2), nth + 1) for nth in range(40)]
    show(window, tmp_path, [map_of(3600, lambda second: Histogram.of(fine) if second % 100 else None)])
    assert window.value("state.map.rows.length") == 40
    redraw_ms, point_ms = window.value(
        "(() => { const timed = (work) => {"
        " const begun = performance.now(); work(); return performance.now() - begun; };"
        " state.cursor = { column: 100, row: 5 }; return [timed(changed), timed(pointed)]; })()"
    )
    # Measured: 30 and 0.1 ms. The bounds leave room for a busy machine.
    assert redraw_ms < 500
    assert point_ms < 50
