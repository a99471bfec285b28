"""Which known incidents a signature resembles, and of which it may be the sum.

Two signatures are as alike as 1 less the root of the mean squared difference of how sure each figure is to be higher
than usual: 1 where all are the same, 0 where they are as far apart as a figure that is always higher and one that does
not move. A figure that one of them does not tell did not move there, as far as is known. Several incidents at once are
told apart by the mixture of known ones, none with less than nothing of it, that comes nearest (non-negative least
squares: C. L. Lawson, R. J. Hanson, "Solving least squares problems", 1974).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from doctord.analyse.incidents.signature import Signature
from doctord.analyse.study.samples import Numbers

# Figures that both must tell, and their share of those that the shorter one tells, for a likeness to mean anything.
FEWEST_SHARED: Final = 8
LEAST_SHARED: Final = 0.5
# What is less alike is another incident: docs/reference/incidents.md has what lies on either side.
ALIKE: Final = 0.74
# Of the largest part of a mixture, to be one.
LEAST_PART: Final = 0.2
# Passes of coordinate descent, far more than a few dozen known incidents take.
_PASSES: Final = 500


@dataclass(frozen=True, slots=True)
class Likeness:
    """How alike a known incident is.

    Attributes:
        place: Its place in the library.
        alike: 0 to 1.
        shared: By how many figures both tell.
    """

    place: int
    alike: float
    shared: int


class Part(NamedTuple):
    """One of several known incidents at once: its place in the library, and its share (0 to 1) of the mixture."""

    place: int
    share: float


@dataclass(frozen=True, slots=True)
class Mixture:
    """Known incidents whose sum comes nearest: the largest share first, and how alike that sum is (0 to 1)."""

    parts: tuple[Part, ...]
    alike: float


def likeness(signature: Signature, library: Sequence[Signature]) -> list[Likeness]:
    """How alike each signature of a library is, most alike first; of too few figures in common there is no likeness."""
    found = list[Likeness]()
    names = {
        name: number for number, name in enumerate(dict.fromkeys((*signature, *(n for one in library for n in one))))
    }
    own = _sureness(signature, names)
    for place, known in enumerate(library):
        shared = len(signature.keys() & known.keys())
        if shared >= FEWEST_SHARED and shared >= LEAST_SHARED * min(len(signature), len(known)):
            other = _sureness(known, names)
            told = len(signature.keys() | known.keys())
            found.append(Likeness(place, max(0.0, 1 - float(np.sqrt(((own - other) ** 2).sum() / told))), shared))
    return sorted(found, key=lambda one: -one.alike)


def mixture(signature: Signature, library: Sequence[Signature]) -> Mixture:
    """The known incidents that a signature may be the sum of.

    Args:
        signature: What is to be taken apart.
        library: Known ones, one for each cause: those of one cause stand in for each other.
    """
    names = {name: number for number, name in enumerate(signature)}
    known = np.column_stack([_sureness(one, names) for one in library]) if library else np.empty((len(names), 0))
    own = _sureness(signature, names)
    amounts = _nearest_mixture(known, own)
    counted = np.where(amounts > LEAST_PART * amounts.max(initial=0.0), amounts, 0.0)
    whole = float(counted.sum())
    parts = [Part(int(place), float(counted[place]) / whole) for place in np.flatnonzero(counted)]
    off = np.sqrt(np.mean((own - known @ counted) ** 2)) if len(own) else 1.0
    return Mixture(tuple(sorted(parts, key=lambda one: -one.share)), max(0.0, 1 - float(off)))


def _sureness(signature: Signature, names: dict[str, int]) -> Numbers:
    """How sure each named figure is to be higher, -1 to 1; 0 of one that is not told."""
    numbers = np.zeros(len(names))
    for name, change in signature.items():
        if name in names:
            numbers[names[name]] = change.higher
    return numbers


def _nearest_mixture(known: Numbers, wanted: Numbers) -> Numbers:
    """Amounts of each known column, none below zero, that come nearest to what is wanted; by coordinate descent."""
    products, wishes = known.T @ known, known.T @ wanted
    amounts = np.zeros(known.shape[1])
    for _ in range(_PASSES):
        before = amounts.copy()
        for number in np.flatnonzero(np.diag(products) > 0):
            missing = wishes[number] - products[number] @ amounts + products[number, number] * amounts[number]
            amounts[number] = max(0.0, missing / products[number, number])
        if np.allclose(before, amounts, atol=1e-9):
            break
    return amounts
