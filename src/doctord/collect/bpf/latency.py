"""Latencies timed in the kernel, live, with bpftrace: each wait into a histogram, without a stop of who waits."""

import json
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from doctord._native import Batch
from doctord.collect.bpf import bpftrace
from doctord.collect.bpf.program import COUNTS, TIMES, edges_us
from doctord.collect.core.cost import Cost
from doctord.collect.core.increase import Buckets, Growing, Total, latency_rows
from doctord.collect.core.notices import Notices
from doctord.dataset.rows import now_us, rows
from doctord.errors import UserError

START_S = 30.0
STOP_S = 5.0
AGAIN_S = 10.0

Maps = dict[str, dict[str, int]]


class Subjects(Protocol):
    """What one bpftrace program times: of which server, the program, and the names of the histograms that it prints."""

    @property
    def name(self) -> str:
        """What it is about, in words, for notes and errors."""
        ...

    @property
    def db(self) -> str | None:
        """The database server, `postgresql:5432`; null for the host."""
        ...

    def program(self) -> str | None:
        """The program for bpftrace; null while there is nothing to time (the server is away)."""
        ...

    def identity(self) -> object:
        """Something that changes when the program must be started anew: the server's process."""
        ...

    def subject(self, span: int, label: str) -> str | None:
        """The subject of a span's label; null when it is not of interest."""
        ...

    def always(self) -> Iterable[str]:
        """Subjects that are known to be timed even when nothing waited."""
        ...


@dataclass(frozen=True, slots=True)
class Printed:
    """bpftrace's maps at one moment: of the wall clock, and of the kernel's, seconds."""

    ts_us: int
    clock_s: float
    counts: dict[str, int]
    times: dict[str, int]


@dataclass
class BpfLatency:
    """A collector of `latency` rows from one program of bpftrace, which it starts, and starts again when it ended."""

    subjects: Subjects
    period_s: float
    name: str = field(init=False)
    _running: "_Running | None" = field(default=None, init=False)
    _identity: object = field(default=None, init=False)
    _growing: Growing[str] = field(default_factory=Growing, init=False)
    _notices: Notices = field(default_factory=Notices, init=False)
    _not_before_s: float = field(default=0.0, init=False)
    _read_s: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        """Name it after what it times."""
        self.name = f"latency of {self.subjects.name}"
        self._cost = Cost(self.name)

    def check(self) -> None:
        """Start bpftrace, and see whether it times anything here.

        Raises:
            UserError: it does not.
        """
        self._identity, text = self.subjects.identity(), self.subjects.program()
        if text is None:
            raise UserError(f"{self.subjects.name} cannot be timed: it is not running", "start it, or name another")
        self._running = _Running(text)

    def sample(self) -> list[Batch]:
        """Rows of `latency` since the last sample: none of an interval in which the program or the server ended."""
        with self._cost:
            found = list(self._sample())
        return [*found, *self._notices.batches(), *self._cost.batches()]

    def close(self) -> None:
        """End bpftrace."""
        if self._running:
            self._running.stop()

    def _sample(self) -> Iterator[Batch]:
        if self._running is None or self._running.ended or self.subjects.identity() != self._identity:
            self._start_again()
        if self._running is None:
            return
        for printed in self._running.printed():
            idle: dict[str, Buckets] = {name: {} for name in self.subjects.always()}
            gained = self._growing.step(printed.clock_s, {"": idle | self._by_subject(printed)}).by_source.get("")
            if gained is not None:
                yield rows("latency", latency_rows(gained, self._common(printed)))
            self._read_s = printed.clock_s

    def _common(self, printed: Printed) -> dict[str, object]:
        return {
            "ts": printed.ts_us,
            "interval_s": printed.clock_s - self._read_s,
            "host": os.uname().nodename,
            "db": self.subjects.db,
        }

    def _by_subject(self, printed: Printed) -> dict[str, Buckets]:
        found: dict[str, dict[tuple[float, float | None], Total]] = {}
        for key, count in printed.counts.items():
            span, *label, bucket = key.split(",")
            subject = self.subjects.subject(int(span), ",".join(label))
            if subject is not None:
                buckets, edges = found.setdefault(subject, {}), edges_us(int(bucket))
                known = buckets.get(edges, Total(0, 0.0))
                waited_us = (known.waited_us or 0.0) + printed.times.get(key, 0) / 1e3
                buckets[edges] = Total(known.count + count, waited_us)
        return dict(found)

    def _start_again(self) -> None:
        """After an end of bpftrace or of the server: nothing of the time between is known."""
        if time.monotonic() < self._not_before_s:
            return
        why = "bpftrace ended" if self._running and self._running.ended else "the server was started again"
        if self._running:
            self._running.stop()
            self._notices.happened("gap", self.subjects.db or "host", self.subjects.name, f"{why}: timed anew")
        self._running, self._growing, self._identity = None, Growing(), self.subjects.identity()
        self._not_before_s = time.monotonic() + AGAIN_S
        text = self.subjects.program()
        try:
            self._running = _Running(text) if text else None
        except UserError as refusal:
            self._notices.not_measured(self.subjects.db, self.subjects.name, str(refusal), refusal.hint)


