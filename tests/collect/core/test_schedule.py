import itertools
import random
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from doctord._native import Batch
from doctord.collect.core import schedule
from doctord.dataset.dataset import Dataset
from doctord.dataset.rows import now_us, rows


class Metronome:
    """Yields one row each time, after doing what it is told at that sample."""

    def __init__(self, name: str, period_s: float, act: Callable[[int], None] = lambda _: None) -> None:
        self.name = name
        self.period_s = period_s
        self.times: list[float] = []
        self.closed = False
        self._act = act

    def sample(self) -> list[Batch]:
        self.times.append(time.monotonic())
        self._act(len(self.times))
        return [rows("statistic", [{"ts": now_us(), "component": "test", "entity": self.name, "value": 1.0}])]

    def close(self) -> None:
        self.closed = True


def events(batches: list[Batch]) -> list[dict[str, Any]]:
    return Dataset.from_batches(batches).frame("event").to_dicts()


def ticks(metronome: Metronome, began: float) -> list[int]:
    """At which tick of the grid each sample was: it may be late on a busy machine, never early."""
    return [int((moment - began) / metronome.period_s) for moment in metronome.times]


def test_ticks_lie_on_the_grid_and_the_end_is_sampled() -> None:
    metronome, began = Metronome("a", 0.4), time.monotonic()
    batches = schedule.collect_for([metronome], 1.6)
    assert ticks(metronome, began) == [0, 1, 2, 3, 4]
    assert len(batches) == 5
    assert metronome.closed


def test_a_period_longer_than_the_run_still_gives_two_samples() -> None:
    metronome = Metronome("a", 60)
    schedule.collect_for([metronome], 0.2)
    assert len(metronome.times) == 2


def test_missed_ticks_are_skipped() -> None:
    metronome = Metronome("a", 0.2, lambda n: time.sleep(0.5) if n == 2 else None)
    schedule.collect_for([metronome], 1.0)
    times = metronome.times
    assert times[2] - times[1] >= 0.5
    assert len(times) <= 4, "of 0 to 5 the two ticks that passed meanwhile are not made up for"


@pytest.mark.parametrize(("tick", "elapsed", "expected"), [(1, 1.2, 2), (1, 0.99999, 2), (1, 3.4, 4), (0, 0.0, 1)])
def test_next_tick(tick: int, elapsed: float, expected: int) -> None:
    assert schedule.next_tick(tick, 1.0, elapsed) == expected


@pytest.mark.parametrize("client_s", [0.05, 0.1, 0.2, 1.0])
def test_samples_at_random_keep_step_with_no_client(client_s: float) -> None:
    random.seed(7)
    due, at_work = 0.0, 0.0
    for _ in range(10_000):
        before, due = due, schedule.random_tick(due, 0.1, due)
        at_work += due - before if due % client_s < 0.2 * client_s else 0.0
    assert due == pytest.approx(1000.0, rel=0.01)
    assert at_work / due == pytest.approx(0.2, abs=0.015)


def test_a_sample_at_random_that_is_late_is_not_made_up_for() -> None:
    assert 5.05 <= schedule.random_tick(0.0, 0.1, 5.0) <= 5.15


def test_who_samples_at_random_is_asked_so_until_the_end() -> None:
    metronome = Metronome("a", 0.1)
    metronome.at_random = True  # type: ignore[attr-defined]
    began = time.monotonic()
    schedule.collect_for([metronome], 2.0)
    gaps = [after - before for before, after in itertools.pairwise(metronome.times)]
    assert len(gaps) <= 40, "half a period lies between two at least"
    assert max(gaps) > 1.2 * min(gaps[:-1])
    assert metronome.times[-1] - began >= 2.0


