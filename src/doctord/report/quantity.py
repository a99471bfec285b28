"""Values with their units as people read them: `12.3 GB`, `81.5 %`, `1.2 MB/s`, `14 ms`."""

from doctord.report.plot import number

SIZES = (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3))
LONG = 1e5  # has more digits than can be read at a glance
BYTES = {"bytes": "B", "bytes_per_s": "B/s"}


def quantity(value: float | None, unit: str) -> str:
    """A value in three digits with its unit; a dash for what was not measured.

    >>> quantity(12_345_678_901.0, "bytes"), quantity(415_219.0, "blocks_per_s"), quantity(None, "ms")
    ('12.3 GB', '415 k blocks/s', '-')
    """
    if value is None:
        return "-"
    divisor, name = scale(abs(value), unit)
    return f"{number(value / divisor)} {name}".rstrip()


def scale(most: float, unit: str) -> tuple[float, str]:
    """What values up to `most` are divided by, and the name of the unit then: 1 GB is 1,000,000,000 bytes."""
    if unit in BYTES:
        letter, divisor = next(((letter, size) for letter, size in SIZES if most >= size), ("", 1.0))
        return divisor, f"{letter}{BYTES[unit]}"
    name = "/s" if unit == "per_s" else unit.replace("_per_s", "/s").replace("_", " ")
    letter, divisor = next(((letter, size) for letter, size in SIZES if most >= max(size, LONG)), ("", 1.0))
    return divisor, f"{letter} {name}".strip()
