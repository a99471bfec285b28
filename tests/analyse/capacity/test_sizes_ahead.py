"""Where sizes go that have no limit."""

from datetime import UTC, datetime

import numpy as np
import pytest

from doctord.analyse.capacity.series import DAY_S, Labels, Series
from doctord.analyse.capacity.sizes_ahead import ROOM, SIZE, sizes_ahead
from doctord.analyse.capacity.thresholds.threshold import Threshold
from doctord.analyse.capacity.whatif import Change
from doctord.dataset.figure import Figure

pytestmark = pytest.mark.slow

START = datetime(2026, 8, 1, tzinfo=UTC)
TIB, GIB = 2.0**40, 2.0**30


def series(figure: str, entity: str, values: "np.typing.NDArray[np.float64]") -> Series:
    of = Figure(figure, figure, "space", "space", "used_bytes", "bytes", each=("name",))
    return Series(of, Labels(db="oracle:SHOP", entity=entity), DAY_S, START, values, values, values)


def test_what_has_a_limit_is_left_to_its_threshold() -> None:
    days = np.arange(40.0)
    grows = 5 * TIB + 3 * GIB * days
    known = [series(SIZE, "small", grows / 8), series(SIZE, "large", grows), series(SIZE, "users", grows)]
    found = sizes_ahead([*known, series(ROOM, "users", 9 * TIB - grows)], [], 30 * DAY_S)
    assert [size.series.labels.entity for size in found] == ["large", "small"]
    expected = found[0].forecast.mean[-1]
    assert len(found[0].forecast.mean) == 30
    assert expected == pytest.approx(5 * TIB + 3 * GIB * 69, rel=0.01)
    assert sizes_ahead(known, [Threshold("too large", SIZE, 9 * TIB)], 30 * DAY_S) == []


def test_what_ifs_are_added() -> None:
    grows = series(SIZE, "large", 5 * TIB + 3 * GIB * np.arange(40.0))
    (size,) = sizes_ahead([grows], [], 30 * DAY_S)
    (more,) = sizes_ahead([grows], [], 30 * DAY_S, [Change("1TiB to large", entity="large", added=TIB)])
    assert more.forecast.mean[-1] - size.forecast.mean[-1] == pytest.approx(TIB)


def test_nine_days_tell_how_fast_it_grew_and_no_more() -> None:
    """One purge between them is no trend."""
    values = 30 * TIB + 600 * GIB * np.arange(9.0) - np.where(np.arange(9) > 5, 9 * TIB, 0)
    (size,) = sizes_ahead([series(SIZE, "large", values)], [], 90 * DAY_S)
    assert size.forecast.why
    assert size.per_day == pytest.approx(600 * GIB)
    (short,) = sizes_ahead([series(SIZE, "large", values[:5])], [], 90 * DAY_S)
    assert short.per_day is None
