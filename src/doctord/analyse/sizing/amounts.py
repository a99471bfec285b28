"""Figures with their units, as sizes write them."""

from doctord.units import number, quantity

DIGITS = 4  # of arithmetic that is to be followed


def amount(value: float, unit: str) -> str:
    """A figure in words, in four digits.

    >>> amount(12 * 2**30, "bytes"), amount(9.45 * 2**20, "bytes_per_s"), amount(500 / 9.45, "s")
    ('12 GiB', '9.45 MiB/s', '52.91 s')
    >>> amount(2097152, "count"), amount(10 / 3, "per_s"), amount(0.00694, "share")
    ('2,097,152', '3.333/s', '0.694 %')
    """
    match unit:
        case "bytes" | "bytes_per_s" | "s":
            return quantity(value, unit, DIGITS)
        case "per_s":
            return f"{number(value, DIGITS)}/s"
        case "share":
            return f"{value * 100:.3g} %" if value < 10 else f"{value:.3g} times"
        case _:
            return number(value, DIGITS)
