"""Figures with their units, as sizes write them."""

from typing import Final, Literal, TypeAlias

Unit: TypeAlias = Literal["bytes", "bytes_per_s", "s", "per_s", "share", "count"]

BINARY: Final = ("KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
DECIMAL: Final = ("kB", "MB", "GB", "TB", "PB", "EB")
LONGER: Final = (("d", 86_400.0), ("h", 3_600.0), ("min", 60.0), ("s", 1.0), ("ms", 1e-3), ("us", 1e-6))


def amount(value: float, unit: str) -> str:
    """A figure in words: four digits, and bytes in the units in which they come out even.

    >>> amount(12 * 2**30, "bytes"), amount(9.45e6, "bytes_per_s"), amount(500e6 / 9.45e6, "s")
    ('12 GiB', '9.45 MB/s', '52.91 s')
    >>> amount(2097152, "count"), amount(10 / 3, "per_s"), amount(0.00694, "share")
    ('2,097,152', '3.333/s', '0.694 %')
    """
    match unit:
        case "bytes":
            return _bytes(value)
        case "bytes_per_s":
            return f"{_bytes(value)}/s"
        case "s":
            return _time(value)
        case "per_s":
            return f"{_number(value)}/s"
        case "share":
            return f"{value * 100:.3g} %" if value < 10 else f"{value:.3g} times"
        case _:
            return _number(value)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 or value == round(value) else f"{value:.4g}"


def _bytes(value: float) -> str:
    if value < 1000:
        return f"{_number(value)} byte{'' if value == 1 else 's'}"
    scales = [scale for base, names in ((1024, BINARY), (1000, DECIMAL)) if (scale := _scaled(value, base, names))]
    even = next((scale for scale in scales if abs(scale[0] - round(scale[0], 2)) < 1e-9), scales[0])
    return f"{_number(even[0])} {even[1]}"


def _scaled(value: float, base: int, names: tuple[str, ...]) -> tuple[float, str] | None:
    """The value in the largest unit that leaves at least one; null where even the smallest leaves less."""
    powers = [power for power in range(1, len(names) + 1) if value >= base**power]
    return (value / base ** powers[-1], names[powers[-1] - 1]) if powers else None


def _time(seconds: float) -> str:
    name, size = next((pair for pair in LONGER if seconds >= 2 * pair[1] or seconds == pair[1]), LONGER[-1])
    return f"{_number(seconds / size)} {name}"
