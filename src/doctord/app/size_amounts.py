"""What is given for a question of size, as people write it: `9.45MB/s`, `20min`, `70%`, `500:1.2ms,1000:1.4ms`."""

import re
from collections.abc import Callable
from typing import Final

from doctord.analyse.sizing.question import Curve, Input
from doctord.analyse.sizing.working import Given
from doctord.durations import parse_duration
from doctord.errors import Refusal
from doctord.sizes import parse_size

LONGEST: Final = 40  # characters of an amount; more is a mistake, and too much for a number
PER_S: Final = {"s": 1.0, "sec": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
NUMBER: Final = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(%?)\s*")
# More than any machine has: what is above is a slip of the unit.
MOST: Final = {
    "bytes": 2.0**60,
    "bytes_per_s": 1e15,
    "s": 10 * 365 * 86_400.0,
    "per_s": 1e10,
    "share": 1.0,
    "count": 1e15,
}


def parse_amount(text: str, asked: Input) -> Given | Curve:
    """What the user gives for an input, as a figure with its unit or as a curve.

    Raises:
        Refusal: it is no such figure, not above zero, or more than any machine has.
    """
    if " " in asked.unit:
        return Curve(asked.name, _points(text, asked), f"--{asked.option}")
    return Given(asked.name, _value(text, asked.unit, asked, zero=asked.zero), asked.unit, f"--{asked.option}")


def _points(text: str, asked: Input) -> tuple[tuple[float, float], ...]:
    units = asked.unit.split()
    points = [part.split(":") for part in text.split(",")]
    if any(len(point) != 2 for point in points):
        raise Refusal(f"--{asked.option} {text}: not a list of points", asked.help)
    read = {_value(x, units[0], asked, zero=False): _value(y, units[1], asked, zero=asked.zero) for x, y in points}
    if len(read) < len(points):
        raise Refusal(f"--{asked.option} {text}: two points stand at one place", asked.help)
    return tuple(sorted(read.items()))


def _value(text: str, unit: str, asked: Input, *, zero: bool) -> float:
    if len(text) > LONGEST:
        raise Refusal(f"--{asked.option}: {text[:LONGEST]}... is too long for an amount", asked.help)
    try:
        value = PARSERS[unit](text)
    except Refusal as refusal:
        raise Refusal(f"--{asked.option}: {refusal}", f"{refusal.hint} ({asked.help})") from refusal
    if value < 0 or (value == 0 and not zero):
        raise Refusal(f"--{asked.option} {text}: it must be above zero", asked.help)
    if asked.below is not None and value >= asked.below:
        raise Refusal(f"--{asked.option} {text}: it must be below {asked.below:.0%}", asked.help)
    if value > MOST[unit]:
        raise Refusal(f"--{asked.option} {text}: more than any machine has", f"look at the unit: {asked.help}")
    return value


def _rate_of_bytes(text: str) -> float:
    amount, seconds = _per(text)
    return parse_size(amount) / seconds


def _rate(text: str) -> float:
    amount, seconds = _per(text)
    return _number(amount) / seconds


def _per(text: str) -> tuple[str, float]:
    """What stands before the `/s` of a rate, and how many seconds that is; per second where nothing stands there."""
    amount, _, per = text.partition("/")
    seconds = PER_S.get(per.strip().lower() or "s")
    if seconds is None:
        raise Refusal(f"{text!r} is no rate", "write an amount and a time: 9.45MB/s, 500/s, 30/min")
    return amount, seconds


def _number(text: str) -> float:
    found = NUMBER.fullmatch(text.replace("_", ""))
    if not found or found[2]:
        raise Refusal(f"{text!r} is no number", "write digits: 30, 0.5")
    return float(found[1])


def _whole(text: str) -> float:
    number = _number(text)
    if number != int(number):
        raise Refusal(f"{text!r} is no whole number", "write digits alone: 30")
    return number


def _share(text: str) -> float:
    found = NUMBER.fullmatch(text)
    share = float(found[1]) / (100 if found[2] else 1) if found else 2.0
    if share > 1:
        raise Refusal(f"{text!r} is no part of a whole", "write a percentage or a part of one: 70%, 0.7")
    return share


PARSERS: Final[dict[str, Callable[[str], float]]] = {
    "bytes": parse_size,
    "bytes_per_s": _rate_of_bytes,
    "s": parse_duration,
    "per_s": _rate,
    "share": _share,
    "count": _whole,
}
