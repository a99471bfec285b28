import re
import time
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from doctord.dataset.dataset import Dataset
from doctord.report.diagnosis.html import render
from report import datasets, examples

pytestmark = pytest.mark.slow

VOID = {"meta", "br", "link", "img", "input", "hr"}


class Page(HTMLParser):
    """What a page holds: it fails when an element is not closed, or closed twice."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("name", examples.EXAMPLES)
def test_every_element_is_closed(name: str) -> None:
    page = Page(render(examples.EXAMPLES[name], datasets.dataset()))
    assert page.tags.count("h1") == 1


def test_it_needs_nothing_from_outside() -> None:
    html = render(examples.TWELVE, datasets.dataset())
    page = Page(html)
    assert "://" not in html
    assert not re.search(r"@import|url\((?!#)", html)
    assert not {"script", "link", "img", "iframe", "object"} & set(page.tags)
    assert "src" not in {name for name, _ in page.attributes}
    links = [value for name, value in page.attributes if name.endswith("href")]
    assert len(links) == 11
    assert all(link and link.startswith("#finding") for link in links)


def test_hostile_text_stays_text() -> None:
    evil = examples.HOSTILE
    rows = [
        {"ts": examples.UNTIL, "interval_s": 20.0, "host": evil, "device": evil, "reads_per_s": 5.0, "read_ms": 2.0}
    ]
    base = {"ts": examples.UNTIL, "interval_s": 20.0}
    dataset = Dataset.from_rows(
        cpu=[base],
        disk=rows,
        process=[base | {"pid": 1, "command": evil, "user": evil, "usr_pct": 5.0, "sys_pct": 1.0}],
        statement=[base | {"db": evil, "statement_id": evil, "text": evil, "elapsed_s_per_s": 1.0}],
        session=[
            base | {"db": evil, "sid": 1, "kind": "client", "user": evil, "state": evil},
            base | {"db": evil, "sid": 2, "kind": "client", "program": evil, "event": evil, "blocker_sid": 1},
        ],
    )
    finding = replace(
        examples.LOCKS, title=evil, for_=(examples.Evidence(evil, evil, evil, evil, evil),), remedy=(evil,)
    )
    html = render(replace(examples.ONE, host=evil, findings=(finding,), looked_at=(evil,)), dataset)
    page = Page(html)
    assert "script" not in page.tags
    assert page.text.count("<script>alert(1)</script>") > 10
    assert "\x1b" not in html
    assert "\u202e" not in html


def test_text_can_be_copied_as_it_was() -> None:
    text = Page(render(examples.ONE, Dataset())).text
    assert "SELECT pg_terminate_backend(4711); ask first who psql on db1 is." in text
    assert "\u00a0" not in text


def test_what_was_not_measured_is_left_out() -> None:
    text = Page(render(examples.HEALTHY, Dataset())).text
    assert "Evidence over time" not in text
    assert "Processes" not in text
    assert "No finding" in text


def test_the_sections_of_a_full_report() -> None:
    text = " ".join(Page(render(examples.THREE, datasets.dataset())).text.split())
    for part in ("Findings", "Where the database time went", "Device latency", "TCP trouble", "Who blocked whom"):
        assert part in text
    assert "UPDATE account SET balance" in text
    assert "4711 app, psql, idle in transaction" in text


def test_how_much_of_the_time_is_explained_is_said_beside_findings_alone() -> None:
    told = "The causes found explain 86"
    assert told in Page(render(replace(examples.ONE, explained=0.864), Dataset())).text
    assert told not in Page(render(replace(examples.HEALTHY, explained=0.864), Dataset())).text


def test_others_are_named_with_their_findings() -> None:
    page = Page(render(examples.ONE, Dataset(), [examples.HEALTHY, replace(examples.THREE, host=examples.HOSTILE)]))
    assert "Other servers and times" in page.text
    assert "Commits are slow" in page.text
    assert "script" not in page.tags
    page = Page(render(examples.HEALTHY, Dataset(), [replace(examples.EMPTY, host="db2")]))
    assert "no verdict on db2" in page.text


def test_an_hour_at_one_second_stays_small_and_quick() -> None:
    dataset = datasets.dataset(3600, processes=20)
    began = time.process_time()
    html = render(examples.TWELVE, dataset)
    assert time.process_time() - began < 2
    assert len(html) < 1_000_000
