"""Values of settings as numbers: `16384` of `8kB`, `5min`, `1.5G`, in bytes, seconds, or as they are."""

import re
from typing import Final

QUANTITY: Final = re.compile(r"\s*([-+]?\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*")
_BYTES: Final = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40, "p": 1 << 50, "e": 1 << 60}
FACTORS: Final = {
    **{f"{letter}{tail}": float(size) for letter, size in _BYTES.items() for tail in ("b", "ib")},
    **{letter: float(size) for letter, size in _BYTES.items() if letter},
    "bytes": 1.0,
    "us": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "seconds": 1.0,
    "min": 60.0,
    "h": 3600.0,
    "d": 86400.0,
}


def number(value: str, unit: str | None = None) -> float | None:
    """A value as a number, in the unit given where it names none itself; null where it is no number.

    >>> number("16384", "8kB"), number("5min", "s"), number("1G"), number("on")
    (134217728.0, 300.0, 1073741824.0, None)
    """
    found = QUANTITY.fullmatch(value)
    if found is None:
        return None
    factor = FACTORS.get(found[2].lower()) if found[2] else factor_of(unit)
    return None if factor is None else float(found[1]) * factor


def factor_of(unit: str | None) -> float:
    """What one of a unit is in bytes or seconds; `8kB` is 8192, no unit 1."""
    found = re.fullmatch(r"(\d*)\s*([A-Za-z]+)", unit.strip()) if unit else None
    if found is None:
        return 1.0
    return int(found[1] or 1) * FACTORS.get(found[2].lower(), 1.0)
