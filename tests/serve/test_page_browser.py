"""The page of `doctord serve` in a real browser, with mouse and keys: what is wrong stands first."""

from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest

from browser import CHROMIUM, browser
from http_server import served, unpacked
from page_reader import Reader

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium to open the page in")]

FAULT, TITLE = "row_lock_convoy", "96 % of database time is spent waiting for row locks"
GRAPH, UNDER = "main .plot", "main .under"
PRESS_AT_ONCE = f"""
new MutationObserver((_, watching) => {{
    const graph = document.querySelector("{GRAPH}");
    if (!graph) return;
    watching.disconnect();
    graph.dispatchEvent(new KeyboardEvent("keydown", {{ key: "End" }}));
}}).observe(document, {{ childList: true, subtree: true }});
"""


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    lake = unpacked(FAULT, tmp_path_factory.mktemp("lakes") / FAULT)
    with served("--lake", lake) as client, browser(tmp_path_factory.mktemp("profile")) as page:
        yield Reader(page, client.address)


def query(reader: Reader) -> dict[str, list[str]]:
    return parse_qs(urlsplit(str(reader.page.value("location.href"))).query)


def middle_of(reader: Reader, selector: str) -> tuple[float, float, float]:
    """Middle and width of something, in the window, once it is there."""
    reader.page.wait(f"document.querySelector('{selector}') !== null")
    x, y, width = reader.page.value(
        f"(box => [box.left + box.width / 2, box.top + box.height / 2, box.width])"
        f"(document.querySelector('{selector}').getBoundingClientRect())"
    )
    return x, y, width


def test_what_is_wrong_stands_first(reader: Reader) -> None:
    reader.open()
    assert reader.text("h1") == TITLE
    assert "CPU used" in reader.text()
    assert reader.page.errors == reader.page.logged == []


def test_no_request_leaves_the_server(reader: Reader) -> None:
    reader.open()
    asked = [url for url in reader.page.requests if not url.startswith(("data:", "about:"))]
    assert asked
    assert {urlsplit(url).netloc for url in asked} == {urlsplit(reader.address).netloc}


def test_a_band_that_is_clicked_becomes_a_filter_that_can_be_taken_away(reader: Reader) -> None:
    reader.open()
    x, y, _ = middle_of(reader, f"{GRAPH} .u-over")
    reader.page.click(x, y)
    reader.page.wait("document.querySelector('.chip')")
    reader.settle()
    assert "Application" in reader.text(".chip")
    assert query(reader)["where"] == ["wait_class:Application"]
    assert reader.text(".breakdown li .label") == "transactionid"
    reader.click("Application", ".chips")
    assert "where" not in query(reader)


def test_one_click_breaks_down_by_another_dimension(reader: Reader) -> None:
    reader.open("?view=explore")
    reader.click("program", ".dimensions")
    assert query(reader)["by"] == ["program"]
    assert reader.text(".breakdown li .label") == "pgbench"


def test_dragging_zooms_and_back_goes_back(reader: Reader) -> None:
    reader.open()
    before = reader.text(".looked")
    x, y, width = middle_of(reader, f"{GRAPH} .u-over")
    reader.page.drag(x, x + width / 4, y)
    reader.page.wait("location.search.includes('from=')")
    reader.settle()
    assert reader.text(".looked") != before
    reader.click("Back", ".time")
    reader.page.wait("!location.search.includes('from=')")
    reader.settle()
    assert reader.text(".looked") == before


def test_keys_walk_through_a_graph_say_what_is_there_and_zoom(reader: Reader) -> None:
    reader.open()
    reader.page.value(f"document.querySelector('{GRAPH}').focus()")
    reader.page.press("End")
    reader.page.press("ArrowLeft")
    assert "Application" in reader.text(UNDER)
    there = reader.text(UNDER)
    reader.page.press("ArrowLeft")
    assert reader.text(UNDER) != there
    reader.page.press(" ")
    for _ in range(4):
        reader.page.press("ArrowLeft")
    reader.page.press("Enter")
    reader.page.wait("location.search.includes('from=')")


def test_a_key_that_is_pressed_as_the_graph_appears_is_heard(reader: Reader) -> None:
    early = reader.page.send("Page.addScriptToEvaluateOnNewDocument", source=PRESS_AT_ONCE)
    try:
        reader.open()
    finally:
        reader.page.send("Page.removeScriptToEvaluateOnNewDocument", **early)
    assert "Application" in reader.text(UNDER)
    assert reader.page.errors == []


def test_the_figures_of_a_graph_are_there_as_a_table(reader: Reader) -> None:
    reader.open()
    reader.click("Table", "main .graph")
    assert reader.text("main .graph thead").split()[:3] == ["Time", "CPU", "User"]
    assert int(reader.page.value("document.querySelectorAll('main .graph tbody tr').length")) >= 15


def test_a_finding_shows_its_evidence_as_graphs(reader: Reader) -> None:
    reader.open()
    reader.click_first(".findings h3")
    assert reader.text("h1") == TITLE
    for told in ("What to do", "How to check that it helped", "Why we think so", "against"):
        assert told in reader.text()
    reader.click("Show graph", ".evidence")
    assert "transactionid" in reader.text(".evidence")
    assert "Active sessions by wait event" in reader.text(".evidence")


def test_the_address_tells_all(reader: Reader) -> None:
    reader.open(
        "?view=explore&by=statement&where=wait_class%3AApplication&from=2026-11-23T07:07:15Z&to=2026-11-23T07:07:20Z"
    )
    assert "update pgbench_branches" in reader.text(".breakdown")
    assert "(5 s)" in reader.text(".looked")


@pytest.mark.parametrize(
    "place", ["?view=nothing", "?from=x&to=y", "?view=explore&by=nothing", "?lake=none", "?view=finding&of=<b>"]
)
def test_a_wrong_address_is_no_blank_page(reader: Reader, place: str) -> None:
    reader.open(place)
    assert reader.text("body").count("\n") > 3
