"""Sizes as people write them: `10GB`, `512MiB`."""

import re

from doctord.errors import Refusal


def parse_size(text: str) -> int:
    """Bytes of a size such as `10GB`, `512MiB` or a plain number of bytes; 1 kB is 1000 bytes, 1 KiB 1024.

    >>> parse_size("1.5MiB")
    1572864
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(?:([kmgt])(i?))?b?\s*", text.lower())
    if not match:
        raise Refusal(f"{text!r} is no size", "write a number and a unit: 500MB, 10GB, 64GiB")
    base = 1024 if match[3] else 1000
    return round(float(match[1]) * float(base) ** " kmgt".index(match[2] or " "))
