"""From each fault of the lab to its cause in at most four clicks, by labels that are seen: the largest band each time.

Nothing here knows where a cause stands: it clicks on the largest part of the load, again on the largest part of that,
and then on the worst that was found.
"""

import os
from collections.abc import Iterator

import pytest

from browser import CHROMIUM, browser
from doctord.lab.fault import all_faults
from http_server import RECORDINGS, served, unpacked
from page_reader import Reader

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium to open the page in")]

# The lab names its one server; a lake holds the whole host, and a second server on it was slow to let clients in.
OF_ANOTHER_SERVER = {"analyze_run", "cpu_quota_enough", "index_built", "neighbour_fills", "neighbour_rewrites"}
# Every verdict is judged in tests/lab/test_recordings.py already: here a sixth of them shows the way to it.
FAULTS = sorted(path.stem for path in RECORDINGS.glob("*.tar"))[:: 1 if os.environ.get("DOCTORD_WALK") == "all" else 6]
MOST_CLICKS = 4


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    folder = tmp_path_factory.mktemp("lakes")
    profile = tmp_path_factory.mktemp("profile")
    lakes = [word for fault in FAULTS for word in ("--lake", unpacked(fault, folder / fault))]
    with served(*lakes) as client, browser(profile) as page:
        yield Reader(page, client.address)


@pytest.mark.parametrize("fault", FAULTS)
def test_the_cause_is_a_few_clicks_away(reader: Reader, fault: str) -> None:
    expected = "clients_wait_to_connect" if fault in OF_ANOTHER_SERVER else all_faults()[fault].cause
    reader.open(f"?lake={fault}")
    if expected is None:
        assert reader.text("h1").startswith("Healthy")
        return
    clicks = 0
    for _ in range(2):
        if reader.page.value("document.querySelector('.breakdown button') !== null"):
            reader.click_first(".breakdown")
            clicks += 1
    reader.click_first(".findings h3")
    assert f"Cause: {expected}" in reader.text()
    assert clicks + 1 <= MOST_CLICKS
    assert reader.page.errors == reader.page.logged == []
