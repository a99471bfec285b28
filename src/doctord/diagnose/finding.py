"""What a diagnosis consists of: findings, each with the evidence that speaks for and against it."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal

from doctord.analyse.time import TimeShare

__all__ = [
    "NONE_YET",
    "NOT_MEASURED",
    "Diagnosis",
    "Evidence",
    "Finding",
    "Impact",
    "TimeShare",
    "Unseen",
    "at_most",
    "measured",
]


@dataclass(frozen=True, slots=True)
class Evidence:
    """One figure and what it means.

    `table` and `filter` (a condition in the words of `doctord sql`) lead back to the rows; `figure` is the measured
    value with its unit, `threshold` what it was held against, `why` what follows from it.
    """

    table: str
    filter: str
    figure: str
    threshold: str
    why: str


@dataclass(frozen=True, slots=True)
class Unseen:
    """Something that could not be read: what, why, and how to grant it."""

    what: str
    why: str
    grant: str


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
    """A share (0 to 1) of the time."""
    return Impact(min(max(share, 0.0), 1.0), "measured")


@dataclass(frozen=True, slots=True)
class Finding:
    """A cause that the evidence supports.

    `confidence` (0 to 1) is calibrated on the lab. `explained_by` names the finding of which this
    one is only a symptom. `time_of` says whose time the impact is a share of, where not that of the diagnosis.
    """

    cause: str
    title: str
    impact: Impact
    confidence: float
    for_: tuple[Evidence, ...]
    against: tuple[Evidence, ...]
    unseen: tuple[Unseen, ...]
    remedy: tuple[str, ...]
    verify: tuple[str, ...]
    sources: tuple[str, ...]
    interval: tuple[datetime, datetime] | None = None
    explained_by: str | None = None
    time_of: str | None = None


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The verdict on one interval: findings in order of damage, where the time went, what was looked at and not seen.

    `time_of` says whose time it is: `database` (sessions were sampled), `processes` (the host alone), `pass` (of the
    loop in a call trace) or `busy` (all traced processes, idle waits of loops left out). `looked_at` is one line per
    source with what it gave. `figures` is a handful of vital signs, name and value with unit.
    """

    host: str
    since: datetime | None
    until: datetime | None
    time_of: str
    time: tuple[TimeShare, ...]
    findings: tuple[Finding, ...]
    looked_at: tuple[str, ...]
    unseen: tuple[Unseen, ...]
    figures: tuple[tuple[str, str], ...] = field(default=())

    @property
    def healthy(self) -> bool:
        """Whether there is nothing to report."""
        return not self.findings

    @property
    def is_judged(self) -> bool:
        """Whether enough was measured that no finding means health: times, waits, or a vital sign at least."""
        return self.since is not None and bool(self.findings or self.time or self.figures)
