"""The capacity report as a page."""

import re
import time
from datetime import datetime, timedelta

import pytest

from doctord.analyse.capacity.action_plan import ActionPlan
from doctord.report.capacity.html import OF_ONE_THRESHOLD, render
from doctord.report.capacity.report import document_of
from report.capacity_examples import WITHIN_S, agenda_of, healthy, host, hostile, tablespaces
from report.diagnosis.test_html import Page

EXAMPLES = {
    "host": agenda_of(host()),
    "healthy": agenda_of(healthy()),
    "tablespaces": agenda_of(tablespaces(40)),
    "short": agenda_of(host()[4:5]),
    "empty": agenda_of([]),
}


def page_of(action_plan: ActionPlan, later: timedelta = timedelta(hours=1)) -> str:
    seen = (action_plan.now or datetime.fromisoformat("2026-09-02T00:00Z")) + later
    return render(action_plan, document_of(action_plan, WITHIN_S, []), seen)


@pytest.mark.parametrize("name", EXAMPLES)
def test_it_is_whole_and_needs_nothing_from_outside(name: str) -> None:
    html = page_of(EXAMPLES[name])
    page = Page(html)
    assert page.tags.count("h1") == 1
    assert "://" not in html
    assert not re.search(r"@import|url\((?!#)", html)
    assert not {"script", "link", "img", "iframe", "object"} & set(page.tags)
    targets = {value for name, value in page.attributes if name == "id"}
    links = [value for name, value in page.attributes if name.endswith("href")]
    assert all(link and link.removeprefix("#") in targets for link in links)


def articles(html: str) -> list[str]:
    return re.findall(r"<article.*?</article>", html, flags=re.DOTALL)


def test_every_item_has_its_plot_plan_and_evidence() -> None:
    cards = articles(page_of(EXAMPLES["host"]))
    assert len(cards) == 6
    for card in cards:
        assert card.count('class="plot"') == 1
        assert "<title>" in card
        assert "<h4>Plan</h4>" in card
        assert {"History", "Model"} <= set(re.findall("<dt>(.*?)</dt>", card))


def test_a_missing_plan_is_said() -> None:
    (card,) = (card for card in articles(page_of(EXAMPLES["host"])) if "mean wait" in card)
    assert "None is written." in card
    assert "30 % of database time" in Page(card).text


def test_the_top_says_who_must_begin_now() -> None:
    text = " ".join(Page(page_of(EXAMPLES["host"])).text.split())
    assert "To begin now: 1 plan (1 by storage). Without a plan: 1." in text


def test_only_the_first_of_a_threshold_are_open() -> None:
    html = page_of(EXAMPLES["tablespaces"])
    before, _, folded = html.partition("37 more</strong> of the threshold")
    assert before.count("<article") == OF_ONE_THRESHOLD
    assert folded.count("<article") == 37


def test_a_clean_bill_of_health_in_words() -> None:
    text = " ".join(Page(page_of(EXAMPLES["healthy"])).text.split())
    assert "No limit will be violated within 90 d" in text
    assert "2 figures were held against a limit. The nearest to its own is file system full (db1, /)" in text
    assert "In order of urgency" not in text


def test_what_is_not_drawn_is_in_the_tables() -> None:
    text = " ".join(Page(page_of(EXAMPLES["host"])).text.split())
    assert "only 3 steps were measured, and 8 are the least" in text
    assert "Not measured any more" in text
    assert "redo too much redo_bytes_per_s" in text
    assert "time waited (2), executions" in text


def test_service_levels_are_said_not_to_be_forecast() -> None:
    found = EXAMPLES["healthy"]
    assert found.now is not None
    html = render(found, document_of(found, WITHIN_S, [], ["requests over a minute"]), found.now)
    assert "doctord thresholds check judges requests over a minute." in Page(html).text


def test_old_values_are_said_to_be_old() -> None:
    assert "old. Everything is seen from then." not in page_of(EXAMPLES["healthy"])
    assert "The newest value is 30 d old." in page_of(EXAMPLES["healthy"], timedelta(days=30))


def test_hostile_names_stay_text() -> None:
    histories, threshold = hostile()
    html = page_of(agenda_of(histories, [threshold]))
    page = Page(html)
    assert "script" not in page.tags
    assert page.text.count("<script>alert(1)</script>") > 10
    assert "\x1b" not in html
    assert "\u202e" not in html


def test_sixty_figures_are_quick_and_small() -> None:
    found = agenda_of(tablespaces(60))
    began = time.process_time()
    html = page_of(found)
    assert time.process_time() - began < 3
    assert len(html) < 2_000_000
