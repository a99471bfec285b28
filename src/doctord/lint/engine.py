"""The examination of settings: every rule looks at every subject that it is for; the worst comes first."""

import importlib
import pkgutil
from dataclasses import dataclass

from doctord import lint
from doctord.chart.chart import Chart
from doctord.lint.remark import Remark, Severity
from doctord.lint.rule import RULES
from doctord.lint.subject import Subject, subjects

for _package in pkgutil.iter_modules(lint.__path__):
    if _package.ispkg:
        _found = importlib.import_module(f"{lint.__name__}.{_package.name}")
        for _module in pkgutil.iter_modules(_found.__path__):
            importlib.import_module(f"{_found.__name__}.{_module.name}")


@dataclass(frozen=True, slots=True)
class Examined:
    """What an examination of settings gave.

    `looked_at` is a line for each subject with how many of its settings were seen; without any there was nothing to
    judge, which is not health.
    """

    remarks: tuple[Remark, ...]
    looked_at: tuple[str, ...]

    @property
    def worst(self) -> Severity | None:
        """The worst severity; null without a remark."""
        return max((remark.severity for remark in self.remarks), default=None)


def examine(chart: Chart) -> Examined:
    """Examine the settings that a chart holds, for the machine and the workload that it tells of."""
    found = subjects(chart)
    remarks = [remark for one in found for remark in remarks_on(one)]
    looked_at = tuple(f"{one.name}: {len(one.rows)} settings of {one.component}" for one in found if one.rows)
    return Examined(tuple(sorted(remarks, key=_badness)), looked_at)


def remarks_on(subject: Subject) -> list[Remark]:
    """What all rules say of one subject."""
    version = subject.version
    held = [rule for rule in RULES.values() if rule.component == subject.component and rule.holds_for(version)]
    return [remark for rule in held for remark in rule.remarks(subject)]


def _badness(remark: Remark) -> tuple[int, float, str, str]:
    return (-remark.severity, -(remark.impact or 0.0), remark.subject, remark.rule)
