"""Units, decided once: how figures with a unit are read, and how they are written.

Inside, a size is in bytes, a time in seconds, a share between 0 and 1. A kB, MB or GB is of 1024, whoever writes it,
and is written KiB, MiB or GiB, rates too. `m` is minutes in a length of time and MiB in a size: who reads says which of
the two is asked for. Why: docs/decisions/0016-units.md.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from math import floor, isfinite, log10
from typing import Final, TypeAlias

from doctord.errors import UserError
from doctord.regex import regex

MIB: Final = 1 << 20
GIB: Final = 1 << 30

# What one of each is, by its name in small letters.
BYTES: Final[Mapping[str, float]] = {
    **dict.fromkeys(("", "b", "byte", "bytes"), 1.0),
    **{f"{letter}{end}": 1024.0**power for power, letter in enumerate("kmgtpe", 1) for end in ("", "b", "ib")},
}
_TIMES: Final = (
    (1e-9, "ns nsec nsecs nanosec nanosecs nanosecond nanoseconds"),
    (1e-6, "us usec usecs µs microsec microsecs microsecond microseconds"),
    (1e-3, "ms msec msecs millisec millisecs millisecond milliseconds"),
    (1.0, "s sec secs second seconds"),
    (60.0, "m min mins minute minutes"),
    (3_600.0, "h hour hours"),
    (86_400.0, "d day days"),
    (604_800.0, "w week weeks"),
)
SECONDS: Final[Mapping[str, float]] = {name: size for size, names in _TIMES for name in names.split()}
_EITHER: Final[Mapping[str, float]] = {**SECONDS, **BYTES}

_FIGURE: Final = regex(r"\s*([-+]?\d+(?:\.\d+)?)\s*([A-Za-zµ]*|%)\s*")
_PART: Final = regex(r"(\d+(?:\.\d+)?)\s*([a-zµ]*)\s*")


def parse(text: str, unit: str) -> float:
    """A figure as people write it, as `bytes`, `s`, `bytes_per_s`, `per_s`, a `share` (0 to 1) or a whole `count`.

    >>> parse("8G", "bytes") == parse("8GB", "bytes") == parse("8GiB", "bytes") == 8 * 2**30
    True
    >>> parse("1h 30m", "s"), parse("9.5MB/s", "bytes_per_s"), parse("30/min", "per_s"), parse("70%", "share")
    (5400.0, 9961472.0, 0.5, 0.7)

    Raises:
        UserError: it is no such figure, or has a unit that does not exist.
    """
    read, what, hint = _READERS[unit]
    value = read(text)
    if value is None or value < 0 or not isfinite(value):
        raise UserError(f"{text!r} is no {what}", hint)
    return value


def parse_duration(text: str) -> float:
    """Seconds of a duration such as `20s`, `5m`, `1h 30m`, `7d`, or a plain number of seconds.

    >>> parse_duration("1.5h")
    5400.0
    """
    return parse(text, "s")


def parse_wait(text: str) -> float:
    """Seconds of a duration in which something is to be seen: zero is refused.

    >>> parse_wait("2m")
    120.0
    """
    if seconds := parse_duration(text):
        return seconds
    raise UserError(f"{text!r} is no time to wait", "give a duration above zero: 20s")


def parse_size(text: str) -> int:
    """Whole bytes of a size such as `10GB`, `512MiB`, or a plain number of bytes.

    >>> parse_size("1.5MB")
    1572864
    """
    return round(parse(text, "bytes"))


def setting_number(value: str, unit: str | None = None) -> float | None:
    """A setting's value in bytes, in seconds or as it is; null where it is no number, or of another kind than its unit.

    A unit of its own comes before the one given. Where none is given sizes come first: a bare `m` is MySQL's and
    Oracle's 1024 x 1024. Vendors are stricter, and mind the case: rules of theirs say so.

    >>> [setting_number(*one) for one in (("16384", "8kB"), ("5min", "s"), ("5m", "s"), ("5m",), ("on",))]
    [134217728.0, 300.0, 300.0, 5242880.0, None]
    """
    found = _FIGURE.fullmatch(value)
    if found is None:
        return None
    one = _sizes_like(unit).get(found[2].lower()) if found[2] else one_of(unit)
    return None if one is None else float(found[1]) * one


def one_of(unit: str | None) -> float:
    """What one of a setting's unit is in bytes or seconds: 8192 of `8kB`; 1 of none, or of one that counts neither."""
    times, name = _parted(unit)
    return times * _EITHER.get(name, 1.0)


