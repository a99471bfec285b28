"""The load over time adds up, shows a spike, and is null where nobody looked."""

from datetime import timedelta

import numpy as np
import polars as pl
import pytest

from doctord.analyse.over_time.buckets import Buckets
from doctord.analyse.over_time.load import load_over_time, skews
from doctord.analyse.over_time.load_steps import WITHOUT_SESSIONS, Steps, coarser, steps_of
from doctord.dataset.dataset import Dataset
from doctord.errors import UserError
from sampled_sessions import AT, START, sampled


def mixed() -> Steps:
    """Ten seconds of three sessions of a and one of b."""
    parts = [
        sampled(every_s=0.1, seconds=10, sessions=3, user="a"),
        Dataset({"session": sampled(every_s=0.1, seconds=10, user="b").frame("session")}),
    ]
    return steps_of(Dataset.joined(parts))


def test_bands_are_the_largest_first_and_add_up() -> None:
    load = load_over_time(mixed(), "user", {}, Buckets(AT, 5, 2), 1)
    assert [(band.name, band.sessions, band.share) for band in load.bands] == [
        ("a", pytest.approx(3), pytest.approx(0.75))
    ]
    assert load.others
    assert (load.others_count, load.others.sessions) == (1, pytest.approx(1))
    assert load.bands[0].values + load.others.values == pytest.approx(load.total.mean)
    assert load.sessions == pytest.approx(4)


def test_a_filter_is_of_one_value_or_of_several_or_of_none() -> None:
    steps, buckets = mixed(), Buckets(AT, 10, 1)
    assert load_over_time(steps, "event", {"user": ["b"]}, buckets, 9).sessions == pytest.approx(1)
    assert load_over_time(steps, "event", {"user": ["a", "b"]}, buckets, 9).sessions == pytest.approx(4)
    assert load_over_time(steps, "event", {"user": [None]}, buckets, 9).sessions == 0
    assert load_over_time(steps, "event", {"blocker": [None]}, buckets, 9).sessions == pytest.approx(4)


def test_where_nobody_looked_it_is_not_zero() -> None:
    load = load_over_time(mixed(), "user", {}, Buckets(AT - 10, 10, 3), 9)
    assert np.isnan(load.total.mean).tolist() == [True, False, True]
    assert np.isnan(load.bands[0].values).tolist() == [True, False, True]
    assert load.seconds == pytest.approx(10)


def test_where_somebody_looked_and_nobody_was_at_work_it_is_zero() -> None:
    dataset = mixed_with_idle_end()
    load = load_over_time(steps_of(dataset), "user", {}, Buckets(AT, 10, 2), 9)
    assert load.total.mean == pytest.approx([1.0, 0.0])
    assert (load.total.low[1], load.total.high[1]) == (0.0, 0.0)


def mixed_with_idle_end() -> Dataset:
    busy, looked = sampled(every_s=0.1, seconds=10), sampled(every_s=0.1, seconds=20)
    return Dataset({"session": busy.frame("session"), "cpu": looked.frame("cpu")})


@pytest.mark.parametrize("width_s", [1, 10, 60, 300, 3600])
@pytest.mark.parametrize("step_s", [1, 10, 60])
def test_a_spike_of_one_second_is_seen_at_every_zoom(width_s: int, step_s: int) -> None:
    calm = sampled(every_s=0.5, seconds=3600)
    spike = sampled(every_s=0.5, seconds=1, sessions=20, phase_s=1234.0).frame("session")
    both = Dataset.joined((calm, Dataset({"session": spike.with_columns(pl.col("sid") + 100)})))
    steps = coarser(steps_of(both, WITHOUT_SESSIONS), step_s)
    width_s = max(width_s, step_s)
    total = load_over_time(steps, "event", {}, Buckets(AT, width_s, 3600 // width_s), 9).total
    assert total.high.max() == pytest.approx(21)
    assert int(total.high.argmax()) == 1234 // width_s
    assert total.low.min() == pytest.approx(1)
    filtered = load_over_time(steps, "event", {"event": ["CPU"]}, Buckets(AT, width_s, 3600 // width_s), 9).total
    assert filtered.high.max() >= 20


def test_quartiles_are_of_all_steps_also_of_those_without_a_session() -> None:
    total = load_over_time(steps_of(mixed_with_idle_end()), "user", {}, Buckets(AT, 20, 1), 9).total
    assert [values[0] for values in (total.low, total.q1, total.q3, total.high)] == pytest.approx([0, 0, 1, 1])


def test_what_splits_the_load_best_comes_first() -> None:
    first, *others = skews(mixed(), {})
    assert (first.dimension, first.largest, first.values) == ("user", "a", 2)
    assert first.skew == pytest.approx(1 - (-0.75 * np.log(0.75) - 0.25 * np.log(0.25)) / np.log(2))
    assert all(one.skew == pytest.approx(0, abs=1e-9) for one in others if one.dimension != "session")
    assert "user" not in [one.dimension for one in skews(mixed(), {"user": ["a"]})]


def test_one_blocker_of_all_is_the_most_skewed() -> None:
    steps = steps_of(sampled(every_s=0.1, seconds=5, sessions=4, blocker_sid=7))
    assert (skews(steps, {})[0].dimension, skews(steps, {})[0].skew) == ("blocker", 1.0)


def test_where_nobody_was_at_work_every_dimension_is_empty() -> None:
    steps = steps_of(Dataset({"cpu": sampled(every_s=0.1, seconds=10).frame("cpu")}))
    load = load_over_time(steps, "user", {"session": ["7"]}, Buckets(AT, 10, 1), 9)
    assert (load.bands, load.total.mean.tolist()) == ((), [0.0])
    assert skews(steps, {}) == []


def test_a_dimension_that_is_none_or_is_not_told_is_refused() -> None:
    steps = steps_of(sampled(every_s=0.1, seconds=2), ("event",))
    for name, hint in (("mood", "dimensions are"), ("session", "shorter time")):
        with pytest.raises(UserError) as refused:
            load_over_time(steps, name, {}, Buckets(AT, 1, 2), 9)
        assert hint in refused.value.hint


@pytest.mark.parametrize("most", [1, 2, 7, 300, 1200])
@pytest.mark.parametrize("length_s", [1, 59, 3600, 86_400 * 7, 86_400 * 3650])
@pytest.mark.parametrize("step_s", [1, 7, 60, 3600])
def test_buckets_hold_all_of_a_time_and_are_no_more_than_asked_for(most: int, length_s: int, step_s: int) -> None:
    since = START.timestamp() + 0.25
    buckets = Buckets.between(since, since + length_s, most, step_s)
    assert buckets.width_s % step_s == 0
    assert buckets.start_s <= since
    assert buckets.start_s + buckets.count * buckets.width_s >= since + length_s
    assert 1 <= buckets.count <= most or most == 1
    assert timedelta(seconds=buckets.width_s * (buckets.count - 2)) <= timedelta(seconds=length_s)
