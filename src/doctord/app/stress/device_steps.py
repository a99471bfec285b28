"""The steps of a load test of storage: what is varied in each series, by what its depths have told."""

import random
from typing import Final

from doctord.analyse.stress.depths import DepthKnee
from doctord.app.stress.database import PARTS, rounded
from doctord.app.stress.device_asked import Asked, Series
from doctord.stress.beneath import beneath
from doctord.stress.fio import Job, open_job
from doctord.stress.target import Target

DEPTHS: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256)
BLOCKS: Final = (4 << 10, 8 << 10, 64 << 10, 1 << 20)
READ_PCTS: Final = (100, 70, 50, 0)


def jobs_of(series: Series, asked: Asked, place: Target, told: DepthKnee | None, order: random.Random) -> list[Job]:
    """The loads of a series in the order in which they are given, by chance where it is of no matter.

    Args:
        series: What is varied.
        asked: What was asked.
        place: Where requests go.
        told: What the depths have told; null: nothing, and only they can be given.
        order: Of what chance decides.
    """
    first = Job(place.path, place.size_bytes, asked.block_bytes, 1, asked.read_pct, asked.is_direct)
    if series == "depth":
        jobs = [first._replace(depth=depth) for depth in DEPTHS if depth <= asked.most_depth]
    elif told is None:
        return []
    elif series == "beneath":
        return _beneath(first._replace(depth=told.enough, read_pct=100), place) * asked.repeats
    elif series == "sustained":
        return [first._replace(depth=told.enough, read_pct=0, steady_s=asked.step_s)]
    else:
        jobs = _varied(series, first, told)
    return [job for _ in range(asked.repeats) for job in order.sample(jobs, len(jobs))]


def _varied(series: Series, first: Job, told: DepthKnee) -> list[Job]:
    if series == "rate":
        rates = sorted({rounded(part * told.per_s.value) for part in PARTS})
        return list(dict.fromkeys(open_job(first, rate) for rate in rates))
    enough = first._replace(depth=told.enough)
    if series == "block":
        return [enough._replace(block_bytes=size) for size in BLOCKS]
    return [enough._replace(read_pct=share) for share in READ_PCTS]


def _beneath(job: Job, place: Target) -> list[Job]:
    """The same blocks through the file system and from the device: what drifts meanwhile falls on both alike."""
    below = beneath(place)
    through = job._replace(size_bytes=below.size_bytes, offset_bytes=below.in_file)
    raw = through._replace(path=below.path, offset_bytes=below.on_device)
    return [through, raw, raw, through]
