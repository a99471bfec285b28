"""What of a figure is drawn."""

import numpy as np

from doctord.analyse.capacity.series import DAY_S, HOUR_S
from doctord.report.capacity.view import MOST_BLOCKS, blocks_of, seen, ticks_of
from doctord.units import GIB
from histories import NAN, history
from report.capacity_examples import WITHIN_S, agenda_of, host


def test_blocks_end_with_the_history_and_keep_its_extremes() -> None:
    values = np.arange(1000.0)
    values[100:200] = NAN
    blocks = blocks_of(history(values, step_s=HOUR_S), 0.0, DAY_S)
    assert blocks.end[-1] == history(values).end.timestamp()
    assert len(blocks.end) <= MOST_BLOCKS
    assert (np.nanmin(blocks.low), np.nanmax(blocks.high)) == (0.0, 999.0)
    assert np.isnan(blocks.value).sum() == 3


def test_long_times_have_months_and_short_ones_days() -> None:
    assert [label for _, label in ticks_of(1767225600.0, 1767225600.0 + 240 * DAY_S)][:2] == ["Mar 2026", "May 2026"]
    assert all(" 20" not in label for _, label in ticks_of(1767225600.0, 1767225600.0 + 30 * DAY_S))


def test_ticks_are_round_in_the_unit_at_the_axis() -> None:
    (entry,) = (one for one in agenda_of(host()).entries if one.item.series.labels.entity == "users")
    view, _ = seen(entry, WITHIN_S)
    assert view.tick / GIB in {1.0, 2.0, 5.0, 10.0, 20.0}
    assert view.high / view.tick == round(view.high / view.tick)
