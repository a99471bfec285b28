"""What a load test of storage is to be, within its bounds."""

from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias, get_args

from doctord.errors import UserError

Series: TypeAlias = Literal["depth", "rate", "block", "mix", "beneath", "sustained"]
SERIES: Final[tuple[Series, ...]] = get_args(Series)
USUAL: Final[tuple[Series, ...]] = ("depth", "rate", "block")
LEAST_STEP_S, MOST_STEP_S = 5, 3600
MOST_REPEATS: Final = 20
MOST_DEPTH: Final = 256
LEAST_BLOCK, MOST_BLOCK = 512, 16 << 20
LEAST_SIZE: Final = 16 << 20


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


def series_named(text: str) -> tuple[Series, ...]:
    """The series of a list of their names, parted by commas.

    Raises:
        UserError: one of them is none.
    """
    names = [name.strip() for name in text.split(",") if name.strip()]
    if unknown := next((name for name in names if name not in SERIES), None):
        raise UserError(f"{unknown!r} is nothing that can be varied", f"these can: {', '.join(SERIES)}")
    return tuple(one for one in SERIES if one in names)


def check(asked: Asked) -> None:
    """Refuse what is out of bounds.

    Raises:
        UserError: something is.
    """
    bounds: tuple[tuple[str, float, float, float], ...] = (
        ("--for", asked.step_s, LEAST_STEP_S, MOST_STEP_S),
        ("--steady-within", asked.steady_within_s, 2 * asked.step_s, MOST_STEP_S),
        ("--repeats", asked.repeats, 1, MOST_REPEATS),
        ("--depth", asked.most_depth, 2, MOST_DEPTH),
        ("--block", asked.block_bytes, LEAST_BLOCK, MOST_BLOCK),
        ("--reads", asked.read_pct, 0, 100),
    )
    for name, value, least, most in bounds:
        if not least <= value <= most:
            raise UserError(f"{name} {value:g} is too little or too much", f"{least:g} to {most:g}")
    if asked.block_bytes % LEAST_BLOCK:
        raise UserError(f"--block {asked.block_bytes} is no multiple of {LEAST_BLOCK} bytes", "8KiB, say")
    if asked.size_bytes is not None and 0 < asked.size_bytes < LEAST_SIZE:
        raise UserError(f"--size {asked.size_bytes} bytes is too little", "1GiB, say: larger than what caches it")
