"""Runs in which several things were varied: what each of them does to the result, and which two act together.

Least squares on the logarithm of the result, with the factors coded so that the levels of each sum to zero: an effect
is the ratio of a level to the first one, the others held as they were (G. E. P. Box, J. S. Hunter, W. G. Hunter,
"Statistics for Experimenters", 2005). Where runs are enough, products of two factors are in it. What the runs do not
tell apart is found in the null space of the design, and what an omitted product adds to an effect by the alias matrix
of G. E. P. Box and K. B. Wilson ("On the experimental attainment of optimum conditions", 1951).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import exp, sqrt
from typing import Final

import numpy as np

from doctord.analyse.capacity.forecast.intervals import student
from doctord.analyse.study.compare import Outcome
from doctord.analyse.study.difference import LEVEL, adjusted, student_p
from doctord.analyse.study.measure import Better
from doctord.analyse.study.samples import Numbers
from doctord.regex import regex

FEWEST_FREEDOM: Final = 3  # runs beyond what is estimated: with fewer, chance cannot be told
IN_BLOCKS: Final = 0.7  # share of the order of runs that a factor explains, from which on what drifts is in it
ALIAS: Final = 0.25  # part of what two do together that is in the effect of another
_NONE: Final = 1e-8
_NUMBER: Final = regex(r"(\d+(?:\.\d+)?)\s*([A-Za-z%]*)")

Levels = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Effect:
    """What a factor does, or two together.

    Attributes:
        factors: Its name; of two that act together both.
        levels: For each of them the level that it is compared with, and the one that it is of.
        ratio: Result at the one over that at the other; of two, how many times as large the effect of the first is
            under the second. Null where the runs do not tell it.
        low, high, p: Its interval, and how often chance alone makes as much; null where chance cannot be told.
        outcome: What to make of it, for all effects together.
        confounded_by: Factors that changed only together with it.
        with_products: Pairs of other factors whose acting together would be in it.
    """

    factors: tuple[str, ...]
    levels: tuple[tuple[str, str], ...]
    ratio: float | None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    outcome: Outcome = "untold"
    confounded_by: tuple[str, ...] = ()
    with_products: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Effects:
    """What runs tell of their factors.

    Attributes:
        found: The effects; single factors first, in their order.
        runs: How many runs there are.
        freedom: Runs beyond what is estimated.
        noise: Ratio that two runs of the same settings differ by in one case of twenty; null where that is not told.
        has_products: Whether what two factors do together was looked at.
        in_blocks: Factors whose levels were run one after the other: what drifted meanwhile is in their effects.
        not_varied: Factors of one level.
    """

    found: Sequence[Effect]
    runs: int
    freedom: int
    noise: float | None
    has_products: bool
    in_blocks: Sequence[str]
    not_varied: Sequence[str]


@dataclass(frozen=True, eq=False)
class _Term:
    """A factor, or two, in the equation: its columns, and the row of these for each level (of two, for each pair)."""

    factors: tuple[str, ...]
    columns: Numbers
    codes: tuple[Numbers, ...]
    levels: tuple[tuple[str, ...], ...]


def effects(levels: Levels, results: Numbers, better: Better) -> Effects:
    """The effects of some factors.

    Args:
        levels: The level of each factor in each run, in the order in which they were run.
        results: What came of each run; above zero.
        better: Whether low or high results are good.
    """
    terms = [_single(name, column) for name, column in levels.items() if len(set(column)) > 1]
    products = [_product(one, other) for one, other in combinations(terms, 2)]
    has_products = bool(products) and _is_told([*terms, *products])
    fit = _Fit([*terms, *(products if has_products else [])], np.log(results))
    omitted = [] if has_products else products
    found = [_effect(fit, term, contrast, omitted) for term in fit.terms for contrast in _contrasts(term)]
    return Effects(
        _judged(found, better),
        len(results),
        fit.freedom,
        exp(student(LEVEL, fit.freedom) * sqrt(2 * fit.variance)) if fit.freedom >= FEWEST_FREEDOM else None,
        has_products,
        [term.factors[0] for term in terms if _share_of_order(term) > IN_BLOCKS],
        [name for name, column in levels.items() if len(set(column)) == 1],
    )


def _single(name: str, column: Sequence[str]) -> _Term:
    names = _in_order(tuple(dict.fromkeys(column)))
    codes = np.vstack([np.eye(len(names) - 1), -np.ones(len(names) - 1)])
    return _Term((name,), codes[[names.index(level) for level in column]], (codes,), (names,))


def _in_order(names: tuple[str, ...]) -> tuple[str, ...]:
    """Numbers of one unit by their size; else as they came."""
    found = [_NUMBER.fullmatch(name) for name in names]
    sizes = {one[0]: float(one[1]) for one in found if one}
    if len(sizes) < len(names) or len({one[2] for one in found if one}) > 1:
        return names
    return tuple(sorted(names, key=lambda name: sizes[name]))


def _product(one: _Term, other: _Term) -> _Term:
    columns = (one.columns[:, :, None] * other.columns[:, None, :]).reshape(len(one.columns), -1)
    return _Term(one.factors + other.factors, columns, one.codes + other.codes, one.levels + other.levels)


def _design(terms: Sequence[_Term]) -> Numbers:
    return np.column_stack([np.ones(len(terms[0].columns)), *(term.columns for term in terms)])


def _is_told(terms: Sequence[_Term]) -> bool:
    """Whether runs tell all of some terms, and chance too."""
    return np.linalg.matrix_rank(_design(terms)) == _design(terms).shape[1] and _freedom(terms) >= FEWEST_FREEDOM


def _freedom(terms: Sequence[_Term]) -> int:
    design = _design(terms)
    return len(design) - int(np.linalg.matrix_rank(design))


class _Fit:
    """Least squares of some terms."""

    def __init__(self, terms: Sequence[_Term], values: Numbers) -> None:
        self.terms = terms
        self.design = _design(terms)
        self.inverse = np.linalg.pinv(self.design)
        self.found = self.inverse @ values
        left = values - self.design @ self.found
        self.freedom = _freedom(terms)
        self.variance = float(left @ left) / self.freedom if self.freedom else 0.0
        self.untold = np.eye(self.design.shape[1]) - self.inverse @ self.design

    def places(self, term: _Term) -> slice:
        """The columns of a term."""
        begin = 1 + sum(one.columns.shape[1] for one in self.terms[: self.terms.index(term)])
        return slice(begin, begin + term.columns.shape[1])

    def whole(self, term: _Term, contrast: Numbers) -> Numbers:
        """A contrast of a term as one of all coefficients."""
        made = np.zeros(self.design.shape[1])
        made[self.places(term)] = contrast
        return made


_Contrast = tuple[tuple[tuple[str, str], ...], Numbers]


def _contrasts(term: _Term) -> list[_Contrast]:
    """Each level against the first; of two factors each pair of these."""
    made: list[_Contrast] = [((), np.ones(1))]
    for codes, names in zip(term.codes, term.levels, strict=True):
        steps = [((names[0], names[row]), codes[row] - codes[0]) for row in range(1, len(names))]
        made = [((*told, levels), np.kron(before, step)) for told, before in made for levels, step in steps]
    return made


def _effect(fit: _Fit, term: _Term, contrast: _Contrast, omitted: Sequence[_Term]) -> Effect:
    levels, row = contrast[0], fit.whole(term, contrast[1])
    if np.abs(row @ fit.untold).max() > _NONE:
        return Effect(term.factors, levels, None, confounded_by=_entangled(fit, term))
    weights = row @ fit.inverse
    bias = [pair for pair in omitted if np.abs(weights @ pair.columns).max() > ALIAS * np.abs(contrast[1]).max()]
    others = tuple((one.factors[0], one.factors[1]) for one in bias if not set(one.factors) & set(term.factors))
    found = float(row @ fit.found)
    if fit.freedom < FEWEST_FREEDOM:
        return Effect(term.factors, levels, exp(found), with_products=others)
    error = sqrt(fit.variance * float(weights @ weights))
    half = student(LEVEL, fit.freedom) * error
    p = student_p(found / error, fit.freedom) if error else float(found == 0)
    return Effect(term.factors, levels, exp(found), exp(found - half), exp(found + half), p, with_products=others)


def _entangled(fit: _Fit, term: _Term) -> tuple[str, ...]:
    """Who changed only together with a term."""
    own = fit.untold[:, fit.places(term)]
    others = [one for one in fit.terms if one is not term and np.abs(fit.untold[fit.places(one)]).max() > _NONE]
    tied = [one for one in others if np.abs(own[fit.places(one)]).max() > _NONE]
    return tuple(" x ".join(one.factors) for one in tied)


def _judged(found: Sequence[Effect], better: Better) -> list[Effect]:
    """The same with what to make of each: see `compare.judged`."""
    tested = [place for place, one in enumerate(found) if one.p is not None]
    chances = dict(zip(tested, adjusted([found[place].p or 0.0 for place in tested]), strict=True))
    return [_with_outcome(one, chances.get(place), better) for place, one in enumerate(found)]


def _with_outcome(one: Effect, p: float | None, better: Better) -> Effect:
    if p is None or one.ratio is None:
        return one
    if p > 1 - LEVEL:
        return replace(one, outcome="same")
    if len(one.factors) > 1:
        return replace(one, outcome="changed")
    return replace(one, outcome="better" if (one.ratio < 1) == (better == "low") else "worse")


def _share_of_order(term: _Term) -> float:
    """How much of the order of runs a factor explains (R squared)."""
    order = np.arange(len(term.columns), dtype=np.float64)
    design = _design([term])
    left = order - design @ (np.linalg.pinv(design) @ order)
    return 1 - float(left @ left) / float(((order - order.mean()) ** 2).sum())