def _sizes_like(unit: str | None) -> Mapping[str, float]:
    """The units of the same kind: of bytes, of time; either where it is neither."""
    _, name = _parted(unit)
    return BYTES if name and name in BYTES else SECONDS if name in SECONDS else _EITHER


def _parted(unit: str | None) -> tuple[int, str]:
    """How many of what a unit is: `8kB` is 8 of `kb`."""
    found = re.fullmatch(r"(\d*)\s*([A-Za-z]+)", unit.strip()) if unit else None
    return (int(found[1] or 1), found[2].lower()) if found else (1, "")


def _size(text: str) -> float | None:
    found = _FIGURE.fullmatch(text)
    one = BYTES.get(found[2].lower()) if found else None
    return float(found[1]) * one if found and one else None


def seconds_of(text: str) -> float | None:
    """Seconds of a length of time in one part or several, the last perhaps without a unit; null where it is none.

    >>> seconds_of("1min 30s"), seconds_of("90"), seconds_of("infinity")
    (90.0, 90.0, None)
    """
    parts = _PART.findall(text)
    if not parts or _PART.sub("", text).strip() or not all(unit for _, unit in parts[:-1]):
        return None
    if any(unit and unit not in SECONDS for _, unit in parts):
        return None
    return sum(float(count) * SECONDS[unit or "s"] for count, unit in parts)


def _number(text: str) -> float | None:
    found = _FIGURE.fullmatch(text.replace("_", ""))
    return float(found[1]) if found and not found[2] else None


def _count(text: str) -> float | None:
    value = _number(text)
    return value if value is not None and value.is_integer() else None


def _share(text: str) -> float | None:
    found = _FIGURE.fullmatch(text)
    if not found or found[2] not in {"", "%"}:
        return None
    share = float(found[1]) / (100 if found[2] else 1)
    return share if share <= 1 else None


def _per_s(read: Callable[[str], float | None]) -> Callable[[str], float | None]:
    """A reader of rates: per second where nothing, or only a slash, follows the amount."""

    def rate(text: str) -> float | None:
        amount, _, per = text.partition("/")
        value, seconds = read(amount), SECONDS.get(per.strip().lower() or "s")
        return value / seconds if value is not None and seconds else None

    return rate


_RATE: Final = "write an amount and a time: 9.45MiB/s, 500/s, 30/min"
_READERS: Final[Mapping[str, tuple[Callable[[str], float | None], str, str]]] = {
    "bytes": (_size, "size", "write a number and a unit: 500MiB, 10GiB; MB and GB mean the same"),
    "s": (seconds_of, "duration", "write a number and a unit: 500ms, 20s, 5m, 1.5h, 7d"),
    "bytes_per_s": (_per_s(_size), "rate", _RATE),
    "per_s": (_per_s(_number), "rate", _RATE),
    "share": (_share, "part of a whole", "write a percentage or a part of one: 70%, 0.7"),
    "count": (_count, "whole number", "write digits alone: 30"),
}

# How figures are written: names of units with what one of them is, from the largest down.
Ladder: TypeAlias = Sequence[tuple[str, float]]
_SIZES: Final[Ladder] = (
    *((f"{letter}iB", 1024.0 ** (6 - place)) for place, letter in enumerate("EPTGMK")),
    ("B", 1.0),
)
_LATENCIES: Final[Ladder] = (("s", 1.0), ("ms", 1e-3), ("us", 1e-6))
_LENGTHS: Final[Ladder] = (("d", 86_400.0), ("h", 3_600.0), ("min", 60.0))
_LETTERS: Final[Ladder] = (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3), ("", 0.0))
LONG: Final = 1e5  # has more digits than can be read at a glance


def number(value: float, digits: int = 3) -> str:
    """A number in so many digits, or all those before its point, without an exponent where one can do without.

    >>> number(12.345), number(12345.6), number(0.61), number(12.3456, 4), number(99.6, 2), number(1.34e-6)
    ('12.3', '12,346', '0.61', '12.35', '100', '0.0000013')
    """
    if abs(value) >= 10**digits - 0.5:
        return f"{value:,.0f}"
    if 0 < abs(value) < 1e-4:
        return f"{value:.{1 - floor(log10(abs(value)))}f}".rstrip("0")
    return f"{value:,.{digits}g}"


def quantity(value: float | None, unit: str, digits: int = 3) -> str:
    """A value in so many digits, with its unit as tables name it; a dash for what was not measured.

    >>> quantity(12_345_678_901.0, "bytes"), quantity(415_219.0, "blocks_per_s"), quantity(None, "ms")
    ('11.5 GiB', '415 k blocks/s', '-')
    >>> quantity(5400.0, "s"), quantity(0.0129, "s"), quantity(9.451 * 2**20, "bytes_per_s", 4)
    ('90 min', '12.9 ms', '9.451 MiB/s')
    """
    if value is None:
        return "-"
    size, name = scale(value, unit, digits)
    return f"{number(value / size, digits)} {name}".rstrip()


