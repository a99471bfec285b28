"""What-ifs as people write them."""

from datetime import UTC, datetime

import pytest

from doctord.app.capacity.what_if import changes
from doctord.errors import UserError


def test_each_form_is_read() -> None:
    more, step, added = changes("20%", ["2027-01-01 -10%"], ["40GiB to users"])
    assert (more.factor, more.since) == (1.2, None)
    assert (step.factor, step.since) == (0.9, datetime(2027, 1, 1, tzinfo=UTC))
    assert (added.added, added.unit, added.entity) == (40 * 2.0**30, "bytes", "users")
    assert changes(None, [], []) == []


@pytest.mark.parametrize(
    ("growth", "step", "added", "message"),
    [
        ("much", None, None, "'much' is no growth"),
        ("-100%", None, None, "is no growth"),
        (None, "+30%", None, "is no step"),
        (None, "soon +30%", None, "'soon' is no point in time"),
        (None, None, "40GB", "is no addition"),
        (None, None, "much to users", "'much' is no size"),
    ],
)
def test_what_is_of_no_form_is_refused(growth: str | None, step: str | None, added: str | None, message: str) -> None:
    with pytest.raises(UserError, match=message):
        changes(growth, [step] if step else [], [added] if added else [])
