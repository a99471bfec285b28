"""A profile on a terminal."""

from datetime import UTC, datetime

import numpy as np
import pytest

from doctord.analyse.capacity.contradictions import Contradiction
from doctord.analyse.capacity.profile import Profile, profile
from doctord.analyse.capacity.series import HOUR_S, Labels, Series
from doctord.analyse.capacity.thresholds.threshold import Threshold
from doctord.dataset.figure import own_figures
from doctord.report.capacity.profile import page as printed
from doctord.report.capacity.profile import shown

AT = datetime(2026, 11, 20, tzinfo=UTC)
SPACE = next(figure for figure in own_figures() if figure.name == "space_left_bytes")
MISTAKEN = Contradiction("a", "oracle:X", "db file scattered read", AT, 4, 61543.34, 2356571.0, 2.3)


def page(*names: str, limit: float | None = None) -> Profile:
    value = np.array([2e9])
    given = [Series(SPACE, Labels("a", "oracle:X", name), HOUR_S, AT, value, value, value) for name in names]
    limits = [Threshold("x", SPACE.name, limit, "below")] if limit else []
    return profile(given, own_figures(), AT, thresholds=limits, contradictions=[MISTAKEN])


def test_a_violation_is_said_in_words_and_no_line_is_too_long() -> None:
    lines = printed(page("users", limit=3e9), 80).splitlines()
    (line,) = (line for line in lines if "VIOLATED: space left users" in line)
    assert line.split()[:7] == ["-", "-", "-", "1.86GiB", "-", "-", "2.79GiB"]
    assert "1 of 1 figures with a limit violate it." in lines[1]
    assert max(map(len, lines)) <= 80


def test_a_contradiction_is_said_with_its_figures() -> None:
    text = " ".join(printed(page("users"), 80).split())
    assert "17 h 5 min in 2,356,571 waits are 26.1 ms each, but 2.3 ms are given" in text
    assert "neither is used" in text


def test_of_many_entities_eight_stand_on_the_page_and_all_that_have_a_limit() -> None:
    names = [f"t{n}" for n in range(20)]
    assert printed(page(*names)).count("space left t") == 8
    assert printed(page(*names, limit=3e9)).count("space left t") == 20


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (None, "", "-"),
        (0.0, "", "0"),
        (999.4, "", "999"),
        (999.6, "", "1 k"),
        (-1234567.0, "", "-1.23 M"),
        (2e9, "bytes", "1.86GiB"),
        (12.0, "bytes", "12B"),
    ],
)
def test_three_digits_and_what_was_not_measured(value: float | None, unit: str, text: str) -> None:
    assert shown(value, unit) == text
