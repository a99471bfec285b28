"""Figures in words: how findings write shares, bytes, times, calls."""

import re

ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")


def in_share(share: float) -> str:
    """A share (0 to 1) in percent, with a digit after the point below ten.

    >>> in_share(0.034)
    '3.4 %'
    """
    percent = share * 100
    return f"{percent:.0f} %" if percent >= 10 else f"{percent:.1f} %"


def in_bytes(count: float) -> str:
    """Bytes in the largest binary unit that leaves at least one.

    >>> in_bytes(1536 * 1024)
    '1.5 MiB'
    """
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(count) < 1024:
            return f"{count:.0f} {unit}" if unit == "B" or count >= 100 else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"


def in_time(seconds: float) -> str:
    """A length of time in the largest unit of s, ms and us that leaves at least one.

    >>> in_time(0.1298), in_time(0.0000175), in_time(126.21)
    ('129.8 ms', '17.5 us', '126.21 s')
    """
    if seconds >= 1 or seconds == 0:
        return f"{seconds:.2f} s" if seconds else "0 s"
    return f"{seconds * 1e3:.1f} ms" if seconds >= 0.001 else f"{seconds * 1e6:.1f} us"


def in_rate(per_second: float, what: str = "") -> str:
    """How often a second, in three digits.

    >>> in_rate(3.3344), in_rate(10234.5, "commits")
    ('3.33 a second', '10,234 commits a second')
    """
    number = f"{per_second:.3g}" if per_second < 1000 else f"{per_second:,.0f}"
    return f"{number} {what} a second" if what else f"{number} a second"


def who(role: str) -> str:
    """A process by its role; where that is a bare number, it is its id, and 0 means that the trace names none.

    >>> who("child (oracle)"), who("15697"), who("0")
    ('child (oracle)', 'process 15697', 'the process')
    """
    if not role.isdigit():
        return role
    return f"process {role}" if int(role) else "the process"


def ordinal(count: int) -> str:
    """Which time it is.

    >>> ordinal(1), ordinal(2), ordinal(12), ordinal(23)
    ('1st', '2nd', '12th', '23rd')
    """
    ends = {1: "st", 2: "nd", 3: "rd"}
    return f"{count}{'th' if count % 100 in (11, 12, 13) else ends.get(count % 10, 'th')}"


def arguments(text: str, length: int) -> str:
    """Arguments of a call without addresses, which tell nothing to a reader, cut at a length.

    >>> arguments("CL_CONFIG, 17, 0xFFFFFFFF7FFF4FB8", 44)
    'CL_CONFIG, 17, ...'
    """
    return shortened(ADDRESS.sub("...", text), length)


def shortened(text: str, length: int = 120) -> str:
    """Text on one line, cut at a length.

    >>> shortened("select  *   from t", 12)
    'select * ...'
    """
    flat = " ".join(text.split())
    return flat if len(flat) <= length else f"{flat[: length - 3]}..."
