"""The page for those who see little, use no mouse, or look at it on a telephone: each view, in both themes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from browser import CHROMIUM, browser
from http_server import served, unpacked
from page_reader import Reader

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium to open the page in")]

AXE = Path(__file__).parents[2] / "web/node_modules/axe-core/axe.min.js"
VIEWS = {
    "now": "",
    "explore": "?view=explore&where=wait_class%3AApplication",
    "finding": "?view=finding&of=row_locks",
    "latency": "?view=map",
    "blocking": "?view=blocking",
    "compare": "?view=compare&from=2026-11-23T07:07:20Z&to=2026-11-23T07:07:27Z",
    "capacity": "?view=capacity",
    "statement": "?view=statement&of=5812186252248936594",
}
PHONE_PX = 390


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    lake = unpacked("row_lock_convoy", tmp_path_factory.mktemp("lakes") / "row_lock_convoy")
    with served("--lake", lake) as client, browser(tmp_path_factory.mktemp("profile")) as page:
        yield Reader(page, client.address)


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed: make web")
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_axe_finds_no_violation(reader: Reader, view: str, theme: str) -> None:
    reader.open(VIEWS[view], dark=theme == "dark")
    reader.page.value(AXE.read_text() + "; true")
    found = reader.page.value(
        "axe.run().then(told => told.violations.map(one => [one.id, one.nodes.map(it => it.html)]))"
    )
    assert found == []


@pytest.mark.parametrize("view", VIEWS)
def test_a_telephone_needs_no_scrolling_sideways(reader: Reader, view: str) -> None:
    reader.open(VIEWS[view], width=PHONE_PX)
    assert reader.page.value("document.documentElement.scrollWidth") <= PHONE_PX


@pytest.mark.parametrize("view", VIEWS)
def test_what_can_be_clicked_can_be_reached_by_keys(reader: Reader, view: str) -> None:
    reader.open(VIEWS[view])
    unreachable = reader.page.value("""
        [...document.querySelectorAll("a, button, summary, select, canvas.heat, .plot")]
            .filter(one => one.checkVisibility() && !one.disabled && one.tabIndex < 0).map(one => one.outerHTML)
    """)
    assert unreachable == []