def scale(most: float, unit: str, digits: int = 3) -> tuple[float, str]:
    """What values up to `most` are divided by, and the name of the unit then."""
    most = abs(most)
    if unit in {"bytes", "bytes_per_s"}:
        size, name = _largest(most, _SIZES, digits)
        return size, name + unit.removeprefix("bytes").replace("_per_", "/")
    if unit == "s":
        # 90 s and 36 h are said so, but 1 min and 1 d too.
        long = next(((size, name) for name, size in _LENGTHS if most >= 2 * size or most == size), None)
        return long or _largest(most, _LATENCIES, digits)
    size, letter = _letter(most, LONG)
    name = "/s" if unit == "per_s" else unit.replace("_per_s", "/s").replace("_", " ")
    return size, f"{letter} {name}".strip()


def in_latency(seconds: float, digits: int = 3) -> str:
    """A latency in s, ms or us, however long it is: they are compared with one another.

    >>> in_latency(64e-6), in_latency(0.008192), in_latency(0.0009997), in_latency(1234.6)
    ('64 us', '8.19 ms', '1 ms', '1,235 s')
    """
    size, name = _largest(abs(seconds), _LATENCIES, digits)
    return f"{number(seconds / size, digits)} {name}"


def in_letters(count: float, least: float = LONG) -> str:
    """A count in three digits, from `least` on with a letter for its thousands or millions.

    >>> in_letters(1_234_567.0), in_letters(1_234.0, 1e3), in_letters(1_234.0)
    ('1.23 M', '1.23 k', '1,234')
    """
    size, letter = _letter(abs(count), least)
    return f"{number(count / size)} {letter}".rstrip()


def in_share(share: float) -> str:
    """A share (0 to 1) in percent, with a digit after the point below ten.

    >>> in_share(0.034)
    '3.4 %'
    """
    percent = share * 100
    return f"{percent:.0f} %" if percent >= 10 else f"{percent:.1f} %"


def in_bytes(count: float) -> str:
    """Bytes in a sentence or a column: one digit after the point below a hundred.

    >>> in_bytes(1536 * 1024)
    '1.5 MiB'
    """
    size, name = _largest(abs(count), _SIZES)
    return f"{count / size:.{0 if name == 'B' or abs(count) >= 100 * size else 1}f} {name}"


def in_time(seconds: float) -> str:
    """A time in a sentence or a column, in s, ms or us: with as many digits after the point whatever it is.

    >>> in_time(0.1298), in_time(0.0000175), in_time(126.21), in_time(0)
    ('129.8 ms', '17.5 us', '126.21 s', '0 s')
    """
    if not seconds:
        return "0 s"
    size, name = _largest(abs(seconds), _LATENCIES)
    return f"{seconds / size:.{2 if name == 's' else 1}f} {name}"


def in_rate(per_second: float, what: str = "") -> str:
    """How often a second, in three digits.

    >>> in_rate(3.3344), in_rate(10234.5, "commits")
    ('3.33 a second', '10,234 commits a second')
    """
    return f"{number(per_second)} {what} a second" if what else f"{number(per_second)} a second"


def duration(seconds: float) -> str:
    """A length of time in its two largest units.

    >>> duration(0.5), duration(52.91), duration(5400), duration(86_460)
    ('500 ms', '52.9 s', '1 h 30 min', '1 d')
    """
    if seconds < 60:
        return f"{number(seconds)} s" if seconds >= 1 else f"{number(1000 * seconds)} ms"
    parts, rest = list[tuple[int, str]](), round(seconds)
    for name, size in (*_LENGTHS, ("s", 1.0)):
        count, rest = divmod(rest, int(size))
        parts.append((count, name))
    largest = next(i for i, (count, _) in enumerate(parts) if count)
    return " ".join(f"{count} {name}" for count, name in parts[largest : largest + 2] if count)


def _largest(most: float, ladder: Ladder, digits: int = 15) -> tuple[float, str]:
    """The largest unit of which `most` is at least one, in so many digits; else the smallest."""
    least = most / (1 - 0.5 / 10**digits)
    return next(((size, name) for name, size in ladder if least >= size), ladder[-1][::-1])


def _letter(most: float, least: float) -> tuple[float, str]:
    size, letter = _largest(most, _LETTERS, 3)
    return (size, letter) if size and most >= least * (1 - 0.0005) else (1.0, "")
