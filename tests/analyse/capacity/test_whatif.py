"""What if there were more."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from doctord.analyse.capacity.forecast import Forecast
from doctord.analyse.capacity.series import DAY_S, Labels, Series
from doctord.analyse.capacity.whatif import Change, changed
from doctord.dataset.figure import Figure

START = datetime(2026, 11, 20, tzinfo=UTC)
USED = Figure("used", "used", "space", "space", "used_bytes", "bytes", each=("name",))
LEFT = Figure("left", "left", "space", "space", "available_bytes", "bytes", each=("name",), worse="low")
BUSY = Figure("busy", "busy", "cpu", "cpu", "usr_pct", "%")
FLAT = np.full(4, 100.0)


def series(figure: Figure, entity: str | None = None) -> Series:
    return Series(figure, Labels(entity=entity), DAY_S, START, FLAT, FLAT, FLAT)


def path() -> Forecast:
    return Forecast("line", DAY_S, START + timedelta(days=4), FLAT, FLAT - 10, FLAT + 10)


def test_growth_is_from_now_on_and_moves_the_interval() -> None:
    more = changed(path(), series(BUSY), [Change("20% more", factor=1.2)])
    assert more.mean.tolist() == pytest.approx([120.0] * 4)
    assert more.high.tolist() == pytest.approx([132.0] * 4)
    assert more.notes == ("with 20% more",)


def test_an_event_begins_at_its_date() -> None:
    event = Change("+50% from then", factor=1.5, since=START + timedelta(days=5))
    assert changed(path(), series(BUSY), [event]).mean.tolist() == pytest.approx([100, 100, 150, 150])


def test_space_is_taken_from_what_is_left_and_added_to_what_is_used() -> None:
    added = Change("40B to users", added=40.0, unit="bytes", entity="users")
    assert changed(path(), series(USED, "users"), [added]).mean[0] == 140.0
    assert changed(path(), series(LEFT, "users"), [added]).mean[0] == 60.0
    assert changed(path(), series(USED, "system"), [added]).mean[0] == 100.0
    assert changed(path(), series(BUSY), [added]).mean[0] == 100.0
