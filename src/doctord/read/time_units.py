"""Units of latencies as tools write them."""

from doctord.units import SECONDS


def unit_us(name: str) -> float | None:
    """Microseconds in a unit; null when it is none of time, or longer than a second: a column `d` or `w` is none.

    >>> unit_us("msecs"), unit_us("bytes")
    (1000.0, None)
    """
    size_s = SECONDS.get(name.strip().lower())
    return None if size_s is None or size_s > 1 else size_s * 1e6
