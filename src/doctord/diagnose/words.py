"""Figures' surroundings in words: how findings write processes, calls and statements."""

from doctord.regex import regex

ADDRESS = regex(r"0x[0-9a-fA-F]{6,}")


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
