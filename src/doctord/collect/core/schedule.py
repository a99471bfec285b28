"""Drives collectors: each in its own thread, at its own period, so that a database that hangs delays nobody else.

Ticks lie on a grid from the common start, without drift; samples of sessions are taken at random (`AtRandom`). Ticks
that were missed are skipped, never caught up: a burst of late samples would measure the recorder. A long silence is
recorded as an `event` of kind `gap`.
"""

import logging
import math
import os
import random
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from doctord._native import Batch
from doctord.collect.core.collector import AtRandom, Collector, Piecewise
from doctord.dataset.rows import now_us, rows

log = logging.getLogger(__name__)

Sink = Callable[[Batch], None]

_GAPS = (0.5, 1.5)  # of a period between two samples at random
_GAP_PERIODS = 3  # one late tick is the scheduler's noise; this many are a hole that an analysis must know of
_GAP_MIN_S = 1.0
_CLOCK_STEP_S = 1.0  # NTP slews below half a second and steps above; a step makes intervals lie
_LOOK_AROUND_S = 10.0
# What a source can do to its reader; anything else is a fault of ours, which ends that collector and no other.
_OUTLIVED = (OSError, ValueError, RuntimeError)
_PATIENCE_S = 2.0  # how long the end waits for a collector that is in the middle of a sample


def run(
    collectors: Sequence[Collector],
    sink: Sink,
    *,
    stop: threading.Event,
    seconds: float | None = None,
    on_tick: Callable[[float], None] | None = None,
    tick_s: float = 1.0,
    newcomers: Callable[[], Sequence[Collector]] | None = None,
) -> None:
    """Ask every collector at its period and hand what it yields to `sink`, until told to stop; then close them.

    Args:
        collectors: What to ask. Each is only ever called from its own thread, `close()` included.
        sink: Takes one batch; called by one thread at a time, and never after `run` has returned.
        stop: Ends the run soon after it is set (by a signal handler, say).
        seconds: Ends the run by itself after so many seconds, with a last sample of each collector; null for never.
        on_tick: Called in the caller's thread about every `tick_s` with the seconds gone, for progress and maintenance.
        tick_s: See `on_tick`.
        newcomers: Asked every ten seconds, in the caller's thread, for collectors of what has come since.

    A collector that does not come back within two seconds of the end is left behind, and said so in an `event`.
    An exception out of `on_tick` (KeyboardInterrupt among them) ends the run in the same orderly way and is raised.
    """
    delivery = _Delivery(sink)
    start = time.monotonic()
    threads = [_Asker(collector, delivery, stop, start, seconds) for collector in collectors]
    clock, looked = _WallClock(), start
    try:
        for thread in threads:
            thread.start()
        while not stop.is_set() and any(thread.is_alive() for thread in threads):
            stop.wait(_until_next(time.monotonic() - start, tick_s, seconds))
            delivery(clock.check())
            if on_tick:
                on_tick(time.monotonic() - start)
            if newcomers and time.monotonic() - looked >= _LOOK_AROUND_S:
                looked = time.monotonic()
                late = [_Asker(collector, delivery, stop, start, seconds) for collector in newcomers()]
                threads += late
                for thread in late:
                    thread.start()
            if seconds is not None and time.monotonic() - start >= seconds:
                break
    finally:
        _finish(threads, delivery, stop, expired=seconds is not None and time.monotonic() - start >= seconds)


def collect_for(
    collectors: Sequence[Collector],
    seconds: float,
    progress: Callable[[float], None] | None = None,
    into: list[Batch] | None = None,
    newcomers: Callable[[], Sequence[Collector]] | None = None,
) -> list[Batch]:
    """Everything that the collectors yield in so many seconds, in memory, in order of arrival.

    Args:
        collectors: What to ask.
        seconds: How long.
        progress: Called a few times a second with the seconds gone.
        into: Where it goes, for who wants what came before Ctrl-C; null: a new list.
        newcomers: As `run` has it.
    """
    batches = [] if into is None else into
    run(
        collectors,
        batches.append,
        stop=threading.Event(),
        seconds=seconds,
        on_tick=progress,
        tick_s=0.25,
        newcomers=newcomers,
    )
    return batches


def next_tick(tick: int, period_s: float, elapsed_s: float) -> int:
    """Number of the next tick on the grid: the one after `tick`, or after now when some were missed."""
    return max(tick + 1, math.floor(elapsed_s / period_s) + 1)


def random_tick(due_s: float, period_s: float, elapsed_s: float) -> float:
    """When the next sample at random is due: half a period to one and a half after the last was, or after now."""
    gap_s = period_s * random.uniform(*_GAPS)  # noqa: S311 - no secret
    return due_s + gap_s if due_s + gap_s > elapsed_s else elapsed_s + gap_s


def _until_next(elapsed_s: float, tick_s: float, seconds: float | None) -> float:
    until_tick = tick_s - elapsed_s % tick_s
    return until_tick if seconds is None else max(0.0, min(until_tick, seconds - elapsed_s))


