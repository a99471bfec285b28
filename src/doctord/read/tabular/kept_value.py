"""A figure as people write it into a table: with its unit, a bound, or how often."""

from typing import Final, NamedTuple

from doctord.read.tabular.kept_headings import SIZES, TIMES
from doctord.regex import regex

FIGURE: Final = regex(
    r"(?P<bound>[<>]=?)?\s*(?P<value>[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*(?P<unit>%|[A-Za-z]+)?"
    r"(?:\s+per\s+(?P<times>\d+)?\s*(?P<time>[a-z]+))?",
)
CLOCK: Final = regex(r"(\d+):([0-5]\d):([0-5]\d(?:\.\d+)?)")
LETTERS: Final = {"k": 1024.0, "m": 1024.0**2, "g": 1024.0**3, "t": 1024.0**4}
NONE_WANTED: Final = ("eliminate", "none", "zero")


class Value(NamedTuple):
    """A figure, in seconds, bytes, per second, per cent, or as it is: `unit` is s, bytes, per_s, pct or null."""

    number: float
    unit: str | None = None


def value_of(text: str) -> Value | None:
    """The figure in a cell; null where it holds none.

    >>> value_of("<2ms"), value_of("30%"), value_of("4M")
    (Value(number=0.002, unit='s'), Value(number=30.0, unit='pct'), Value(number=4194304.0, unit='bytes'))
    >>> value_of("1 per 7 minutes").unit, value_of("05:03:04"), value_of("no change")
    ('per_s', Value(number=18184.0, unit='s'), None)
    """
    if clock := CLOCK.fullmatch(text):
        return Value(3600.0 * int(clock[1]) + 60 * int(clock[2]) + float(clock[3]), "s")
    found = FIGURE.fullmatch(text)
    if found is None:
        return Value(0.0) if text.lower() in NONE_WANTED else None
    number, unit = float(found["value"]), (found["unit"] or "").lower()
    if found["time"]:
        over_s = TIMES.get(found["time"])
        return None if over_s is None else Value(number / (over_s * int(found["times"] or 1)), "per_s")
    if not unit or unit == "%":
        return Value(number, "pct" if unit else None)
    if unit in TIMES:
        return Value(number * TIMES[unit], "s")
    size = SIZES.get(unit) or LETTERS.get(unit)
    return None if size is None else Value(number * size, "bytes")
