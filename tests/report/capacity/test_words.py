"""What the capacity report says in sentences."""

from datetime import UTC, datetime
from typing import Any

import pytest

from doctord.report.capacity import words

NOW = datetime(2026, 9, 2, tzinfo=UTC)
PLAN = {"text": "Do it.", "owner": "dba", "lead_s": 7 * 86_400.0}
ITEM = {
    "verdict": "date",
    "date": "2026-09-05T00:00:00Z",
    "earliest": "2026-09-04T00:00:00Z",
    "latest": None,
    "begin_by": "2026-08-29T00:00:00Z",
    "begin_by_earliest": "2026-08-28T00:00:00Z",
    "is_late": True,
    "violated_since": None,
    "history": {"since": "2026-01-01T00:00:00Z"},
    "plan": PLAN,
    "unit": "bytes",
    "limit": 1e9,
    "newest": 2e9,
    "worse": "below",
    "growth_per_day": -5e7,
    "at_horizon": {"mean": 5e8},
}


def item(**changes: object) -> dict[str, Any]:
    return ITEM | changes


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (item(), "2026-09-05, in 3 d"),
        (item(date="2026-09-02T20:00:00Z"), "2026-09-02, in 20 h"),
        (item(date="2026-09-01T00:00:00Z"), "2026-09-01, 1 d ago"),
        (item(verdict="violated"), "violated now"),
        (item(verdict="violated", violated_since="2026-08-01T00:00:00Z"), "violated for 32 d"),
        (item(verdict="violated", violated_since="2026-01-01T00:00:00Z"), "violated for 244 d or longer"),
        (item(verdict="perhaps"), "perhaps from 2026-09-04"),
    ],
)
def test_when(given: dict[str, Any], said: str) -> None:
    assert words.when(given, NOW) == said


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (item(), "now: 2026-08-29 was 4 d ago"),
        (item(begin_by="2026-09-02T00:00:00Z"), "now: today is the last day"),
        (item(begin_by="2026-09-20T00:00:00Z", is_late=False), "2026-09-20"),
        (item(begin_by=None, is_late=False), ""),
        (item(verdict="violated"), "now"),
        (item(plan=None), "write a plan"),
    ],
)
def test_begin(given: dict[str, Any], said: str) -> None:
    assert words.begin(given, NOW) == said


def test_a_plan_that_comes_too_late_says_by_how_much() -> None:
    assert words.too_late(item(), NOW).endswith("the plan takes 7 d, and helps 4 d after the date.")
    assert words.too_late(item(is_late=False), NOW) == ""
    assert words.too_late(item(verdict="violated"), NOW) == "It is too late to prevent it: the plan takes 7 d."


def test_to_be_safe_one_begins_by_the_earliest_date() -> None:
    soon = item(is_late=False, begin_by="2026-09-20T00:00:00Z", begin_by_earliest="2026-09-10T00:00:00Z")
    assert words.careful(soon, NOW) == "2026-09-10"
    assert words.careful(soon | {"begin_by_earliest": "2026-09-01T00:00:00Z"}, NOW).startswith("now: ")
    assert words.careful(item(), NOW) == ""


def test_growth_is_per_day_or_hardly_any_or_not_known() -> None:
    assert words.growth(item()) == "\u221247.7 MiB a day"
    assert words.growth(item(growth_per_day=1e4)) == "hardly any"
    assert words.growth(item(growth_per_day=None)) == "not known"


def test_how_much_of_a_limit_is_taken() -> None:
    assert words.used(item()) == {"now": 50.0, "then": 100.0, "text": "50 % now, 100 % at the horizon"}
    above = words.used(item(worse="above", newest=5e8, at_horizon={"mean": 7.5e8}))
    assert above == {"now": 50.0, "then": 75.0, "text": "50 % now, 75 % at the horizon"}
    assert words.used(item(limit=0.0)) is None


def test_a_violated_figure_whose_newest_value_is_good_is_explained() -> None:
    assert words.while_within(item(verdict="violated")) == "; most of its last values were beyond it"
    assert words.while_within(item(verdict="violated", newest=5e8)) == ""
