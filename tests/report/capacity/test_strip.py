"""One line of the overview."""

from xml.etree.ElementTree import Element, fromstring

import pytest

from doctord.analyse.capacity.action_plan import Entry
from doctord.report.capacity.strip import LEFT, RIGHT, WIDTH, svg
from report.capacity_examples import WITHIN_S, agenda_of, host

FOUND = agenda_of(host())
SHOWN = [entry for entry in FOUND.entries if entry.verdict in {"violated", "date", "perhaps"}]


def drawn(entry: Entry) -> Element:
    assert FOUND.now is not None
    return fromstring(svg(entry, FOUND.now, WITHIN_S, "what it says"))  # noqa: S314 - made here


@pytest.mark.parametrize("entry", SHOWN, ids=lambda entry: entry.item.series.name)
def test_it_has_a_title_and_stays_inside(entry: Entry) -> None:
    root = drawn(entry)
    assert root.findtext("title") == "what it says"
    assert all(LEFT <= float(dot.get("cx", "")) <= WIDTH - RIGHT for dot in root.iter("circle"))


def test_the_dot_stands_where_the_date_does() -> None:
    (users,) = (entry for entry in SHOWN if entry.item.series.labels.entity == "users")
    (dot,) = drawn(users).iter("circle")
    assert users.item.when.date is not None
    assert FOUND.now is not None
    share = (users.item.when.date - FOUND.now).total_seconds() / WITHIN_S
    assert float(dot.get("cx", "")) == pytest.approx(LEFT + share * (WIDTH - LEFT - RIGHT), abs=0.1)


def test_what_may_be_has_a_range_and_no_dot() -> None:
    (perhaps,) = (entry for entry in SHOWN if entry.verdict == "perhaps")
    root = drawn(perhaps)
    assert list(root.iter("circle")) == []
    assert [path for path in root.iter("path") if path.get("class") == "between"]
