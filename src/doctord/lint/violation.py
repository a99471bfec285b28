"""What a rule says of a configuration: what is wrong, what it costs here, and the change that fixes it."""

from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from doctord.diagnose.finding import Evidence, NotMeasured
from doctord.diagnose.phrase import Words
from doctord.lint.setting import Setting

CANNOT_JUDGE: Final = "cannot judge without measurements"
# A fifth of the time is felt by every user, a twentieth is the least that any could feel.
MUCH, WORTH_SAYING = 0.20, 0.05


class Severity(IntEnum):
    """How bad it is, in SARIF's words: a note costs nothing that is known."""

    NOTE = 1
    WARNING = 2
    ERROR = 3

    @property
    def word(self) -> str:
        """As it is written: note, warning, error."""
        return self.name.lower()

    @classmethod
    def of(cls, impact: float | None) -> "Severity":
        """That of a share (0 to 1) of database time; of an unmeasured one a note."""
        if impact is None or impact < WORTH_SAYING:
            return cls.NOTE
        return cls.ERROR if impact >= MUCH else cls.WARNING


@dataclass(frozen=True, slots=True)
class Change:
    """A setting to change: to what, and what that needs (`reload`, `restart`, `now`, `reboot`, `remount`).

    A null value takes the setting out of the file.
    """

    component: str
    name: str
    value: str | None
    needs: str


@dataclass(frozen=True, slots=True)
class Violation:
    """One thing that is wrong; its figures are numbers with units, which report/ makes words of.

    Attributes:
        rule: Name of the rule, `component/function`; the examination fills it in.
        subject: Whose configuration: `postgresql:5432`, `oracle:DB1`, or the host.
        title: What is wrong, in one line, with the value that it has.
        severity: See Severity.
        cost: What it costs here with its arithmetic, or CANNOT_JUDGE and what to collect.
        impact: Share (0 to 1) of database time, where it was measured.
        settings: What it is about, with file and line.
        evidence: Figures that were held against it.
        not_measured: What would have to be known.
        changes: What fixes it; empty where a person has to decide.
        fix, verify, source: Words of the rule's documentation, unless this case has better ones.
    """

    rule: str
    subject: str
    title: Words
    severity: Severity
    cost: Words
    impact: float | None
    settings: tuple[Setting, ...]
    evidence: tuple[Evidence, ...]
    not_measured: tuple[NotMeasured, ...]
    changes: tuple[Change, ...]
    fix: Words
    verify: Words
    source: str
