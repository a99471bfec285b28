"""What-ifs as people write them: `20%` more, `2027-01-01 +30%`, `40GiB to users`."""

from collections.abc import Sequence
from typing import Final

from doctord.analyse.capacity.whatif import Change
from doctord.errors import UserError
from doctord.moments import parse_moment
from doctord.regex import regex
from doctord.units import parse_size

PERCENT: Final = regex(r"\s*([+-]?\d+(?:\.\d+)?)\s*%\s*")


def changes(growth: str | None, steps: Sequence[str], additions: Sequence[str]) -> list[Change]:
    """The what-ifs that the user names.

    Args:
        growth: So much more from now on.
        steps: A moment each, and so much more from then on.
        additions: A size each, and what takes it.

    Raises:
        UserError: one of them is not of its form.
    """
    made = [Change(f"{growth.strip()} more", factor=_factor(growth))] if growth else []
    for text in steps:
        moment, _, share = text.strip().rpartition(" ")
        if not moment:
            raise UserError(f"{text!r} is no step", "write it as '2027-01-01 +30%'")
        made.append(Change(f"{share} from {moment}", factor=_factor(share), since=parse_moment(moment)))
    for text in additions:
        size, found, name = text.partition(" to ")
        if not found:
            raise UserError(f"{text!r} is no addition", "write it as '40GiB to users'")
        made.append(Change(text, added=float(parse_size(size)), unit="bytes", entity=name.strip()))
    return made


def _factor(text: str) -> float:
    found = PERCENT.fullmatch(text)
    if not found or float(found[1]) <= -100:
        raise UserError(f"{text!r} is no growth", "write it as 20%, +30% or -10%")
    return 1 + float(found[1]) / 100