def _finish(threads: "list[_Asker]", delivery: "_Delivery", stop: threading.Event, *, expired: bool) -> None:
    # When the time is up the last samples are due at this very moment: let them be taken before waving stop.
    deadline = time.monotonic() + _PATIENCE_S
    if not expired:
        stop.set()
    for thread in threads:
        if thread.ident is not None:
            thread.join(max(0.0, deadline - time.monotonic()))
    stop.set()
    late = [thread for thread in threads if thread.is_alive()]
    for thread in late:
        delivery([_gap(thread.name, time.monotonic() - thread.asked, "has not answered yet; left behind")])
        log.warning("%s has not answered for %.1f s and is left behind", thread.name, time.monotonic() - thread.asked)
    delivery.close()


class _Delivery:
    """The sink behind a lock, with a gate: a collector that was left behind must not write after the end."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._lock = threading.Lock()
        self._open = True

    def __call__(self, batches: Sequence[Batch]) -> None:
        with self._lock:
            if self._open:
                for batch in batches:
                    self._sink(batch)

    def close(self) -> None:
        with self._lock:
            self._open = False


class _Asker(threading.Thread):
    """Asks one collector, tick by tick. A daemon: one that hangs for good must not keep the process alive."""

    def __init__(
        self, collector: Collector, delivery: _Delivery, stop: threading.Event, start: float, seconds: float | None
    ) -> None:
        super().__init__(name=collector.name, daemon=True)
        self.asked = start
        self._collector = collector
        self._delivery = delivery
        self._stop_event = stop
        self._begin = start
        self._seconds = math.inf if seconds is None else seconds
        self._trouble: str | None = None
        self._last: float | None = None

    def run(self) -> None:
        ended_well = False
        try:
            self._ask()
            ended_well = True
        finally:
            if not ended_well:
                self._delivery([_event("gap", self.name, None, "ended by a fault of its own; the others go on")])
            self._collector.close()

    def _ask(self) -> None:
        period = self._collector.period_s
        tick, due = 0, 0.0
        while not self._stop_event.is_set():
            for batches in self._sample(period):
                self._delivery(batches)
            if due >= self._seconds:
                return
            elapsed = time.monotonic() - self._begin
            if isinstance(self._collector, AtRandom):
                due = random_tick(due, period, elapsed)
            else:
                tick = next_tick(tick, period, elapsed)
                due = tick * period
            due = min(due, self._seconds)
            self._stop_event.wait(max(0.0, self._begin + due - time.monotonic()))

    def _sample(self, period: float) -> Iterator[Sequence[Batch]]:
        self.asked = time.monotonic()
        silence = self._silence()
        if silence > max(_GAP_PERIODS * period, _GAP_MIN_S):
            yield [_gap(self.name, silence, f"was to be asked every {period:g} s")]
        try:
            if isinstance(self._collector, Piecewise):
                yield from ([piece] for piece in self._collector.pieces())
            else:
                yield self._collector.sample()
            self._trouble = None
        except _OUTLIVED as error:
            yield self._report(error)

    def _silence(self) -> float:
        # CLOCK_BOOTTIME goes on while the machine is suspended; the monotonic clock, which paces us, does not.
        now = time.clock_gettime(time.CLOCK_BOOTTIME)
        silence = 0.0 if self._last is None else now - self._last
        self._last = now
        return silence

    def _report(self, error: Exception) -> list[Batch]:
        # Kind and place only: the text of an unforeseen error may hold what must not be kept, a password say.
        place = traceback.extract_tb(error.__traceback__)[-1]
        trouble = f"failed with {type(error).__name__} in {Path(place.filename).name}, line {place.lineno}"
        if trouble == self._trouble:
            return []
        self._trouble = trouble
        log.error("%s %s; it is asked again at each tick", self.name, trouble)
        return [_event("gap", self.name, None, f"{trouble}; asked again at each tick")]


class _WallClock:
    """Notices steps of the wall clock, which would otherwise look like gaps or overlaps in the recording."""

    def __init__(self) -> None:
        self._offset = self._read()

    @staticmethod
    def _read() -> float:
        return time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)

    def check(self) -> list[Batch]:
        """An event of kind `clock` when the clock was stepped since the last look."""
        offset = self._read()
        step = offset - self._offset
        if abs(step) < _CLOCK_STEP_S:
            return []
        self._offset = offset
        log.warning("the clock was set %+.1f s", step)
        return [_event("clock", "wall clock", None, f"was set {step:+.1f} s")]


def _gap(name: str, silence_s: float, text: str) -> Batch:
    return _event("gap", name, silence_s, f"no sample for {silence_s:.1f} s; {text}")


def _event(kind: str, subject: str, interval_s: float | None, text: str) -> Batch:
    host = os.uname().nodename
    event = {"ts": now_us(), "interval_s": interval_s, "host": host, "kind": kind, "subject": subject, "text": text}
    return rows("event", [event])
