"""What is read from maps, and what is not."""

import random
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctord.analyse.latency.map import LatencyMap
from doctord.analyse.latency.modes import NOT_TOLD, Reading, reading
from maps import T0, bimodal_with_bursts, map_of, of, of_means, powers, sampled


def test_a_steady_map_has_one_mode() -> None:
    found = reading(of(60))
    assert len(found.modes) == 1
    assert (found.outliers, found.bursts, found.shift) == (None, None, None)


@pytest.mark.parametrize("fine", [True, False])
def test_two_modes_are_told_with_their_meaning(*, fine: bool) -> None:
    found = reading(of(30, [(140, 200.0, 0.3), (60, 8000.0, 0.3)], fine=fine))
    assert [round(mode.share, 1) for mode in found.modes] == [0.7, 0.3]
    cache, disk = found.modes
    assert 100 < cache.typical_us < 300
    assert 5000 < disk.typical_us < 11000
    assert disk.time_share > 0.85
    assert "cache" in (cache.meaning or "")
    assert disk.meaning == "as disks answer at low load"


def test_no_meaning_is_guessed_of_what_is_no_storage() -> None:
    assert all(mode.meaning is None for mode in reading(of(30, subject="LWLock WALWrite")).modes)
    assert all(mode.meaning is None for mode in reading(of(30, subject="run queue")).modes)


def test_bursts_that_come_again() -> None:
    found = reading(
        map_of(120, lambda second: bimodal_with_bursts(second) if not 33 <= second < 36 else powers({6: 20, 7: 200}))
    )
    assert found.bursts
    assert found.bursts.every_s == pytest.approx(20)
    assert found.outliers


def test_rare_waits_at_random_are_no_bursts() -> None:
    draw = random.Random(3)  # noqa: S311
    found = reading(map_of(200, lambda _: powers({7: 200, 19: int(draw.random() < 0.1)})))
    assert found.outliers
    assert found.bursts is None


def test_a_lasting_shift_is_told_with_its_moment() -> None:
    draw = random.Random(2)  # noqa: S311
    found = reading(map_of(60, lambda second: sampled(draw, [(100, 300.0 if second < 40 else 1200.0, 0.4)])))
    assert found.shift
    assert abs(found.shift.at - (T0 + timedelta(seconds=39))) <= timedelta(seconds=1)
    assert found.shift.after_us / found.shift.before_us == pytest.approx(4.0, rel=0.15)


def test_a_slow_minute_is_no_lasting_shift() -> None:
    draw = random.Random(2)  # noqa: S311
    slow = range(30, 36)
    found = reading(map_of(90, lambda second: sampled(draw, [(100, 1200.0 if second in slow else 300.0, 0.4)])))
    assert found.shift is None


def test_of_few_waits_of_means_and_of_samples_nothing_can_be_told() -> None:
    drawn = map_of(30, lambda _: powers({17: 20, 18: 2}))
    samples = LatencyMap("WALSync", drawn.db, drawn.host, "sampled", drawn.columns)
    assert reading(map_of(3, lambda _: powers({7: 2}))) == reading(of_means(20)) == reading(samples) == NOT_TOLD


@given(st.lists(st.dictionaries(st.integers(0, 30), st.integers(0, 500), max_size=8), max_size=40))
def test_whatever_the_map_the_modes_hold_together(columns: list[dict[int, int]]) -> None:
    found: Reading = reading(map_of(len(columns), lambda second: powers(columns[second])))
    assert sum(mode.share for mode in found.modes) <= 1 + 1e-9
    assert all(a.typical_us <= b.typical_us for a, b in zip(found.modes, found.modes[1:], strict=False))
