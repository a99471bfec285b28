"""What several commands share: the interval between two moments."""

from datetime import UTC, datetime

import pytest

from doctord.cli.arguments import interval
from doctord.errors import UserError

TEN = datetime(2026, 11, 20, 10, tzinfo=UTC)


def test_an_interval_has_ends_that_may_be_missing() -> None:
    since, until = interval("2026-11-20T10:00Z", None), interval(None, "2026-11-20T10:00Z")
    assert (since.since, since.until) == (TEN, None)
    assert (until.since, until.until) == (None, TEN)


@pytest.mark.parametrize("until", ["2026-11-20T10:00Z", "2026-11-20T09:00Z"])
def test_an_interval_ends_after_it_begins(until: str) -> None:
    with pytest.raises(UserError, match="2026-11-20T10:00Z is not before"):
        interval("2026-11-20T10:00Z", until)
