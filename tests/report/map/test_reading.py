"""What is read from maps, in sentences."""

import random

from hypothesis import given
from hypothesis import strategies as st

from doctord.analyse.latency.map import LatencyMap
from doctord.report.map.reading import sentences
from maps import bimodal_with_bursts, map_of, of, of_means, powers, sampled


def test_a_steady_map_of_one_mode_gives_one_sentence() -> None:
    assert sentences(of(60)) == ["Nearly all took around 300 us (182 us to 491 us), most likely a cache, or flash."]


def test_each_mode_is_told_with_its_share_of_the_time_and_its_meaning() -> None:
    cache, disk = sentences(of(30, [(140, 200.0, 0.3), (60, 8000.0, 0.3)]))
    assert cache.startswith("70 % took around 200 us (")
    assert ", most likely a cache, or flash; 5.6 % of the time." in cache
    assert ", as disks answer at low load; 94 % of the time." in disk


def test_bursts_that_come_again() -> None:
    told = sentences(
        map_of(120, lambda second: bimodal_with_bursts(second) if not 33 <= second < 36 else powers({6: 20, 7: 200}))
    )
    assert any(", in bursts every 20 s: up to " in sentence for sentence in told)


def test_a_lasting_shift_is_told_with_its_moment() -> None:
    draw = random.Random(2)  # noqa: S311 - not for secrets
    told = sentences(map_of(60, lambda second: sampled(draw, [(100, 300.0 if second < 40 else 1200.0, 0.4)])))
    assert told[-1].startswith("From 06:00:39 on they took 4 times as long: ")


def test_few_waits_and_means_say_so() -> None:
    assert sentences(map_of(3, lambda _: powers({7: 2}))) == ["6 waits are too few to tell how they are spread."]
    assert sentences(map_of(3, lambda _: powers({}))) == ["Nothing waited."]
    assert sentences(of_means(20)) == ["Means only: how the waits were spread cannot be told."]


def test_of_samples_only_the_longest_is_told() -> None:
    drawn = map_of(30, lambda _: powers({17: 20, 18: 2}))
    assert sentences(LatencyMap("WALSync", drawn.db, drawn.host, "sampled", drawn.columns)) == [
        "Sampled: how short the waits were cannot be told, only their time in sum; none over 262 ms."
    ]


@given(st.lists(st.dictionaries(st.integers(0, 30), st.integers(0, 500), max_size=8), max_size=40))
def test_whatever_the_map_each_sentence_ends(columns: list[dict[int, int]]) -> None:
    told = sentences(map_of(len(columns), lambda second: powers(columns[second])))
    assert all(sentence.endswith(".") for sentence in told)
