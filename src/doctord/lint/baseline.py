"""A baseline: violations that somebody accepts, why, and until when.

A TOML file with one `[[accept]]` for each:

    [[accept]]
    rule = "postgresql/fsync_off"
    subject = "postgresql:5433"
    reason = "a scratch cluster, filled anew every night"
    until = 2027-06-30

`rule`, `reason` and `until` must be there; `rule` and `subject` may be patterns (`*`, `?`, `[abc]`). After its day an
acceptance accepts nothing, and that is said.
"""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from fnmatch import fnmatchcase
from typing import Final

from doctord.errors import UserError
from doctord.lint.engine import Examined
from doctord.lint.violation import Violation

KEYS: Final = ("rule", "subject", "reason", "until")
FORM: Final = 'each [[accept]] needs rule, reason and until: until = 2027-06-30; subject = "postgresql:5432" if not all'


@dataclass(frozen=True, slots=True)
class Acceptance:
    """What is accepted: violations of which rule on whom, why, and the last day on which it holds."""

    rule: str
    subject: str
    reason: str
    until: date

    def holds(self, violation: Violation) -> bool:
        """Whether it is about this violation."""
        return fnmatchcase(violation.rule, self.rule) and fnmatchcase(violation.subject, self.subject)


def parsed(text: str, name: str) -> tuple[Acceptance, ...]:
    """The acceptances of a baseline file; `name` is what to call it.

    Raises:
        UserError: it is no TOML, or an acceptance lacks something, or has what there is not.
    """
    try:
        held = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{name}: {error}", FORM) from error
    entries = held.pop("accept", [])
    if held or not isinstance(entries, list):
        raise UserError(f"{name}: nothing but [[accept]] is known, there is {', '.join(held) or 'accept'}", FORM)
    return tuple(_acceptance(entry, f"{name}: accept {number}") for number, entry in enumerate(entries, 1))


def accepted(examined: Examined, acceptances: Sequence[Acceptance], today: date) -> tuple[Examined, tuple[str, ...]]:
    """The examination without what is accepted, and what is to be said of acceptances that are out of date or idle."""
    kept, excused = list[Violation](), list[tuple[Violation, str]]()
    for violation in examined.violations:
        by = next((one for one in acceptances if one.holds(violation) and one.until >= today), None)
        if by:
            excused.append((violation, f"{by.reason} (until {by.until})"))
        else:
            kept.append(violation)
    return replace(examined, violations=tuple(kept), accepted=tuple(excused)), _idle(examined, acceptances, today)


def _idle(examined: Examined, acceptances: Sequence[Acceptance], today: date) -> tuple[str, ...]:
    """A line for each acceptance whose day is past, or that is about nothing any more."""
    said = list[str]()
    for one in acceptances:
        about = f"{one.rule} on {one.subject}"
        if not any(one.holds(violation) for violation in examined.violations):
            said.append(f"{about} is accepted, but nobody says it: take it out of the baseline")
        elif one.until < today:
            said.append(f"{about} was accepted until {one.until}: {one.reason}")
    return tuple(said)


def _acceptance(entry: object, name: str) -> Acceptance:
    if not isinstance(entry, dict) or (unknown := set(entry) - set(KEYS)):
        raise UserError(f"{name}: what is {', '.join(sorted(unknown)) if isinstance(entry, dict) else entry}?", FORM)
    for key in ("rule", "reason"):
        if not isinstance(entry.get(key), str) or not entry[key].strip():
            raise UserError(f"{name} has no {key}", FORM)
    until = entry.get("until")
    if type(until) is not date:
        raise UserError(f"{name}: until is no day: {until!r}", FORM)
    return Acceptance(entry["rule"], str(entry.get("subject", "*")), entry["reason"].strip(), until)
