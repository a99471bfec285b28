"""What is read from maps, and what is not."""

import random
from collections import Counter
from datetime import timedelta
from math import ceil, log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctord.analyse.latency.histogram import Bucket, Histogram
from doctord.analyse.latency.map import LatencyMap
from doctord.analyse.latency.modes import Reading, reading
from maps import T0, bimodal_with_bursts, map_of, of_means, powers


def sampled(draw: "random.Random", parts: list[tuple[int, float, float]], *, fine: bool = True) -> Histogram:
    """Log-normal waits: how many, around what, how wide (natural logarithm)."""
    counts: Counter[tuple[float, float]] = Counter()
    for number, around_us, width in parts:
        for _ in range(number):
            us = around_us * draw.lognormvariate(0.0, width)
            top = 2.0 ** ceil(log2(us))
            step = top / 2 / 32
            low = top / 2 + step * int((us - top / 2) / step) if fine else top / 2
            counts[low, low + step if fine else top] += 1
    return Histogram.of(Bucket(low, high, count) for (low, high), count in counts.items())


def of(
    number: int,
    parts_at: "list[tuple[int, float, float]] | None" = None,
    *,
    fine: bool = True,
    subject: str = "smgr read",
) -> LatencyMap:
    draw = random.Random(1)  # noqa: S311 - not for secrets
    parts = parts_at or [(200, 300.0, 0.3)]
    drawn = map_of(number, lambda _: sampled(draw, parts, fine=fine))
    return LatencyMap(subject, drawn.db, drawn.host, drawn.kind, drawn.columns)


def test_a_steady_map_of_one_mode_gives_one_sentence() -> None:
    found = reading(of(60))
    assert len(found.modes) == 1
    assert (found.outliers, found.bursts, found.shift) == (None, None, None)
    assert found.sentences == ("Nearly all took around 300 us (182 us to 491 us), most likely a cache, or flash.",)


@pytest.mark.parametrize("fine", [True, False])
def test_two_modes_are_told_with_their_meaning(*, fine: bool) -> None:
    found = reading(of(30, [(140, 200.0, 0.3), (60, 8000.0, 0.3)], fine=fine))
    assert [round(mode.share, 1) for mode in found.modes] == [0.7, 0.3]
    cache, disk = found.modes
    assert 100 < cache.typical_us < 300
    assert 5000 < disk.typical_us < 11000
    assert disk.time_share > 0.85
    assert "cache" in found.sentences[0]
    assert "disks answer at low load" in found.sentences[1]


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
    assert any("in bursts every 20 s" in sentence for sentence in found.sentences)


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
    assert found.sentences[-1].startswith("From 06:00:39 on they took 4 times as long: ")


def test_a_slow_minute_is_no_lasting_shift() -> None:
    draw = random.Random(2)  # noqa: S311
    slow = range(30, 36)
    found = reading(map_of(90, lambda second: sampled(draw, [(100, 1200.0 if second in slow else 300.0, 0.4)])))
    assert found.shift is None


def test_few_waits_and_means_say_so() -> None:
    assert reading(map_of(3, lambda _: powers({7: 2}))).sentences == (
        "6 waits are too few to tell how they are spread.",
    )
    assert reading(of_means(20)).sentences == ("Means only: how the waits were spread cannot be told.",)


def test_of_samples_only_the_longest_is_told() -> None:
    drawn = map_of(30, lambda _: powers({17: 20, 18: 2}))
    found = reading(LatencyMap("WALSync", drawn.db, drawn.host, "sampled", drawn.columns))
    assert found.modes == ()
    assert found.sentences == (
        "Sampled: how short the waits were cannot be told, only their time in sum; none over 262 ms.",
    )


@given(st.lists(st.dictionaries(st.integers(0, 30), st.integers(0, 500), max_size=8), max_size=40))
def test_whatever_the_map_the_modes_hold_together(columns: list[dict[int, int]]) -> None:
    found: Reading = reading(map_of(len(columns), lambda second: powers(columns[second])))
    assert sum(mode.share for mode in found.modes) <= 1 + 1e-9
    assert all(a.typical_us <= b.typical_us for a, b in zip(found.modes, found.modes[1:], strict=False))
    assert all(sentence.endswith(".") for sentence in found.sentences)
