"""Lengths of time as people write them: `20s`, `5m`, `1.5h`, `7d`."""

import re

from doctord.errors import Refusal

UNITS_S = {"us": 1e-6, "ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}


def parse_duration(text: str) -> float:
    """Seconds of a duration such as `20s`, `5m`, `1.5h`, `7d`, or a plain number of seconds.

    >>> parse_duration("1.5h")
    5400.0
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", text)
    if not match or (match[2] or "s") not in UNITS_S:
        raise Refusal(f"{text!r} is no duration", "write a number and a unit: 500ms, 20s, 5m, 1.5h, 7d")
    return float(match[1]) * UNITS_S[match[2] or "s"]
