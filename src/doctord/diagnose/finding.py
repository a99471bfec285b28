"""What a diagnosis consists of: findings, each with the evidence that speaks for and against it."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import datetime
from typing import Final, Literal, TypeAlias

from doctord.analyse.sql.top_time import Holder
from doctord.analyse.time import TimeShare
from doctord.analyse.vitals import Vital
from doctord.diagnose.phrase import Words, figures, unit_of

__all__ = [
    "NONE_YET",
    "NOT_MEASURED",
    "Claim",
    "Diagnosis",
    "Evidence",
    "Finding",
    "Impact",
    "NotMeasured",
    "TimeShare",
    "at_most",
    "measured",
]


Direction: TypeAlias = Literal["at_least", "at_most"]
Severity: TypeAlias = Literal["critical", "warning", "note"]
Health: TypeAlias = Literal["healthy", "not_healthy", "not_judged"]

# Worst first.
SEVERITIES: Final[tuple[Severity, ...]] = ("critical", "warning", "note")
# Half of the time: with the cause gone users wait half as long.
CRITICAL_SHARE = 0.5
# A tenth of the time is the least that whoever removes it is thanked for.
WARNING_SHARE = 0.1
# The least confidence (see `cause.py`) of two sides that agree, and of one side alone.
SURE, ONE_SIDE = 0.75, 0.6


@dataclass(frozen=True, slots=True)
class Evidence:
    """One figure and what it means.

    `table` and `filter` (a condition in the words of `doctord sql`) lead back to the rows; `figure` holds the measured
    value first, `threshold` what it was held against, `why` what follows from it. `direction` says on which side of the
    threshold a value speaks for the cause; null where the threshold is there only to compare, or is no number.
    """

    table: str
    filter: str
    figure: Words
    threshold: Words
    why: Words
    direction: Direction | None = None

    @property
    def value(self) -> float | None:
        """The measured value; null where it is a text."""
        return next((value for value, _ in figures(self.figure)), None)

    @property
    def unit(self) -> str:
        """Unit of the value (see `phrase.unit_of`); empty for a count, and for a text."""
        return next((unit_of(spec) for _, spec in figures(self.figure)), "")

    @property
    def limit(self) -> float | None:
        """The threshold in the unit of the value; null where `direction` is."""
        return next((value for value, _ in figures(self.threshold)), None) if self.direction else None


@dataclass(frozen=True, slots=True)
class NotMeasured:
    """Something that could not be read: what, why, and how to grant it."""

    what: Words
    why: Words
    grant: Words


@dataclass(frozen=True, slots=True)
class Impact:
    """What a cause costs, as a share (0 to 1) of the time, and how that is known.

    `measured`: the time that it takes was measured; `at_most`: measured together with what else may take it;
    `not_measured`: unknown, the share is null; `none_yet`: it costs no time that is felt so far, as a limit that is
    near, and the share is null too.
    """

    share: float | None
    known: Literal["measured", "at_most", "not_measured", "none_yet"]


NOT_MEASURED: Final = Impact(None, "not_measured")
NONE_YET: Final = Impact(None, "none_yet")


def at_most(share: float) -> Impact:
    """A share (0 to 1) of the time that holds what other causes take, too."""
    return Impact(min(max(share, 0.0), 1.0), "at_most")


def measured(share: float) -> Impact:
    """An impact that was measured: this share of the time, kept within 0 and 1."""
    return Impact(min(max(share, 0.0), 1.0), "measured")


@dataclass(frozen=True, slots=True)
class Claim:
    """What a cause says of a case; the engine makes a finding of it.

    `impact` as a mere number is a measured share. Where they are not given, `severity` follows from impact and
    confidence (`graded`), and `remedy` and `verify` are those of the cause's documentation; `first_steps` stand before
    that remedy. Without `explains_waits` nothing is set below it: it is no part of what the database waits for.
    `explains` names causes that its own figures show to be its symptoms, whatever the causes' documentation says. With
    `stands_alone` its own figures show that no other cause explains it. `objects` names which of several of its kind it
    is about, file systems (mount, else device), devices or processes (pid): it explains nothing of others, nor do
    others explain it; empty: which, is not known. All else as in `Finding`.
    """

    title: Words
    _: KW_ONLY
    impact: float | Impact
    confidence: float
    for_: Sequence[Evidence]
    against: Sequence[Evidence] = ()
    not_measured: Sequence[NotMeasured] = ()
    remedy: Sequence[Words] = ()
    verify: Sequence[Words] = ()
    time_of: str | None = None
    severity: Severity | None = None
    first_steps: Sequence[Words] = ()
    database: str | None = None
    explains_waits: bool = True
    explains: Sequence[str] = ()
    stands_alone: bool = False
    objects: Sequence[str] = ()

    @property
    def cost(self) -> Impact:
        """The impact, and how it is known; a mere number is a measured share."""
        return self.impact if isinstance(self.impact, Impact) else measured(self.impact)

    @property
    def graded(self) -> Severity:
        """The severity that the cause gives, else that of what it costs.

        Half of the time is critical where it is very likely, a tenth a warning, less a note. What was not measured is a
        warning where figures of one side speak for it; what costs nothing yet is a note.
        """
        if self.severity:
            return self.severity
        share = self.cost.share
        if share is None:
            return "warning" if self.cost.known == "not_measured" and self.confidence >= ONE_SIDE else "note"
        if share >= CRITICAL_SHARE and self.confidence >= SURE:
            return "critical"
        return "warning" if share >= WARNING_SHARE else "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """A cause that the evidence supports.

    `confidence` (0 to 1) is calibrated on the lab. `explained_by` names the finding of which this one is only a
    symptom. `time_of` says whose time the impact is a share of, where not that of the diagnosis. `database` is the
    server that it is about, where the cause knows it.
    """

    cause: str
    title: Words
    severity: Severity
    impact: Impact
    confidence: float
    for_: tuple[Evidence, ...]
    against: tuple[Evidence, ...]
    not_measured: tuple[NotMeasured, ...]
    remedy: tuple[Words, ...]
    verify: tuple[Words, ...]
    sources: tuple[str, ...]
    interval: tuple[datetime, datetime] | None = None
    explained_by: str | None = None
    time_of: str | None = None
    database: str | None = None


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The verdict on one interval: findings, worst first, where the time went, what was looked at and not seen.

    `time_of` says whose time it is: `database` (sessions were sampled), `processes` (the host alone), `pass` (of the
    loop in a call trace) or `busy` (all traced processes, idle waits of loops left out). `looked_at` is one line per
    source with what it gave. `figures` is a handful of vital signs, `top` who holds most of the time: statements,
    programs, users, services, and the segments that are read most, the first few of each. `judged` and `not_judged`
    are the areas of which enough was measured for a verdict, and those of a whole look of which nothing was
    (`judged.py`); `unanswered` is the number of servers that the user named and that told nothing. `explained` is the
    share (0 to 1) of the database time that the findings explain (`explained.py`); null without a finding, and where it
    is not the database's time that was measured.
    """

    host: str
    since: datetime | None
    until: datetime | None
    time_of: str
    time: tuple[TimeShare, ...]
    findings: tuple[Finding, ...]
    looked_at: tuple[Words, ...]
    not_measured: tuple[NotMeasured, ...]
    figures: tuple[Vital, ...] = ()
    top: tuple[Holder, ...] = ()
    judged: tuple[str, ...] = ()
    not_judged: tuple[str, ...] = ()
    unanswered: int = 0
    explained: float | None = None

    @property
    def health(self) -> Health:
        """`not_healthy` with a finding above a note, `not_judged` where no area was measured that could show one.

        A server that was named and did not answer is not judged either.
        """
        if any(finding.severity != "note" for finding in self.findings):
            return "not_healthy"
        return "not_judged" if self.unanswered or not self.judged else "healthy"

    @property
    def healthy(self) -> bool:
        """Whether it was looked, and nothing is there that is worse than a note."""
        return self.health == "healthy"
