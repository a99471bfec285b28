"""The examination of settings: every rule looks at every subject that it is for; the worst comes first."""

import importlib
import pkgutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from doctord import lint
from doctord.dataset.dataset import Dataset
from doctord.lint.rule import RULES, Rule
from doctord.lint.statement import Statement
from doctord.lint.subject import Subject
from doctord.lint.subjects import subjects
from doctord.lint.violation import Severity, Violation

for _package in (_found for _found in pkgutil.iter_modules(lint.__path__, f"{lint.__name__}.") if _found.ispkg):
    for _module in pkgutil.walk_packages(importlib.import_module(_package.name).__path__, f"{_package.name}."):
        importlib.import_module(_module.name)

# A hundredth of the time is less than anybody could feel.
NOTHING = 0.01
# What is written as 0.0 % warns of nothing.
NONE = 0.0005


@dataclass(frozen=True, slots=True)
class Examined:
    """What an examination of settings gave.

    `looked_at` is a line for each subject with how many of its settings were seen; without any there was nothing to
    judge, which is not health. `checked` are the rules that looked at each subject, by its name. `accepted` are the
    violations that a baseline excuses, each with the words of it. `servers` are the database servers among the
    subjects.
    """

    violations: tuple[Violation, ...]
    looked_at: tuple[str, ...]
    checked: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    accepted: tuple[tuple[Violation, str], ...] = ()
    servers: frozenset[str] = frozenset()

    @property
    def worst(self) -> Severity | None:
        """The worst severity; null without a violation."""
        return max((violation.severity for violation in self.violations), default=None)


def examine(dataset: Dataset, statements: Sequence[Statement] = (), cpus: int | None = None) -> Examined:
    """Examine settings for the machine and the workload that are known.

    Args:
        dataset: the settings, and what was measured.
        statements: those of SQL files that have hints.
        cpus: how many CPUs the machine has, where the user says it.
    """
    found = subjects(dataset, statements, cpus)
    violations = [
        violation
        for one in found
        for rule in rules_for(one)
        for violation in rule.violations(one)
        if not is_idle(violation)
    ]
    looked_at = tuple(
        f"{one.name}: {len(one.rows)} {'hints' if one.statements else f'settings of {one.component}'}"
        for one in found
        if one.rows or one.statements
    )
    checked = dict[str, tuple[str, ...]]()
    for one in found:
        checked[one.name] = (*checked.get(one.name, ()), *(rule.name for rule in rules_for(one)))
    servers = frozenset(one.db for one in found if one.db)
    return Examined(tuple(sorted(violations, key=_badness)), looked_at, checked, servers=servers)


def is_idle(violation: Violation) -> bool:
    """Whether it was measured that a thing of which only the workload can tell costs nothing worth saying."""
    if violation.impact is None or violation.severity is Severity.ERROR:
        return False
    return violation.impact < (NOTHING if violation.severity is Severity.NOTE else NONE)


def rules_for(subject: Subject) -> list[Rule]:
    """The rules that are for a subject and its version."""
    version = subject.version
    return [rule for rule in RULES.values() if rule.component == subject.component and rule.holds_for(version)]


def _badness(violation: Violation) -> tuple[int, float, str, str]:
    return (-violation.severity, -(violation.impact or 0.0), violation.subject, violation.rule)
