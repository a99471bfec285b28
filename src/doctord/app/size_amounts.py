"""What is given for a question of size, as people write it: `9.45MiB/s`, `20min`, `70%`, `500:1.2ms,1000:1.4ms`."""

from typing import Final

from doctord.analyse.sizing.question import Curve, Input
from doctord.analyse.sizing.working import Given
from doctord.errors import UserError
from doctord.units import parse

LONGEST: Final = 40  # characters of an amount; more is a mistake, and too much for a number
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
        UserError: it is no such figure, not above zero, or more than any machine has.
    """
    if " " in asked.unit:
        return Curve(asked.name, _points(text, asked), f"--{asked.option}")
    return Given(asked.name, _value(text, asked.unit, asked, zero=asked.zero), asked.unit, f"--{asked.option}")


def _points(text: str, asked: Input) -> tuple[tuple[float, float], ...]:
    units = asked.unit.split()
    points = [part.split(":") for part in text.split(",")]
    if any(len(point) != 2 for point in points):
        raise UserError(f"--{asked.option} {text}: not a list of points", asked.help)
    read = {_value(x, units[0], asked, zero=False): _value(y, units[1], asked, zero=asked.zero) for x, y in points}
    if len(read) < len(points):
        raise UserError(f"--{asked.option} {text}: two points stand at one place", asked.help)
    return tuple(sorted(read.items()))


def _value(text: str, unit: str, asked: Input, *, zero: bool) -> float:
    if len(text) > LONGEST:
        raise UserError(f"--{asked.option}: {text[:LONGEST]}... is too long for an amount", asked.help)
    try:
        value = parse(text, unit)
    except UserError as refusal:
        raise UserError(f"--{asked.option}: {refusal}", f"{refusal.hint} ({asked.help})") from refusal
    if value < 0 or (value == 0 and not zero):
        raise UserError(f"--{asked.option} {text}: it must be above zero", asked.help)
    if asked.below is not None and value >= asked.below:
        raise UserError(f"--{asked.option} {text}: it must be below {asked.below:.0%}", asked.help)
    if value > MOST[unit]:
        raise UserError(f"--{asked.option} {text}: more than any machine has", f"look at the unit: {asked.help}")
    return value
