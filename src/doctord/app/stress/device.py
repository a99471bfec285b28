"""Put load on a file or device in steps: how many requests it does, from what depth on more wait, and its limit."""

import os
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from doctord.analyse.capacity.load.scaling import Scaling
from doctord.analyse.capacity.load.scaling import fitted as scaling_fitted
from doctord.analyse.stress.depths import Depth, DepthKnee, depth_knee
from doctord.analyse.stress.knee import Knee, Step, first_change, knee
from doctord.analyse.stress.latencies import together
from doctord.analyse.stress.page_cache import Moved
from doctord.app.diagnose import Examination
from doctord.app.lab import first_cause
from doctord.app.source import Live
from doctord.app.stress.database import LOOSE, PARTS, rounded
from doctord.app.stress.look import Look
from doctord.app.watcher import SILENT, Watcher
from doctord.diagnose.finding import Diagnosis
from doctord.errors import UserError
from doctord.lab.host.processes import orderly_end
from doctord.stress import fio
from doctord.stress.fio import WARMS_S, Done, Job
from doctord.stress.target import Counted, Target, is_rotational, target

Series: TypeAlias = Literal["depth", "rate", "block", "mix", "sustained"]
SERIES: Final[tuple[Series, ...]] = get_args(Series)
USUAL: Final[tuple[Series, ...]] = ("depth", "rate", "block")
DEPTHS: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256)
BLOCKS: Final = (4 << 10, 8 << 10, 64 << 10, 1 << 20)
READ_PCTS: Final = (100, 70, 50, 0)
LEAST_STEP_S, MOST_STEP_S = 5, 3600
MOST_REPEATS: Final = 20
LEAST_BLOCK, MOST_BLOCK = 512, 16 << 20
NO_ROOM: Final = "less than a tenth of its file system is free"


def series_named(text: str) -> tuple[Series, ...]:
    """The series of a list of their names, parted by commas.

    Raises:
        UserError: one of them is none.
    """
    names = [name.strip() for name in text.split(",") if name.strip()]
    if unknown := next((name for name in names if name not in SERIES), None):
        raise UserError(f"{unknown!r} is nothing that can be varied", f"these can: {', '.join(SERIES)}")
    return tuple(one for one in SERIES if one in names)


class Asked(NamedTuple):
    """What a load test of storage is to be.

    Attributes:
        place: A folder, where a file is made and dropped; a file; or a block device.
        size_bytes: Requests go to so much of it; null: all of it, or a GiB of a file of our own.
        series: What is varied: depth always, which all others rest on.
        block_bytes: Size of a request, where that is not varied.
        read_pct: Of 100 requests so many read, where that is not varied.
        most_depth: Requests outstanding, at most.
        step_s: How long each step lasts, without a second before and after.
        repeats: How often each is given, in an order of chance.
        limit_ms: The service level: 99 of 100 requests take no longer; null: LOOSE times those of the least load.
        is_direct: Whether requests pass by the page cache.
        overwrite: The place once more, where what it holds may be lost.
        steady_within_s: How long sustained writes last, at most.
        seed: Of all that is random.
    """

    place: Path
    size_bytes: int | None = None
    series: tuple[Series, ...] = USUAL
    block_bytes: int = 8192
    read_pct: int = 100
    most_depth: int = 32
    step_s: int = 10
    repeats: int = 1
    limit_ms: float | None = None
    is_direct: bool = True
    overwrite: Path | None = None
    steady_within_s: int = 300
    seed: int = 1


class Ran(NamedTuple):
    """A step that was given, what the check-up saw meanwhile, and what the device did; null where that is not known.

    `queue` is the number of requests that the device had, waiting or at work, on average.
    """

    series: Series
    done: Done
    examination: Examination | None
    moved: Moved
    queue: float | None

    @property
    def diagnosis(self) -> Diagnosis | None:
        """What the check-up says."""
        return None if self.examination is None else self.examination.diagnosis

    @property
    def cause(self) -> str | None:
        """The first cause above a note."""
        return first_cause(self.diagnosis) if self.diagnosis else None


