"""What the page makes of figures of its own: a spike, words of strangers, samples that come while it is open."""

import json
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from browser import CHROMIUM, Page, browser
from doctord.dataset.rows import now_us, rows
from doctord.lake.writer import LakeWriter, write
from http_server import served
from page_reader import Reader

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium to open the page in")]

HOURS, SPIKE = 6, 31
HOSTILE = "<img src=x onerror=\"document.body.dataset.owned='yes'\">"


def session(ts: int, sid: int = 1, **told: Any) -> dict[str, Any]:
    """A session at work for a second."""
    usual = {
        "db": "postgresql:5432",
        "kind": "client",
        "state": "active",
        "wait_class": "CPU",
        "event": "CPU",
        "wait_kind": "cpu",
    }
    return {"ts": ts, "interval_s": 1.0, "host": "h", "sid": sid, **usual, **told}


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browser(tmp_path_factory.mktemp("profile")) as page:
        yield page


def test_a_spike_of_one_second_is_seen_at_every_zoom(page: Page, tmp_path: Path) -> None:
    end = (now_us() // 1_000_000 - 3600) * 1_000_000
    seconds = [end - second * 1_000_000 for second in range(HOURS * 3600)]
    spike = [session(seconds[120], sid) for sid in range(2, SPIKE + 1)]
    write(tmp_path / "lake", [rows("session", [*(session(ts) for ts in reversed(seconds)), *spike])])
    with served("--lake", tmp_path / "lake") as client:
        reader = Reader(page, client.address)
        for last_s in (300, 3600, HOURS * 3600):
            reader.open(f"?last={last_s}")
            reader.click("Table", "main .graph")
            assert str(SPIKE) in reader.text("main .graph tbody").split(), f"of the last {last_s} s"


def test_words_of_strangers_are_text(page: Page, tmp_path: Path) -> None:
    start = now_us() - 60_000_000
    told = {"program": HOSTILE, "user": HOSTILE, "statement_id": "1", "event": HOSTILE, "database": HOSTILE}
    sampled = rows("session", [session(start + second * 1_000_000, **told) for second in range(30)])
    text = {"ts": start + 5_000_000, "interval_s": 5.0, "host": "h", "db": "postgresql:5432", "statement_id": "1"}
    write(tmp_path / "lake", [sampled, rows("statement", [text | {"text": HOSTILE, "calls_per_s": 1.0}])])
    with served("--lake", tmp_path / "lake") as client:
        reader = Reader(page, client.address)
        for place in (
            "",
            *(f"?view=explore&by={by}" for by in ("program", "event", "statement")),
            "?view=statement&of=1",
        ):
            reader.open(place)
            assert page.value("document.querySelector('main img') === null && !document.body.dataset.owned")
        assert HOSTILE in reader.text(".sql")


def test_samples_that_come_are_drawn_and_pause_holds_the_picture(page: Page, tmp_path: Path) -> None:
    with _recording(tmp_path / "lake"), served("--lake", tmp_path / "lake") as client:
        reader = Reader(page, client.address)
        reader.open("?last=300", settled=False)
        page.wait("document.querySelector('.state')?.innerText.includes('Live')")
        looked = reader.text(".looked")
        page.wait(f"document.querySelector('.looked').innerText !== {looked!r}")
        reader.click("Pause", ".time")
        looked = reader.text(".looked")
        time.sleep(3)
        assert reader.text(".looked") == looked
        assert "from=" in page.value("location.search")
        reader.click("Now", ".time")
        page.wait(f"document.querySelector('.looked').innerText !== {looked!r}")


def test_a_server_that_answers_more_slowly_than_samples_come_is_drawn(page: Page, tmp_path: Path) -> None:
    newest = "document.querySelector('main .graph tbody tr:last-child')?.innerText"
    with _recording(tmp_path / "lake"), served("--lake", tmp_path / "lake") as client:
        reader = Reader(page, client.address)
        reader.open("?last=300", settled=False)
        page.wait("document.querySelector('.state')?.innerText.includes('Live')")
        page.wait("document.querySelector('main .graph summary') !== null")
        page.value("document.querySelector('main .graph summary').click()")
        _slow(page, 1500)
        try:
            for _ in range(2):
                drawn = page.value(newest)
                page.wait(f"{newest} !== {json.dumps(drawn)}")
        finally:
            _slow(page, 0)


def _slow(page: Page, answer_ms: int) -> None:
    """Have each answer take so long."""
    of_bytes = {"downloadThroughput": -1, "uploadThroughput": -1}
    page.send("Network.emulateNetworkConditions", offline=False, latency=answer_ms, **of_bytes)


def test_a_rectangle_of_a_latency_map_tells_what_is_in_it(page: Page, tmp_path: Path) -> None:
    write(tmp_path / "lake", [rows("latency", list(latencies(now_us() - 3_600_000_000)))])
    with served("--lake", tmp_path / "lake") as client:
        reader = Reader(page, client.address)
        reader.open("?view=map")
        assert "Latency of vda write" in reader.text()
        left, top, width, height = page.value(
            "(box => [box.left, box.top, box.width, box.height])"
            "(document.querySelector('.heat').getBoundingClientRect())"
        )
        page.drag(left + 70, left + width - 125, top + height * 0.04)
        assert re.search(r"65\.5 ms: 24 waits \(< 1 % of all\)", reader.text("main [role=status]"))
        reader.click("Zoom to this time")
        assert "from=" in page.value("location.search")


def latencies(start_us: int) -> Iterator[dict[str, Any]]:
    """Two minutes of writes, and every ten seconds two that take some hundred times as long."""
    for second in range(120):
        whole = {"ts": start_us + second * 1_000_000, "interval_s": 1.0, "host": "h", "subject": "vda write"}
        yield whole | {"gt_us": 64.0, "le_us": 128.0, "count": 400 + second}
        yield whole | {"gt_us": 128.0, "le_us": 256.0, "count": 150}
        if second % 10 == 0:
            yield whole | {"gt_us": 32768.0, "le_us": 65536.0, "count": 2}


@contextmanager
def _recording(lake: Path) -> Iterator[None]:
    """Somebody who records into a lake, a sample a second."""
    ended = Event()

    def record() -> None:
        with LakeWriter(lake, sync_s=0.2) as writer:
            while not ended.wait(0.5):
                writer.append(rows("session", [session(now_us())]))

    write(lake, [rows("session", [session(now_us() - second * 1_000_000) for second in range(60, 1, -1)])])
    thread = Thread(target=record)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@pytest.mark.parametrize("ago_s", [3600, 61], ids=["an hour ago", "live"])
def test_a_server_that_has_gone_is_told_and_what_was_seen_stays(page: Page, tmp_path: Path, ago_s: int) -> None:
    start = now_us() - ago_s * 1_000_000
    write(tmp_path / "lake", [rows("session", [session(start + second * 1_000_000) for second in range(60)])])
    with served("--lake", tmp_path / "lake") as client:
        reader = Reader(page, client.address)
        reader.open()
        page.wait("document.querySelector('.breakdown button') !== null")
    assert "CPU" in reader.text(".breakdown")
    reader.click("Earlier", ".time")
    assert "The server does not answer" in reader.text("main [role=alert]")


def test_an_empty_lake_is_shown_once_there_is_something_in_it(page: Page, tmp_path: Path) -> None:
    with LakeWriter(tmp_path / "lake") as writer, served("--lake", tmp_path / "lake") as client:
        reader = Reader(page, client.address)
        reader.open(settled=False)
        page.wait("document.body.innerText.includes('Nothing is recorded yet')")
        writer.append(rows("session", [session(now_us() - second * 1_000_000) for second in range(20, 1, -1)]))
        writer.sync()
        page.wait("document.querySelector('.breakdown button') !== null")
        page.wait("document.querySelector('.state')?.innerText.includes('Live')")
