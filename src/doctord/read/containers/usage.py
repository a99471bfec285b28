"""What the tools of containers have in common: sizes, and that they tell use and no waits."""

from typing import Any, Final

from doctord.regex import regex

SIZE: Final = regex(r"(?P<number>[\d.]+)\s*(?P<unit>[kKMGTPE]?i?B?)$")
POWERS: Final = {letter: power for power, letter in enumerate(("", "K", "M", "G", "T", "P", "E"))}
NOT_MEASURED: Final[dict[str, Any]] = {
    "kind": "not measured",
    "subject": "whether the containers waited for CPUs, memory or devices",
    "text": "what containers use tells nothing of what they wait for",
    "hint": "doctord record on the node: cpu.stat, memory.events and pressure of their control groups; the database's "
    "own waits",
}


def size_bytes(text: str) -> float | None:
    """A size with a unit of a thousand or, with an i, of 1024; null where there is none.

    >>> size_bytes("796KiB"), size_bytes("3.5 MB"), size_bytes("0B"), size_bytes("512Mi"), size_bytes("--")
    (815104.0, 3500000.0, 0.0, 536870912.0, None)
    """
    found = SIZE.match(text.strip())
    if found is None or found["number"].count(".") > 1 or found["number"] == ".":
        return None
    unit = found["unit"].removesuffix("B")
    thousand = 1024.0 if unit.endswith("i") else 1000.0
    return float(found["number"]) * thousand ** POWERS[unit.removesuffix("i").upper()]
