"""The signature of an incident: how its figures stand against the same server's own normal time.

Of each figure two numbers. How sure it is that it was higher: twice the area under the ROC curve less 1 (the share of
pairs of an ill and a normal step in which the ill one is higher, less that in which it is lower; H. B. Mann, D. R.
Whitney, 1947), which no unit, size or outlier moves. And by how much: the natural logarithm of the ratio of means.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from doctord.analyse.incidents.figures import Figures
from doctord.analyse.study.samples import Numbers

FEWEST: Final = 3  # steps of a figure in an incident
FEWEST_USUAL: Final = 20  # and beside it: of fewer nobody knows what is usual
# So large a part of the usual size is added to both of a ratio, that nothing over nothing is no change.
NOTHING: Final = 0.05
LARGEST: Final = 3.0  # natural logarithm: twenty times, beyond which more says no more


class Change(NamedTuple):
    """How one figure stood: -1 (always lower than usual) to 1 (always higher), and the logarithm of the ratio."""

    higher: float
    log_ratio: float


UNMOVED: Final = Change(0.0, 0.0)
Signature = Mapping[str, Change]


def signature_of(figures: Figures, begin: int, end: int, without: Sequence[tuple[int, int]] = ()) -> dict[str, Change]:
    """The signature of the steps from `begin` to before `end`, against all others.

    Args:
        figures: of the time around it.
        begin: The first step.
        end: The one behind the last.
        without: Other steps that were not normal either, likewise.

    Returns:
        Of each figure that was measured in three of them and twenty of the others; empty where none was.
    """
    inside = np.zeros(figures.steps, dtype=bool)
    inside[begin:end] = True
    normal = ~inside
    for first, last in without:
        normal[first:last] = False
    found = dict[str, Change]()
    for number, name in enumerate(figures.names):
        column = figures.values[:, number]
        ill, usual = (part[~np.isnan(part)] for part in (column[inside], column[normal]))
        if len(ill) >= FEWEST and len(usual) >= FEWEST_USUAL:
            found[name] = Change(higher(ill, usual), log_ratio(ill, usual))
    return found


def mean_of(signatures: Sequence[Signature]) -> dict[str, Change]:
    """The signature that stands for several of one cause: the mean of each figure; what is not told did not move."""
    names = dict.fromkeys(name for one in signatures for name in one)
    found = dict[str, Change]()
    for name in names:
        told = [one.get(name, UNMOVED) for one in signatures]
        found[name] = Change(*(float(np.mean(part)) for part in zip(*told, strict=True)))
    return found


def by_weight(signature: Signature) -> list[tuple[str, Change]]:
    """Figures that moved most and surest first."""
    return sorted(signature.items(), key=lambda one: -abs(one[1].higher * one[1].log_ratio))


def higher(ill: Numbers, usual: Numbers) -> float:
    """Share of pairs in which the ill one is higher, less that in which it is lower.

    >>> higher(np.array([3.0, 4.0]), np.array([1.0, 2.0])), higher(np.array([1.0]), np.array([1.0, 1.0]))
    (1.0, 0.0)
    """
    ordered = np.sort(usual)
    below = np.searchsorted(ordered, ill, "left") + np.searchsorted(ordered, ill, "right")
    return float(below.mean() / len(usual) - 1)


def log_ratio(ill: Numbers, usual: Numbers) -> float:
    """Natural logarithm of the ratio of means, at most 3 either way; what is infinite is as far as that goes.

    >>> round(log_ratio(np.array([2.0]), np.array([1.0])), 2), log_ratio(np.array([np.inf]), np.array([1.0]))
    (0.67, 3.0)
    """
    if np.isinf(ill).mean() > np.isinf(usual).mean():
        return LARGEST
    known, normal = ill[np.isfinite(ill)], usual[np.isfinite(usual)]
    if not len(known) or not len(normal):
        return 0.0 if np.isinf(ill).any() else -LARGEST
    size = float(np.abs(normal).mean()) or float(np.abs(known).mean())
    if not size:
        return 0.0
    added = NOTHING * size
    above, below = (max(float(part.mean()), 0.0) + added for part in (known, normal))
    return float(np.clip(np.log(above / below), -LARGEST, LARGEST))