def test_a_collector_that_hangs_delays_nobody_and_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule, "_PATIENCE_S", 0.1)
    release = threading.Event()
    hung, healthy = Metronome("hung", 0.1, lambda _: release.wait(10)), Metronome("healthy", 0.1)
    batches = schedule.collect_for([hung, healthy], 0.5)
    count = len(batches)
    release.set()
    time.sleep(0.05)
    assert len(batches) == count, "a late answer must not be written after the end"
    assert len(healthy.times) >= 5
    [event] = events(batches)
    assert (event["kind"], event["subject"]) == ("gap", "hung")


class Slow(Metronome):
    """Hands out a row, and then hangs."""

    def __init__(self, hang: threading.Event) -> None:
        super().__init__("slow", 1.0)
        self._hang = hang

    def pieces(self) -> Iterator[Batch]:
        yield from self.sample()
        self._hang.wait(60)


def test_what_a_long_sample_has_so_far_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule, "_PATIENCE_S", 0.1)
    hang = threading.Event()
    try:
        batches = schedule.collect_for([Slow(hang)], 0.4)
    finally:
        hang.set()
    assert Dataset.from_batches(batches).frame("statistic")["entity"].to_list() == ["slow"]
    assert ["left behind" in event["text"] for event in events(batches)] == [True]


def test_a_long_silence_is_an_event(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule, "_GAP_MIN_S", 0.3)
    metronome = Metronome("slow", 0.05, lambda n: time.sleep(0.4) if n == 2 else None)
    [event] = events(schedule.collect_for([metronome], 0.6))
    assert event["kind"] == "gap"
    assert event["interval_s"] >= 0.4


def test_a_fault_is_told_once_without_its_text_and_the_collector_asked_again(caplog: pytest.LogCaptureFixture) -> None:
    def fail(n: int) -> None:
        if n in {2, 3}:
            raise ValueError("password=hunter2")

    metronome = Metronome("faulty", 0.05, fail)
    batches = schedule.collect_for([metronome], 0.3)
    [event] = events(batches)
    assert "ValueError" in event["text"]
    assert "hunter2" not in event["text"]
    [record] = caplog.records
    assert "test_schedule.py" in record.getMessage()
    assert "hunter2" not in caplog.text
    assert len(batches) == len(metronome.times) - 2 + 1


def test_stop_ends_the_run_promptly_and_closes() -> None:
    stop = threading.Event()
    metronome = Metronome("a", 60)
    threading.Timer(0.1, stop.set).start()
    began = time.monotonic()
    schedule.run([metronome], lambda _: None, stop=stop)
    assert time.monotonic() - began < 20
    assert metronome.closed


def test_an_interrupt_closes_the_collectors() -> None:
    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    metronome = Metronome("a", 60)
    with pytest.raises(KeyboardInterrupt):
        schedule.run([metronome], lambda _: None, stop=threading.Event(), on_tick=interrupt, tick_s=0.05)
    assert metronome.closed


def test_a_stepped_clock_is_an_event(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = schedule._WallClock()
    assert clock.check() == []
    monkeypatch.setattr(time, "time", lambda: time.time_ns() / 1e9 + 3600)
    [event] = events(clock.check())
    assert event["kind"] == "clock"
    assert "+3600" in event["text"]
    assert clock.check() == []


def test_who_comes_later_is_asked_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule, "_LOOK_AROUND_S", 0.2)
    late = Metronome("late", 0.1)
    arrivals = [[late], []]
    batches: list[Batch] = []
    schedule.run(
        [Metronome("first", 0.1)],
        batches.append,
        stop=threading.Event(),
        seconds=0.6,
        tick_s=0.1,
        newcomers=lambda: arrivals.pop(0) if arrivals else [],
    )
    assert len(late.times) >= 2
    assert late.closed


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_fault_of_ours_ends_one_collector_and_is_told() -> None:
    def fault(_n: int) -> None:
        raise TypeError

    other = Metronome("other", 0.1)
    batches = schedule.collect_for([Metronome("faulty", 0.1, fault), other], 0.4)
    assert [event["text"] for event in events(batches)] == ["ended by a fault of its own; the others go on"]
    assert len(other.times) >= 2
