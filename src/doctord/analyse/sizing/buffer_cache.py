"""Buffer cache: the size above which more of it saves hardly a read."""

from itertools import pairwise
from typing import Final, TypeAlias

from doctord.analyse.sizing.amounts import amount
from doctord.analyse.sizing.question import Curve, Input, Question, Setting, Sizing, given_lines, known
from doctord.analyse.sizing.working import Given, Number, Quantity, Step
from doctord.errors import UserError
from doctord.units import MIB

ADVICE: Final = 'Oracle Database Performance Tuning Guide 19c, "Tuning the Database Buffer Cache", V$DB_CACHE_ADVICE'
F05: Final = 'G. Fawcett, "Demystifying high-end server behavior", 2005'
FEWEST: Final = 2
# A point of the curve this near to the size now stands for it.
NEAR: Final = 0.01
# Points nearer to each other than this tell the same.
APART: Final = 1.3

Point: TypeAlias = tuple[float, Given]

INPUTS: Final = (
    Input(
        "advice",
        "reads by size",
        "bytes count",
        "Physical reads at sizes of the cache, advised (V$DB_CACHE_ADVICE, AWR) or measured, as PostgreSQL has no such "
        "advice: 4GiB:900000,8GiB:400000,16GiB:390000.",
    ),
    Input("size", "cache now", "bytes", "Size of the cache now: 8GiB.", needed=False),
    Input("most", "most there is", "bytes", "The largest cache that the memory allows: 40GiB.", needed=False),
    Input(
        "worth",
        "worth having",
        "share",
        "Part of the reads saved for each part of cache added: at 10% a tenth more must save a hundredth.",
        assumed=0.1,
        because="where a tenth more saves less than a hundredth of the reads, the curve is flat",
    ),
    Input("read", "time of a read", "s", "Mean time of a physical read, to tell the time saved: 5ms.", needed=False),
)


def buffer_cache(
    *,
    advice: Curve,
    worth: Quantity,
    size: Quantity | None = None,
    most: Quantity | None = None,
    read: Quantity | None = None,
) -> Sizing:
    """From one size of the curve to the next: part of the reads saved / part of the cache added; the last worth it."""
    points = _points(advice, size, most)
    gains = [(above[0], _gain(below, above)) for below, above in pairwise(points)]
    worthy = [cache for cache, gain in gains if gain.value >= worth.value]
    best = worthy[-1] if worthy else points[0][0]
    saved = _saved(points, size, best)
    time = (saved * read).step("time of these reads", "s", F05) if saved and read else None
    return Sizing(
        _answer(best, worth, still_falling=best == points[-1][0]),
        known(*(gain for _, gain in gains), saved, time),
        (Setting("db_cache_size", f"{best / MIB:.0f}M", "the least, where sga_target rules"),),
        _cautions(points, worthy),
        size.value >= best if size else None,
    )


def _cautions(points: list[Point], worthy: list[float]) -> tuple[str, ...]:
    return given_lines(
        bool(worthy)
        and worthy[-1] == points[-1][0]
        and "The curve still falls at its end: more may be worth it; advice of larger sizes tells.",
        not worthy
        and "The curve is flat from its beginning: a smaller cache may do, or what is read does not come back.",
        "A hit ratio says nothing of this: 99.88 % hits left 700 reads a second, and 43 % of the time in them.",
        "Advice is of the load in its interval: ask it for the busiest.",
    )


def _points(advice: Curve, size: Quantity | None, most: Quantity | None) -> list[Point]:
    """The points of the curve up to the most there is, well apart, the size now among them."""
    kept = list[Point]()
    for cache, reads in advice.points:
        if reads <= 0 or (most and cache > most.value):
            continue
        is_now = size is not None and abs(cache - size.value) <= NEAR * size.value
        if not kept or cache >= APART * kept[-1][0] or is_now or cache == advice.points[-1][0]:
            kept.append((cache, _reads(cache, reads, advice)))
    if len(kept) < FEWEST:
        raise UserError("a curve of reads by size needs two sizes at least", "give --advice 4GiB:900000,8GiB:400000")
    return kept


def _answer(best: float, worth: Quantity, *, still_falling: bool) -> str:
    if still_falling:
        return f"{amount(best, 'bytes')} or more: the largest size of the curve is still worth having."
    return (
        f"{amount(best, 'bytes')}: above it a tenth more cache saves less than {amount(worth.value / 10, 'share')} of "
        "the reads."
    )


def _reads(cache: float, reads: float, advice: Curve) -> Given:
    return Given(f"reads at {amount(cache, 'bytes')}", reads, "count", advice.origin)


def _gain(below: Point, above: Point) -> Step:
    """Part of the reads saved for the part of the cache added."""
    (small, many), (large, few) = below, above
    added = Number(large, "bytes") / Number(small, "bytes") - 1
    name = f"{amount(small, 'bytes')} to {amount(large, 'bytes')} saves"
    return ((many - few) / many / added).step(name, "share", ADVICE)


def _saved(points: list[Point], size: Quantity | None, best: float) -> Step | None:
    """Reads that the best size saves against the size now, where the curve has that."""
    reads = dict(points)
    now = min(reads, key=lambda cache: abs(cache - size.value)) if size else None
    if size is None or now is None or abs(now - size.value) > NEAR * size.value or now == best:
        return None
    return (reads[now] - reads[best]).step("reads saved", "count", ADVICE)


QUESTION: Final = Question("buffer-cache", "How large a buffer cache is worth having?", INPUTS, buffer_cache)
