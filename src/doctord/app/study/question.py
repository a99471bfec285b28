"""What is asked of a study, as people write it: targets."""

from typing import Final

from doctord.analyse.study.targets import OPERATORS, SCALES, Target
from doctord.errors import UserError
from doctord.regex import regex

HINT: Final = "write a figure, <, <=, > or >=, and a value: 'commit_ms < 2', 'log file sync < 5 ms'"
_TARGET: Final = regex(
    r"\s*(?P<name>[^<>=]+?)\s*(?P<operator>[<>]=?)\s*(?P<limit>\d+(?:\.\d+)?)\s*(?P<unit>[a-z%]*)\s*"
)


def target(text: str) -> Target:
    """A target as it is written.

    >>> target("commit_ms < 2")
    Target(name='commit_ms', operator='<', limit=2.0, unit='ms')

    Raises:
        UserError: it is none.
    """
    found = _TARGET.fullmatch(text)
    if found is None or found["operator"] not in OPERATORS:
        raise UserError(f"{text!r} is no target", HINT)
    last = found["name"].replace(" ", "_").rpartition("_")[2]
    unit = found["unit"].replace("%", "") or (last if last in SCALES else "")
    if unit and unit not in SCALES:
        raise UserError(f"{text!r}: there is no unit {unit!r}", f"units are {', '.join(SCALES)}, or none")
    return Target(found["name"], found["operator"], float(found["limit"]), unit or None)
