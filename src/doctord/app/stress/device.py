"""Put load on a file or device in steps: how many requests it does, from what depth on more wait, and its limit."""

import os
import random
from collections.abc import Sequence
from typing import Final

import numpy as np

from doctord.analyse.stress.depths import depth_knee
from doctord.analyse.stress.page_cache import Moved
from doctord.app.source import Live
from doctord.app.stress.device_asked import SERIES, Asked, Series, check
from doctord.app.stress.device_found import DeviceStress, Ran, by_depth, rate_of
from doctord.app.stress.device_steps import jobs_of
from doctord.app.stress.look import Look
from doctord.app.watcher import SILENT, Watcher
from doctord.errors import UserError
from doctord.lab.host.processes import orderly_end
from doctord.stress import fio
from doctord.stress.beneath import beneath
from doctord.stress.fio import Job
from doctord.stress.target import Counted, Target, is_rotational, target

NO_ROOM: Final = "less than a tenth of its file system is free"


def stress(asked: Asked, watcher: Watcher = SILENT) -> DeviceStress:
    """Vary depth, then what else was asked, in an order of chance; what was made is dropped.

    Raises:
        UserError: fio is not there or cannot do it, the place may not be loaded, or what was asked is out of bounds.
    """
    check(asked)
    version = fio.version()
    writes = asked.read_pct < 100 or not {"mix", "sustained"}.isdisjoint(asked.series)
    with (
        orderly_end(),
        target(asked.place, asked.size_bytes, writes=writes, overwrite=asked.overwrite) as place,
    ):
        if place.kind == "made":
            _lay_out(asked, place, watcher)
        if "beneath" in asked.series:
            beneath(place)  # refused before any load rather than after half of it
        steps = list[Ran]()
        stopped = _give(asked, place, steps, watcher)
    return DeviceStress(asked, place, version, steps, stopped)


def _lay_out(asked: Asked, place: Target, watcher: Watcher) -> None:
    watcher.note(f"writing a file of our own in {asked.place}, which is dropped at the end")
    why = fio.lay_out(place.path, place.size_bytes, is_direct=asked.is_direct, watch=lambda: _no_room(place))
    if why:
        raise UserError(f"the file could not be written: {why}", _hint(asked, why))


def _give(asked: Asked, place: Target, steps: list[Ran], watcher: Watcher) -> str:
    """Give the steps of each series; why not all of them."""
    order = random.Random(asked.seed)  # noqa: S311 - an order, no secret
    for series in [one for one in SERIES if one == "depth" or one in asked.series]:
        told = depth_knee(by_depth([ran for ran in steps if ran.series == "depth"]), asked.seed)
        jobs = jobs_of(series, asked, place, told, order)
        with watcher.progress(f"Varying {series}", float(len(jobs) * asked.step_s), "s") as progress:
            for number, job in enumerate(jobs):
                if series == "rate" and _is_beyond(job, steps):
                    continue
                ran = _step(asked, place, series, job, asked.seed + len(steps))
                why = ran.done.last_words
                if why and not any(one.done.latencies.number for one in (*steps, ran)):
                    raise UserError(f"fio could not do it: {why}", _hint(asked, why))
                steps.append(ran)
                progress((number + 1) * asked.step_s, job.name)
                if why:
                    return f"at {job.name}: {why}"
    return ""


def _hint(asked: Asked, why: str) -> str:
    if why == NO_ROOM:
        return "make room there first, or a smaller --size"
    return "a file system without direct I/O: --buffered" if asked.is_direct else "see its file system"


def _is_beyond(job: Job, steps: Sequence[Ran]) -> bool:
    """Whether a lower rate was too much already."""
    failed = [rate_of(ran) for ran in steps if ran.series == "rate" and not ran.done.keeps_up]
    return (job.rate_per_s or 0.0) > min(failed, default=np.inf)


def _step(asked: Asked, place: Target, series: Series, job: Job, seed: int) -> Ran:
    """One step, looked at while it lasts."""
    seconds = asked.step_s if job.steady_s is None else asked.steady_within_s
    with Look(Live(asked.step_s, databases=False, probe=False)) as look:
        before = place.counted()
        done = fio.step(job, seconds=seconds, seed=seed, watch=lambda _elapsed_s: _no_room(place))
        device_bytes, queue = of_device(before, place.counted(), done.ran_s)
    found = Moved(
        job.is_direct,
        job.size_bytes,
        _memory_bytes(),
        done.per_s,
        done.moved_bytes,
        device_bytes,
        done.latencies.quantile_us(0.5),
        is_rotational(place.device),
    )
    return Ran(series, done, look.examination, found, queue)


def of_device(before: Counted | None, after: Counted | None, ran_s: float) -> tuple[float | None, float | None]:
    """Bytes that the device moved, and how many requests it had on average, of a load of so long; null where unknown.

    Of the whole load, its first second too: on a busy host nobody sees from outside when a load begins or stands still.
    """
    if before is None or after is None or not ran_s:
        return None, None
    return float(after.moved_bytes - before.moved_bytes), (after.queued_ms - before.queued_ms) / 1e3 / ran_s


def _no_room(place: Target) -> str:
    return "" if place.has_room() else NO_ROOM


def _memory_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
