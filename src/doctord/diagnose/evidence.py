"""Weighing: a figure held against its threshold speaks for a cause or against it, and says nothing when unmeasured."""

from collections.abc import Iterable
from math import inf, nextafter
from typing import NamedTuple

from doctord.diagnose.case import Case
from doctord.diagnose.finding import Evidence
from doctord.diagnose.phrase import Words, format_of, phrase


class Sign(NamedTuple):
    """A figure that speaks for a cause from its threshold on, and against it below.

    `words` has a place for the figure (see `phrase`), whose format is that of the threshold too: `"{:.0f %} idle"`.
    With `below`, a figure speaks for the cause up to its threshold and against it above. Where one of the two whys is
    empty, that side is not told. `subject` is what the figure is of, where that is not said by the words.
    """

    table: str
    filter: str
    value: float | None
    threshold: float
    words: str
    why: Words
    why_not: Words = ""
    below: bool = False
    subject: str = ""

    @property
    def speaks_for(self) -> bool | None:
        """Whether the figure supports the cause; null when it was not measured."""
        if self.value is None:
            return None
        return self.value <= self.threshold if self.below else self.value >= self.threshold

    def evidence(self) -> Evidence:
        """The figure as evidence, for whichever side it is on."""
        told = phrase(self.words, self.value)
        figure = phrase("{} {}", self.subject, told) if self.subject else told
        number, _, unit = format_of(self.words).partition(" ")
        limit = phrase(f"{{:{number}}}" if " " in unit else f"{{:{number} {unit}}}", self.threshold)
        why = self.why if self.speaks_for else self.why_not
        return Evidence(self.table, self.filter, figure, limit, why, "at_most" if self.below else "at_least")


def weigh(signs: Iterable[Sign]) -> tuple[list[Evidence], list[Evidence]]:
    """What speaks for a cause and what against it, in the order of the signs."""
    measured = [sign for sign in signs if sign.speaks_for is not None]
    told = [(sign.speaks_for, sign.evidence()) for sign in measured if (sign.why if sign.speaks_for else sign.why_not)]
    return [item for speaks, item in told if speaks], [item for speaks, item in told if not speaks]


def past(case: Case, vital: str) -> list[Sign]:
    """How a vital sign compares with the host's own past, as a sign; none without an earlier dataset."""
    now, usual = case.vitals.get(vital), case.usual.get(vital)
    if now is None or usual is None:
        return []
    beyond = nextafter(usual.high, inf)  # at the edge of the range is still within it
    before = phrase("usually {:.3g} over {} windows", usual.median, usual.windows)
    out, within = phrase("{}: out of its range", before), phrase("{}: as it was", before)
    return [Sign("earlier", vital, now.value, beyond, f"{{:.3g {now.unit}}}", out, within, subject=vital)]
