"""Times as people write them, and what is none."""

from datetime import date

import pytest

from doctord.errors import UserError
from doctord.moments import parse_day


def test_a_day_is_a_date_or_a_word() -> None:
    assert parse_day("2026-11-20") == date(2026, 11, 20)
    assert parse_day("yesterday") < parse_day("today")
    with pytest.raises(UserError, match="'10:00' is no date"):
        parse_day("10:00")