class _Running:
    """One process of bpftrace, and a thread that reads what it prints."""

    def __init__(self, program: str) -> None:
        """Start it, and wait until it has attached its probes.

        Raises:
            UserError: it does not start.
        """
        self._process = bpftrace.start(program)
        self._printed: queue.SimpleQueue[Printed] = queue.SimpleQueue()
        self._said: list[str] = []
        self._decided, self._begun = threading.Event(), False
        self._readers = [
            threading.Thread(target=target, daemon=True) for target in (self._read_output, self._read_errors)
        ]
        for reader in self._readers:
            reader.start()
        self._decided.wait(START_S)
        if not self._begun:
            self.stop()
            raise _refusal(self._said)

    @property
    def ended(self) -> bool:
        """Whether it has ended."""
        return self._process.poll() is not None

    def printed(self) -> Iterator[Printed]:
        """What it printed since the last call."""
        while not self._printed.empty():
            yield self._printed.get()

    def stop(self) -> None:
        """End it."""
        if not self.ended:
            self._process.send_signal(signal.SIGINT)
        try:
            self._process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for reader in self._readers:
            reader.join(STOP_S)
        for stream in (self._process.stdout, self._process.stderr):
            if stream:
                stream.close()

    def _read_output(self) -> None:
        maps: Maps = {}
        clock_s = 0.0
        for line in self._process.stdout or ():
            told = _told(line)
            match told:
                case "begun" | "printed":
                    counts, times = maps.get(COUNTS, {}), maps.get(TIMES, {})
                    self._printed.put(Printed(now_us(), clock_s, counts, times))
                    self._begun = True
                    self._decided.set()
                case str() if told.isdigit():
                    clock_s, maps = int(told) / 1e9, {}
                case dict():
                    maps |= told
        self._decided.set()  # it ended: nobody needs to wait any longer

    def _read_errors(self) -> None:
        for line in self._process.stderr or ():
            if "RLIMIT_MEMLOCK" not in line and "WARNING" not in line:
                self._said.append(line.strip())


def _told(line: str) -> str | Maps | None:
    """What a line of bpftrace's JSON says: a text that was printed, or maps by name."""
    try:
        found: dict[str, Any] = json.loads(line)
    except json.JSONDecodeError:
        return None
    match found.get("type"):
        case "printf":
            return str(found["data"]).strip()
        case "map":
            return {name.removeprefix("@"): content for name, content in found["data"].items()}
    return None


def _refusal(said: list[str]) -> UserError:
    why = next((line for line in said if "ERROR" in line), said[0] if said else "it wrote nothing")
    return UserError(
        f"bpftrace cannot time it here: {why.removeprefix('stdin:')}",
        "the kernel may be locked down, or lack what is probed; see docs/reference/latency-live.md",
    )
