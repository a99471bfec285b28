"""Put load on a database in steps, and say how much it takes, what its limit is, and whether it was its disk at all."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from doctord.analyse.capacity.load.queue_fit import Queue
from doctord.analyse.capacity.load.queue_fit import fitted as queue_fitted
from doctord.analyse.capacity.load.scaling import Scaling
from doctord.analyse.capacity.load.scaling import fitted as scaling_fitted
from doctord.analyse.stress.knee import Knee, Step, first_change, knee
from doctord.analyse.stress.latencies import EDGES_US, together
from doctord.analyse.stress.reads import Reads
from doctord.app.lab import first_cause
from doctord.app.source import Live
from doctord.app.stress.look import SETTLES_S, Look
from doctord.app.watcher import SILENT, Watcher
from doctord.diagnose.finding import Diagnosis
from doctord.errors import UserError
from doctord.lab.host.processes import orderly_end
from doctord.stress import pgbench
from doctord.stress.ground import Ground
from doctord.stress.kits import Kit
from doctord.stress.pgbench import Given

PARTS: Final = (0.1, 0.3, 0.5, 0.7, 0.85, 1.0, 1.1)
"""The steps, as parts of the ceiling."""
CLIENTS: Final = (1, 2, 4, 8, 16, 32)
"""Of the closed loops that look for the ceiling: six numbers, for the law of scaling needs as many."""
PROBE_S: Final = 5
LOOSE: Final = 5.0  # times the slowest hundredth at the least load: the service level where nobody says one
LEAST_STEP_S, MOST_STEP_S = 5, 3600
MOST_REPEATS: Final = 20
MOST_CLIENTS: Final = 1000


class Asked(NamedTuple):
    """What a load test is to be.

    Attributes:
        dsn: The server.
        kit: What is done there.
        step_s: How long each step lasts.
        repeats: How often each is given, in an order of chance.
        limit_ms: The service level: 99 of 100 transactions take no longer; null: LOOSE times those of the least load.
        most_clients: Connections at most.
        may_disturb: Whether others may be at work there.
        seed: Of all that is random.
    """

    dsn: str
    kit: Kit
    step_s: int = 30
    repeats: int = 3
    limit_ms: float | None = None
    most_clients: int = 32
    may_disturb: bool = False
    seed: int = 1


class Ran(NamedTuple):
    """A step that was given, what was diagnosed meanwhile, and what was read; null where it was not looked at."""

    given: Given
    diagnosis: Diagnosis | None
    reads: Reads | None

    @property
    def cause(self) -> str | None:
        """The first cause above a note."""
        return first_cause(self.diagnosis) if self.diagnosis else None


@dataclass(frozen=True)
class Stress:
    """What a load test found.

    Attributes:
        asked: What was asked.
        version: Of the server.
        probes: The closed loops, by their number of clients.
        steps: In the order in which they were given.
        limit_ms: The service level that counts.
        stopped: Why not all steps were given; empty: all were.
    """

    asked: Asked
    version: str
    probes: Sequence[Given]
    steps: Sequence[Ran]
    limit_ms: float
    stopped: str = ""

    @property
    def ceiling(self) -> Given:
        """The closed loop with the most transactions."""
        return max(self.probes, key=lambda given: given.achieved_per_s)

    @property
    def scaling(self) -> Scaling:
        """How throughput grows with clients."""
        clients, done = zip(*((one.clients, one.achieved_per_s) for one in self.probes), strict=True)
        return scaling_fitted(np.array(clients, float), np.array(done, float))

    @property
    def queue(self) -> Queue:
        """How the time of a transaction grows with the load, second by second, as far as the server kept up."""
        counts = [ran.given.latencies.counts for ran in self.steps if ran.given.keeps_up]
        seconds = np.concatenate(counts) if counts else np.zeros((0, len(EDGES_US) - 1))
        middles_s = np.sqrt(EDGES_US[1:] * EDGES_US[:-1]) / 1e6
        loads = seconds.sum(axis=1).astype(float)
        with np.errstate(invalid="ignore", divide="ignore"):
            return queue_fitted(loads, seconds @ middles_s / loads)

    @property
    def by_load(self) -> list[Step]:
        """Each load with all its repeats, the least first."""
        loads = sorted({float(ran.given.offered_per_s or 0) for ran in self.steps})
        given = {load: [ran.given for ran in self.steps if ran.given.offered_per_s == load] for load in loads}
        return [
            Step(load, together([one.latencies for one in all_]), all(one.keeps_up for one in all_))
            for load, all_ in given.items()
        ]

    @property
    def knee(self) -> Knee:
        """The largest load within the service level."""
        return knee(self.by_load, self.limit_ms * 1000, self.asked.seed)

    @property
    def limit(self) -> tuple[float, Diagnosis] | None:
        """The least load at which the first cause is another than at the least, with what was diagnosed there."""
        looked = {float(ran.given.offered_per_s or 0): ran for ran in self.steps if ran.diagnosis}
        change = first_change({load: ran.cause for load, ran in looked.items()}) if looked else None
        at = change and looked[change[0]].diagnosis
        return (change[0], at) if change and at else None

    @property
    def reads(self) -> Reads | None:
        """What was read in the step that read most; null where nothing was."""
        read = [ran.reads for ran in self.steps if ran.reads and ran.reads.blocks]
        return max(read, key=lambda one: one.blocks / one.seconds, default=None)

    @property
    def healthy(self) -> bool | None:
        """Whether there is a load that the server takes within the service level; null where nothing was measured."""
        if not any(step.latencies.number for step in self.by_load):
            return None
        return self.knee.load is not None


def stress(asked: Asked, watcher: Watcher = SILENT) -> Stress:
    """Look for the ceiling with closed loops, then give open steps below and above it, in an order of chance.

    A load with which the server did not keep up ends all larger ones. What was made on the server is dropped.

    Raises:
        UserError: the server cannot be asked or is not free, pgbench is not there, or what was asked is out of bounds.
    """
    _check(asked)
    pgbench.program()
    ground = Ground(asked.dsn)
    try:
        ground.check(may_disturb=asked.may_disturb)
        if not ground.has_room():
            raise UserError("less than a tenth of the file system of the data is free", "make room there first")
        watcher.note(f"making {asked.kit.name} in a database of its own")
        with orderly_end(), ground.laid(asked.kit, pgbench.build):
            probes = list(_probes(asked, ground, watcher))
            best = max(probes, key=lambda given: given.achieved_per_s)
            if not best.achieved_per_s:
                raise UserError(f"no transaction succeeded: {best.last_words or 'all failed'}", "see the server's log")
            steps = list[Ran]()
            stopped = _give(asked, ground, best, steps, watcher)
    finally:
        ground.close()
    return Stress(asked, ground.version, probes, steps, _limit_ms(asked, steps, best), stopped)


def _check(asked: Asked) -> None:
    if not LEAST_STEP_S <= asked.step_s <= MOST_STEP_S:
        raise UserError(f"--for {asked.step_s}s is too short or too long", f"{LEAST_STEP_S} s to {MOST_STEP_S} s")
    if not 1 <= asked.repeats <= MOST_REPEATS:
        raise UserError(f"--repeats {asked.repeats} is too few or too many", f"1 to {MOST_REPEATS}")
    if not 1 <= asked.most_clients <= MOST_CLIENTS:
        raise UserError(f"--clients {asked.most_clients} is too few or too many", f"1 to {MOST_CLIENTS}")


def _probes(asked: Asked, ground: Ground, watcher: Watcher) -> Iterator[Given]:
    clients = [one for one in CLIENTS if one <= asked.most_clients] or [asked.most_clients]
    with watcher.progress("Looking for the ceiling", PROBE_S * len(clients), "s") as progress:
        for number, each in enumerate(clients):
            yield pgbench.step(ground.dsn, asked.kit, seconds=PROBE_S, clients=each, seed=asked.seed + number)
            progress(PROBE_S * (number + 1), f"{each} clients")


def _give(asked: Asked, ground: Ground, best: Given, steps: list[Ran], watcher: Watcher) -> str:
    """Give the steps; why not all of them."""
    order = random.Random(asked.seed)  # noqa: S311 - an order, no secret
    rounds = [order.sample(PARTS, len(PARTS)) for _ in range(asked.repeats)]
    too_much, stopped = np.inf, ""
    with watcher.progress("Loading", asked.step_s * sum(map(len, rounds)), "s") as progress:
        for number, part in enumerate(part for one in rounds for part in one):
            rate = rounded(part * best.achieved_per_s)
            if rate > too_much:
                continue
            if not ground.has_room():
                return "less than a tenth of the file system of the data is free"
            ran = _step(asked, ground, rate, asked.seed + number)
            steps.append(ran)
            progress(asked.step_s * (number + 1), f"{rate:g} a second")
            if not ran.given.keeps_up:
                too_much = min(too_much, rate)
            if ran.given.last_words:
                return f"at {rate:g} transactions a second pgbench ended: {ran.given.last_words}"
    return stopped


def _step(asked: Asked, ground: Ground, rate_per_s: float, seed: int) -> Ran:
    """One step, looked at while it lasts."""
    before = ground.read_so_far()
    with Look(Live(asked.step_s - 2 * SETTLES_S, [asked.dsn], probe=False), servers=1) as look:
        given = pgbench.step(
            ground.dsn, asked.kit, seconds=asked.step_s, clients=asked.most_clients, rate_per_s=rate_per_s, seed=seed
        )
        after = ground.read_so_far()
    reads = None
    if before and after:
        device = None if before[2] is None or after[2] is None else float(after[2] - before[2])
        reads = Reads(float(after[0] - before[0]), after[1], device, asked.step_s)
    return Ran(given, look.diagnosis, reads)


def _limit_ms(asked: Asked, steps: Sequence[Ran], best: Given) -> float:
    if asked.limit_ms is not None:
        return asked.limit_ms
    least = min((ran.given for ran in steps), key=lambda given: given.offered_per_s or 0, default=best)
    return LOOSE * (least.latencies.quantile_us(0.99) or 0.0) / 1000


def rounded(rate_per_s: float) -> float:
    """Three digits, which is more than a ceiling is known to."""
    return float(f"{max(rate_per_s, 0.1):.3g}")
