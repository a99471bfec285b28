"""Weighing: a figure held against its threshold speaks for a cause or against it, and says nothing when unmeasured."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from math import inf, nextafter

from doctord.diagnose.case import Case
from doctord.diagnose.finding import Evidence

NUMBER = re.compile(r"\{[^}]*\}( (%|ms|s|GiB)(?![a-zA-Z]))?")


@dataclass(frozen=True, slots=True)
class Sign:
    """A figure that speaks for a cause from its threshold on, and against it below.

    `words` is a format for the figure, with its unit after the number (`"{:.0f} % idle"`); the threshold is written
    alike. With `below`, a figure speaks for the cause up to its threshold and against it above. Where one of the two
    whys is empty, that side is not told.
    """

    table: str
    filter: str
    value: float | None
    threshold: float
    words: str
    why: str
    why_not: str = ""
    below: bool = False

    @property
    def speaks_for(self) -> bool | None:
        """Whether the figure supports the cause; null when it was not measured."""
        if self.value is None:
            return None
        return self.value <= self.threshold if self.below else self.value >= self.threshold

    def evidence(self) -> Evidence:
        """The figure as evidence, for whichever side it is on."""
        number = NUMBER.search(self.words)
        threshold = (number.group() if number else self.words).format(self.threshold)
        limit = f"at {'most' if self.below else 'least'} {threshold}"
        why = self.why if self.speaks_for else self.why_not
        return Evidence(self.table, self.filter, self.words.format(self.value), limit, why)


def weigh(signs: Iterable[Sign]) -> tuple[list[Evidence], list[Evidence]]:
    """What speaks for a cause and what against it, in the order of the signs."""
    measured = [sign for sign in signs if sign.speaks_for is not None]
    told = [(sign.speaks_for, sign.evidence()) for sign in measured if (sign.why if sign.speaks_for else sign.why_not)]
    return [item for speaks, item in told if speaks], [item for speaks, item in told if not speaks]


def past(case: Case, vital: str) -> list[Sign]:
    """How a vital sign compares with the patient's own past, as a sign; none without an earlier chart."""
    now, usual = case.vitals.get(vital), case.usual.get(vital)
    if now is None or usual is None:
        return []
    beyond = nextafter(usual.high, inf)  # at the edge of the range is still within it
    before = f"usually {usual.median:.3g} over {usual.windows} windows"
    words = f"{vital} {{:.3g}} {now.unit}"
    return [Sign("earlier", vital, now.value, beyond, words, f"{before}: out of its range", f"{before}: as it was")]
