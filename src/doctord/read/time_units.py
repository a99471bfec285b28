"""Units of time as tools write them."""

UNITS_US = {
    1e-3: ("ns", "nsec", "nsecs", "nanosec", "nanosecs", "nanosecond", "nanoseconds"),
    1.0: ("us", "usec", "usecs", "µs", "microsec", "microsecs", "microsecond", "microseconds"),
    1e3: ("ms", "msec", "msecs", "millisec", "millisecs", "millisecond", "milliseconds"),
    1e6: ("s", "sec", "secs", "second", "seconds"),
}
_US_OF = {name: us for us, names in UNITS_US.items() for name in names}


def unit_us(name: str) -> float | None:
    """Microseconds in a unit; null when it is none of time.

    >>> unit_us("msecs"), unit_us("bytes")
    (1000.0, None)
    """
    return _US_OF.get(name.strip().lower())
