"""The load by steps: seconds stay seconds, whatever the steps are."""

from datetime import timedelta

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctord.analyse.over_time.load_steps import EMPTY, Steps, coarser, joined, steps_of, without_sessions
from doctord.dataset.dataset import Dataset
from sampled_sessions import AT, START, sampled


def seconds_in(steps: Steps) -> float:
    return float(steps.active["active_s"].sum())


@pytest.mark.parametrize("phase_s", [0.0, 0.03, 0.5, 0.97])
def test_sessions_that_are_always_there_give_the_same_load_in_every_step(phase_s: float) -> None:
    steps = steps_of(sampled(every_s=0.1, seconds=10, sessions=3, phase_s=phase_s))
    whole = steps.active.filter(pl.col("at").is_between(AT + 1, AT + 8)).group_by("at").agg(pl.col("active_s").sum())
    assert whole["active_s"].to_list() == pytest.approx([3.0] * 8)
    assert seconds_in(steps) == pytest.approx(30.0)
    assert steps.looked.filter(pl.col("at") == AT + 4)["looked_s"].item() == pytest.approx(1.0)


def test_an_hour_told_as_one_row_is_spread_over_it() -> None:
    waits = [
        {
            "ts": START + timedelta(hours=1),
            "interval_s": 3600.0,
            "host": "h",
            "db": "oracle:A",
            "event": "log file sync",
            "wait_class": "Commit",
            "kind": "foreground",
            "average_active_sessions": 2.5,
        }
    ]
    steps = steps_of(Dataset.from_rows(wait=waits))
    assert (steps.step_s, seconds_in(steps)) == (3600, pytest.approx(9000.0))
    assert steps.dimensions == ("host", "server", "wait_class", "event", "wait_kind")


def test_of_a_moment_at_which_the_host_was_not_looked_at_yet_nothing_is_known() -> None:
    dataset = sampled(every_s=0.1, seconds=5)
    late = dataset.replaced({"cpu": dataset.frame("cpu").filter(pl.col("ts") <= START + timedelta(seconds=3))})
    assert seconds_in(steps_of(late, is_growing=True)) == pytest.approx(3.0)
    assert seconds_in(steps_of(late)) == pytest.approx(5.0)


def test_longer_steps_keep_the_most_of_any_second() -> None:
    calm, busy = sampled(every_s=0.5, seconds=60), sampled(every_s=0.5, seconds=1, sessions=20, phase_s=30.0)
    both = Dataset.joined((calm, Dataset({"session": busy.frame("session").with_columns(pl.col("sid") + 100)})))
    minute = coarser(steps_of(both, ("event",)), 60)
    assert minute.step_s == 60
    assert minute.active["most"].max() == pytest.approx(21.0)
    assert minute.looked["high"].to_list() == pytest.approx([21.0])
    assert minute.looked["low"].to_list() == pytest.approx([1.0])
    assert seconds_in(minute) == pytest.approx(80.0)


def test_times_that_meet_are_added_up_by_kind() -> None:
    first, second = (
        steps_of(sampled(every_s=0.5, seconds=3, user=user, phase_s=phase)) for user, phase in (("a", 0.0), ("b", 3.0))
    )
    both = joined([first, second])
    assert sorted(both.kinds["user"].to_list()) == ["a", "b"]
    assert seconds_in(both) == pytest.approx(6.0)
    assert seconds_in(joined([both, EMPTY])) == pytest.approx(6.0)
    assert "session" not in without_sessions(both).dimensions
    assert seconds_in(without_sessions(both)) == pytest.approx(6.0)


def test_without_sessions_the_most_is_of_all_that_were_there_together() -> None:
    assert without_sessions(steps_of(sampled(every_s=0.5, seconds=3, sessions=7))).active[
        "most"
    ].max() == pytest.approx(7)


def test_what_one_time_does_not_tell_apart_is_null_of_it() -> None:
    told, untold = (
        steps_of(sampled(every_s=0.5, seconds=2, user="a")),
        steps_of(sampled(every_s=0.5, seconds=2), ("event",)),
    )
    both = joined([told, untold])
    assert set(both.kinds["user"]) == {"a", None}
    assert seconds_in(both) == pytest.approx(4.0)


@given(
    rows=st.lists(
        st.tuples(st.floats(0.0, 100.0), st.floats(0.001, 7.0), st.sampled_from(["a", "b", None])),
        min_size=1,
        max_size=40,
    ),
    step_s=st.integers(1, 90),
)
def test_no_second_is_lost_or_made(rows: list[tuple[float, float, str | None]], step_s: int) -> None:
    session = [
        {
            "ts": START + timedelta(seconds=at),
            "interval_s": interval_s,
            "user": user,
            "kind": "client",
            "state": "active",
            "wait_class": "CPU",
            "event": "CPU",
        }
        for at, interval_s, user in rows
    ]
    steps = steps_of(Dataset.from_rows(session=session))
    spent = sum(interval_s for _, interval_s, _ in rows)
    assert seconds_in(steps) == pytest.approx(spent, rel=1e-6, abs=1e-4)
    assert seconds_in(coarser(steps, step_s)) == pytest.approx(spent, rel=1e-6, abs=1e-4)
