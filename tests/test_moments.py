"""Times as people write them, and what is none."""

from datetime import UTC, date, datetime

import pytest

from doctord.errors import UserError
from doctord.moments import parse_day, parse_interval


def test_an_interval_has_ends_that_may_be_missing() -> None:
    ten = datetime(2026, 11, 20, 10, tzinfo=UTC)
    assert parse_interval("2026-11-20T10:00Z", None) == (ten, None)
    assert parse_interval(None, "2026-11-20T10:00Z") == (None, ten)


@pytest.mark.parametrize("until", ["2026-11-20T10:00Z", "2026-11-20T09:00Z"])
def test_an_interval_ends_after_it_begins(until: str) -> None:
    with pytest.raises(UserError, match="2026-11-20T10:00Z is not before"):
        parse_interval("2026-11-20T10:00Z", until)


def test_a_day_is_a_date_or_a_word() -> None:
    assert parse_day("2026-11-20") == date(2026, 11, 20)
    assert parse_day("yesterday") < parse_day("today")
    with pytest.raises(UserError, match="'10:00' is no date"):
        parse_day("10:00")
