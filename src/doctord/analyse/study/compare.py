"""Two periods held against each other, figure by figure: what is better, worse, or no different."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, log
from typing import Final, Literal, TypeAlias

from doctord.analyse.study.difference import LEVEL, Difference, Noise, adjusted, difference, noise_of
from doctord.analyse.study.measure import Better, Key, Measure
from doctord.analyse.study.samples import FEWEST_RUNS, Mean, Samples

# `same` is "no difference that can be told"; `untold`: whether there is one, nobody can say of so few rows.
Outcome: TypeAlias = Literal["better", "worse", "changed", "same", "new", "gone", "untold"]
# Values of which there is one each, and that differ by less, are taken to be the same.
ONE_VALUE_APART: Final = 0.005
# Standard error over the value, of what was nothing in the other period: three of them lie above zero.
SURELY_THERE: Final = 0.3
TIMES: Final = frozenset({"s", "ms", "us"})
ONE_EACH: Final = "one value each"


@dataclass(frozen=True, slots=True)
class Row:
    """One figure before and after.

    Attributes:
        key: Which one.
        unit: Of its values, as tables name it.
        better: Whether low or high values are good; null where neither is.
        difference: Its values, and their ratio with the interval.
        outcome: What to make of it, for all figures together (see `judged`).
        seconds: Time that goes there per second before and after; null where it is none, or not known.
        noise: What the period before says of chance; null where it says nothing.
    """

    key: Key
    unit: str
    better: Better | None
    difference: Difference
    outcome: Outcome = "untold"
    seconds: tuple[float | None, float | None] = (None, None)
    noise: Noise | None = None
    is_apart: bool = False

    @property
    def before(self) -> float | None:
        """The value before."""
        return self.difference.before.value if self.difference.before else None

    @property
    def after(self) -> float | None:
        """The value after."""
        return self.difference.after.value if self.difference.after else None

    @property
    def added(self) -> float | None:
        """Seconds a second that it costs more; null where that is not known."""
        before, after = self.seconds
        return None if after is None else after - (before or 0.0)


def compared(before: Iterable[Measure], after: Iterable[Measure]) -> list[Row]:
    """A row for each figure of both periods, and of one of them; not yet judged."""
    old, new = ({measure.key: measure for measure in measures} for measures in (before, after))
    return [row_of(key, old, new) for key in old | new]


def row_of(key: Key, before: Mapping[Key, Measure], after: Mapping[Key, Measure]) -> Row:
    """The row of a figure that at least one of the periods has."""
    old, new = before.get(key), after.get(key)
    one = new or old
    if one is None:
        raise KeyError(key)
    own, other = (measure.samples if measure else None for measure in (old, new))
    seconds = tuple(measure.seconds_per_second if measure else None for measure in (old, new))
    noise = noise_of(own) if own and not own.are_pairs else None
    row = Row(key, one.unit, one.better, difference(own, other), seconds=(seconds[0], seconds[1]), noise=noise)
    return replace(row, is_apart=bool(own and other and are_apart(own, other)))


def are_apart(before: Samples, after: Samples) -> bool:
    """Whether each row of one period lies beyond all of the other: what a few runs can show at the most."""
    if not (before.rows and after.rows) or not (before.per.all() and after.per.all()):
        return False
    old, new = before.amount / before.per, after.amount / after.per
    return bool(old.max() < new.min() or new.max() < old.min())


def judged(rows: Sequence[Row]) -> list[Row]:
    """The same with what to make of each.

    A difference counts when its probability by chance, adjusted for all figures that are looked at, is below 5 %, and
    when it is larger than what the period before differs by from itself. Where a period has one value, or too few for
    an interval, the values stand for themselves, and the row's `difference.why` says so.
    """
    tested = [place for place, row in enumerate(rows) if row.difference.p is not None]
    chances = dict(zip(tested, adjusted([rows[place].difference.p or 0.0 for place in tested]), strict=True))
    return [replace(row, outcome=outcome_of(row, chances.get(place))) for place, row in enumerate(rows)]


def outcome_of(row: Row, p: float | None) -> Outcome:
    """What to make of a row whose probability by chance is so; null where it has none."""
    told = row.difference
    if told.before is None or told.after is None:
        return _one_sided(row)
    if told.ratio is None:
        return _from_or_to_nothing(row, told.before, told.after)
    if p is not None:
        floor = row.noise.least if row.noise and row.noise.least else 1.0
        return _way(row, told.ratio) if p <= 1 - LEVEL and abs(log(told.ratio)) > log(floor) else "same"
    if told.why == ONE_EACH:
        return _way(row, told.ratio) if abs(told.ratio - 1) >= ONE_VALUE_APART else "same"
    few = min(told.before.rows, told.after.rows) < FEWEST_RUNS
    return _way(row, told.ratio) if few and row.is_apart else "untold"


def _from_or_to_nothing(row: Row, before: Mean, after: Mean) -> Outcome:
    """Of what was zero in one period: no ratio tells how far it is from chance, but its own error does."""
    if row.key.kind == "run" and row.unit in TIMES:
        return "untold"  # a run that took no time is none
    if before.value == after.value:
        return "same"
    there, is_new = (after, True) if before.value == 0 else (before, False)
    if min(before.value, after.value) < 0:
        return "untold"
    is_sure = there.error is not None and there.error < SURELY_THERE
    if is_sure or before.rows == after.rows == 1:
        return _way(row, inf if is_new else 0.0)
    return "new" if is_new else "gone"


def _one_sided(row: Row) -> Outcome:
    """Of what was measured in one period alone: a wait or a call that is not there any more, or was not."""
    is_listed = row.key.kind in {"wait", "call", "time"}
    if not is_listed or row.difference.before is row.difference.after is None:
        return "untold"
    return "new" if row.difference.before is None else "gone"


def _way(row: Row, ratio: float) -> Outcome:
    if row.better is None:
        return "changed"
    return "better" if (ratio < 1) == (row.better == "low") else "worse"
