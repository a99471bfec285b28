"""What a rule is: one function on a subject, documented under fixed headings, that yields violations."""

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from doctord.dataset.catalogue import Version
from doctord.lint.violation import Violation

if TYPE_CHECKING:
    from doctord.lint.subject import Subject

HEADINGS = ("Why", "Evidence", "Fix", "Verify", "Source")

Check = Callable[["Subject"], Iterator[Violation]]


@dataclass(frozen=True)
class Rule:
    """A rule: its name (`component/function`), documentation by heading, for which versions, and how to look.

    `since` is the first version that it holds for, `until` the first that it does not.
    """

    name: str
    component: str
    summary: str
    sections: dict[str, str]
    since: Version | None
    until: Version | None
    check: Check

    def holds_for(self, version: Version | None) -> bool:
        """Whether it is for that version; for an unknown one it is."""
        if version is None:
            return True
        return (self.since is None or version >= self.since) and (self.until is None or version < self.until)

    def violations(self, subject: "Subject") -> Iterator[Violation]:
        """What it says of a subject, completed from its documentation."""
        for violation in self.check(subject):
            yield replace(
                violation,
                rule=self.name,
                fix=violation.fix or self.sections["Fix"],
                verify=violation.verify or self.sections["Verify"],
                source=violation.source or self.sections["Source"],
            )


RULES: dict[str, Rule] = {}


def rule(*components: str, since: Version | None = None, until: Version | None = None) -> Callable[[Check], Check]:
    """Register a function as a rule on components; its docstring has a summary (what is wrong) and all HEADINGS."""

    def register(check: Check) -> Check:
        summary, sections = _documentation(check)
        for component in components:
            name = f"{component}/{check.__name__}"
            if name in RULES:
                raise TypeError(f"{check.__module__}.{check.__name__}: there is a rule {name} already")
            RULES[name] = Rule(name, component, summary, sections, since, until, check)
        return check

    return register


def _documentation(check: Check) -> tuple[str, dict[str, str]]:
    text = inspect.cleandoc(check.__doc__ or "")
    summary, *parts = re.split(rf"^({'|'.join(HEADINGS)}):", text, flags=re.MULTILINE)
    sections = {heading: " ".join(body.split()) for heading, body in zip(parts[::2], parts[1::2], strict=True)}
    if tuple(sections) != HEADINGS:
        raise TypeError(f"{check.__module__}.{check.__name__}: its docstring needs the headings {HEADINGS} in order")
    return " ".join(summary.split()), sections