@dataclass(frozen=True)
class DeviceStress:
    """What a load test of storage found.

    Attributes:
        asked: What was asked.
        target: Where requests went.
        version: Of fio.
        steps: In the order in which they were given.
        stopped: Why not all steps were given; empty: all were.
    """

    asked: Asked
    target: Target
    version: str
    steps: Sequence[Ran]
    stopped: str = ""

    def of(self, series: Series) -> list[Ran]:
        """The steps in which that was varied."""
        return [ran for ran in self.steps if ran.series == series]

    @property
    def by_depth(self) -> list[Depth]:
        """Each depth with all its repeats, the least first."""
        return _by_depth(self.of("depth"))

    @property
    def depth_knee(self) -> DepthKnee | None:
        """From what depth on more only waits; null where too little was measured."""
        return depth_knee(self.by_depth, self.asked.seed)

    @property
    def scaling(self) -> Scaling:
        """How requests done in a second grow with depth."""
        told = [(step.outstanding, step.per_s) for step in self.by_depth]
        return scaling_fitted(*np.array(told, float).reshape(-1, 2).T)

    @property
    def by_rate(self) -> list[Step]:
        """Each rate with all its repeats, the least first."""
        ran = self.of("rate")
        given = {rate: [one.done for one in ran if _rate(one) == rate] for rate in sorted({*map(_rate, ran)})}
        return [
            Step(rate, together([one.latencies for one in all_]), all(one.keeps_up for one in all_))
            for rate, all_ in given.items()
        ]

    @property
    def limit_ms(self) -> float:
        """The service level that counts."""
        if self.asked.limit_ms is not None:
            return self.asked.limit_ms
        least = self.by_rate[0].latencies if self.by_rate else None
        return LOOSE * ((least and least.quantile_us(0.99)) or 0.0) / 1000

    @property
    def rate_knee(self) -> Knee | None:
        """The largest rate within the service level; null where rates were not varied."""
        return knee(self.by_rate, self.limit_ms * 1000, self.asked.seed) if self.by_rate else None

    @property
    def limit(self) -> tuple[Ran, Diagnosis] | None:
        """The step of the least depth, or rate, at which the first cause is another than at the least of these."""
        for series in ("depth", "rate"):
            looked = {_load(ran): ran for ran in self.of(series) if ran.diagnosis}
            change = first_change({load: ran.cause for load, ran in looked.items()}) if looked else None
            ran = looked[change[0]] if change else None
            if ran and ran.diagnosis:
                return ran, ran.diagnosis
        return None

    @property
    def pitfall(self) -> Moved | None:
        """What was moved in the step that tells most of the page cache; null: the device was tested."""
        found = [ran.moved for ran in self.steps if ran.moved.is_pitfall]
        return max(found, key=lambda moved: (moved.cached_share or 0.0, moved.per_s), default=None)

    @property
    def healthy(self) -> bool | None:
        """False where memory was measured, or no rate holds the level; null where nothing was measured."""
        if self.depth_knee is None:
            return None
        return self.pitfall is None and (self.rate_knee is None or self.rate_knee.load is not None)


def stress(asked: Asked, watcher: Watcher = SILENT) -> DeviceStress:
    """Vary depth, then what else was asked, in an order of chance; what was made is dropped.

    Raises:
        UserError: fio is not there or cannot do it, the place may not be loaded, or what was asked is out of bounds.
    """
    _check(asked)
    version = fio.version()
    writes = asked.read_pct < 100 or not {"mix", "sustained"}.isdisjoint(asked.series)
    with (
        orderly_end(),
        target(asked.place, asked.size_bytes, writes=writes, overwrite=asked.overwrite) as place,
    ):
        if place.kind == "made":
            _lay_out(asked, place, watcher)
        steps = list[Ran]()
        stopped = _give(asked, place, steps, watcher)
    return DeviceStress(asked, place, version, steps, stopped)


def _check(asked: Asked) -> None:
    bounds: tuple[tuple[str, float, float, float], ...] = (
        ("--for", asked.step_s, LEAST_STEP_S, MOST_STEP_S),
        ("--steady-within", asked.steady_within_s, 2 * asked.step_s, MOST_STEP_S),
        ("--repeats", asked.repeats, 1, MOST_REPEATS),
        ("--depth", asked.most_depth, 2, DEPTHS[-1]),
        ("--block", asked.block_bytes, LEAST_BLOCK, MOST_BLOCK),
        ("--reads", asked.read_pct, 0, 100),
    )
    for name, value, least, most in bounds:
        if not least <= value <= most:
            raise UserError(f"{name} {value:g} is too little or too much", f"{least:g} to {most:g}")
    if asked.block_bytes % LEAST_BLOCK:
        raise UserError(f"--block {asked.block_bytes} is no multiple of {LEAST_BLOCK} bytes", "8KiB, say")
    if asked.size_bytes is not None and 0 < asked.size_bytes < max(asked.block_bytes, BLOCKS[-1]):
        raise UserError(f"--size {asked.size_bytes} bytes is less than a block", "1GiB, say")


def _lay_out(asked: Asked, place: Target, watcher: Watcher) -> None:
    watcher.note(f"writing a file of our own in {asked.place}, which is dropped at the end")
    why = fio.lay_out(place.path, place.size_bytes, is_direct=asked.is_direct, watch=lambda: _no_room(place))
    if why:
        hint = "a file system without direct I/O: --buffered" if asked.is_direct else "see its file system"
        raise UserError(f"the file could not be written: {why}", hint)


