"""Which claim explains which: by what its own figures show, by who waits for whom, else by the names that causes give.

What is wrong with one server explains nothing of another, and what fills one file system nothing of another.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from doctord.diagnose.cause import CAUSES
from doctord.diagnose.finding import CRITICAL_SHARE, WARNING_SHARE, Claim, Severity

Named = tuple[str, Claim]
MayBeBehind: TypeAlias = Callable[[str, Claim, str], bool]
# What a claim counts for whose share of the time is not known: the share from which on it would be graded so.
COUNTS_FOR: Final[dict[Severity, float]] = {"critical": CRITICAL_SHARE, "warning": WARNING_SHARE, "note": 0.0}
# With less than half of a symptom's time gone most of the symptom would stay.
MOST: Final = 0.5


def explaining(
    number: int,
    claims: Sequence[Named],
    measured: Mapping[str, str | None],
    may_be_behind: MayBeBehind = lambda *_: True,
) -> int | None:
    """The claim that explains another one, both by their place among all; null: none does.

    Args:
        number: the place of the one that may be explained.
        claims: all, the worst first.
        measured: who explains whom by who waits for whom; a cause with waits of its own that hardly anybody is behind
            explains no locks, whatever it names.
        may_be_behind: whether a claim of a cause may be behind a symptom that the cause names (`shortages.py`).
    """
    name, claim = claims[number]
    if claim.stands_alone:
        return None
    told = [other for other, (_, one) in enumerate(claims) if other != number and _may_explain(one, claim)]
    shown = [other for other in told if name in claims[other][1].explains]
    waited = [other for other in told if claims[other][0] == measured.get(name)]
    named = [
        other
        for other in told
        if _names(claims[other], name)
        and _is_worth_it(claims[other][1], claim)
        and (name not in measured or not CAUSES[claims[other][0]].waits)
        and may_be_behind(*claims[other], name)
    ]
    return _largest((shown or waited) if waited else [*shown, *named], claims)


def without_circles(above: Sequence[int | None]) -> list[int | None]:
    """The same, where of those that explain each other in a circle the worst is explained by nobody: none is lost.

    >>> without_circles([1, 0, 1, None])
    [None, 0, 1, None]
    """
    broken = [*above]
    for number in range(len(broken)):
        at, seen = broken[number], set[int]()
        while at is not None and at not in seen:
            seen.add(at)
            at = broken[at]
        if number in seen:
            broken[number] = None
    return broken


def _largest(found: Sequence[int], claims: Sequence[Named]) -> int | None:
    """Of several that explain a claim the one that holds most of the time; of equals the worst, which is the first."""
    return max(found, key=lambda number: (_counts_for(claims[number][1]), -number), default=None)


def _counts_for(claim: Claim) -> float:
    """The share (0 to 1) of the time that a claim holds, or what its severity stands for."""
    share = claim.cost.share if claim.time_of is None else None
    return COUNTS_FOR[claim.graded] if share is None else share


def _may_explain(one: Claim, other: Claim) -> bool:
    """Whether two claims may be about the same server and the same object: where one does not know, they may."""
    is_same_server = one.database is None or other.database is None or one.database == other.database
    is_same_object = not one.objects or not other.objects or not set(one.objects).isdisjoint(other.objects)
    return is_same_server and is_same_object


def _names(one: Named, symptom: str) -> bool:
    return one[1].explains_waits and symptom in CAUSES[one[0]].explains


def _is_worth_it(one: Claim, symptom: Claim) -> bool:
    """Whether a claim is no small matter beside what it would explain.

    What costs so little that it is a note explains nothing worse, nor does what takes less than a tenth of the time and
    most of the symptom would outlast, however much the callers of one statement lose by it.
    """
    if symptom.graded == "note":
        return True
    share, whole = one.cost.share, symptom.cost.share
    if share is None:
        return True
    is_comparable = whole is not None and one.time_of == symptom.time_of
    return one.graded != "note" and (not is_comparable or share >= min(WARNING_SHARE, MOST * (whole or 0.0)))