def _give(asked: Asked, place: Target, steps: list[Ran], watcher: Watcher) -> str:
    """Give the steps of each series; why not all of them."""
    order = random.Random(asked.seed)  # noqa: S311 - an order, no secret
    first = Job(place.path, place.size_bytes, asked.block_bytes, 1, asked.read_pct, asked.is_direct)
    for series in [one for one in SERIES if one == "depth" or one in asked.series]:
        jobs = _jobs(series, asked, first, steps)
        rounds = [
            job for _ in range(1 if series == "sustained" else asked.repeats) for job in order.sample(jobs, len(jobs))
        ]
        with watcher.progress(f"Varying {series}", float(len(rounds) * asked.step_s), "s") as progress:
            for number, job in enumerate(rounds):
                if series == "rate" and _is_beyond(job, steps):
                    continue
                ran = _step(asked, place, series, job, asked.seed + len(steps))
                if ran.done.last_words and not any(one.done.latencies.number for one in (*steps, ran)):
                    hint = "a file system without direct I/O: --buffered" if asked.is_direct else "see its file system"
                    raise UserError(f"fio could not do it: {ran.done.last_words}", hint)
                steps.append(ran)
                progress((number + 1) * asked.step_s, job.name)
                if ran.done.last_words:
                    return f"at {job.name}: {ran.done.last_words}"
    return ""


def _jobs(series: Series, asked: Asked, first: Job, steps: Sequence[Ran]) -> list[Job]:
    """The loads of a series, by what depth has told."""
    if series == "depth":
        return [first._replace(depth=depth) for depth in DEPTHS if depth <= asked.most_depth]
    told = depth_knee(_by_depth([ran for ran in steps if ran.series == "depth"]), asked.seed)
    if told is None:
        return []
    enough = first._replace(depth=told.enough)
    if series == "rate":
        rates = sorted({rounded(part * told.per_s.value) for part in PARTS})
        return list(dict.fromkeys(fio.open_job(first, rate) for rate in rates))
    if series == "block":
        return [enough._replace(block_bytes=size) for size in BLOCKS]
    if series == "mix":
        return [enough._replace(read_pct=share) for share in READ_PCTS]
    return [enough._replace(read_pct=0, steady_s=asked.step_s)]


def _is_beyond(job: Job, steps: Sequence[Ran]) -> bool:
    """Whether a lower rate was too much already."""
    failed = [_rate(ran) for ran in steps if ran.series == "rate" and not ran.done.keeps_up]
    return (job.rate_per_s or 0.0) > min(failed, default=np.inf)


def _step(asked: Asked, place: Target, series: Series, job: Job, seed: int) -> Ran:
    """One step, looked at while it lasts."""
    seconds = asked.step_s if job.steady_s is None else asked.steady_within_s
    seen = list[tuple[float, Counted]]()

    def watch(elapsed_s: float) -> str:
        counted = place.counted() if WARMS_S <= elapsed_s <= WARMS_S + seconds else None
        if counted:
            seen.append((elapsed_s, counted))
        return _no_room(place)

    with Look(Live(asked.step_s, databases=False, probe=False)) as look:
        done = fio.step(job, seconds=seconds, seed=seed, watch=watch)
    moved_bytes, queue = _of_device(seen, done.seconds)
    found = Moved(
        job.is_direct,
        job.size_bytes,
        _memory_bytes(),
        done.per_s,
        done.bytes_per_s * done.seconds,
        moved_bytes,
        done.latencies.quantile_us(0.5),
        is_rotational(place.device),
    )
    return Ran(series, done, look.examination, found, queue)


def _of_device(seen: Sequence[tuple[float, Counted]], seconds: int) -> tuple[float | None, float | None]:
    """Bytes that the device moved in so many seconds, and how many requests it had on average."""
    if len(seen) < 2:
        return None, None
    (began_s, first), (ended_s, last) = seen[0], seen[-1]
    length_s = ended_s - began_s
    return (last.moved_bytes - first.moved_bytes) / length_s * seconds, (
        last.queued_ms - first.queued_ms
    ) / 1e3 / length_s


def _by_depth(steps: Sequence[Ran]) -> list[Depth]:
    depths = sorted({ran.done.job.depth for ran in steps})
    return [
        Depth(depth, together([ran.done.latencies for ran in steps if ran.done.job.depth == depth])) for depth in depths
    ]


def _no_room(place: Target) -> str:
    return "" if place.has_room() else NO_ROOM


def _memory_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _rate(ran: Ran) -> float:
    return ran.done.job.rate_per_s or 0.0


def _load(ran: Ran) -> float:
    return _rate(ran) or float(ran.done.job.depth)
