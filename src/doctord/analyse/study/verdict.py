"""The verdict on two periods: better, worse, no difference that can be told, or not comparable, and why."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, Literal, TypeAlias

from doctord.analyse.study.change_points import ChangePoints, change_points
from doctord.analyse.study.changes import Changes
from doctord.analyse.study.compare import Row, compared, judged
from doctord.analyse.study.figures import figures
from doctord.analyse.study.load import Loads
from doctord.analyse.study.measure import Measure
from doctord.analyse.study.runs import OVER_LIMIT, TOTAL
from doctord.analyse.study.spent import Spent, spent, waits
from doctord.analyse.study.spreads import Quantile, Spread, histograms, quantiles
from doctord.analyse.study.time_rows import DATABASE_TIME, throughput, time_rows, unit_of
from doctord.analyse.study.traces import PASS, calls
from doctord.analyse.study.twin import Twin
from doctord.analyse.traces.calls_compared import MATTERS
from doctord.dataset.calltrace import Trace
from doctord.dataset.dataset import Dataset

Verdict: TypeAlias = Literal["better", "worse", "no difference", "not comparable"]
NO_LOAD: Final = "how much was done is not told: less time may be less work"
NOTHING: Final = "no time, run or call that both tell of"
AS_OUTCOME: Final = "none"  # what is asked for where throughput is a result, and no load that came by itself


@dataclass(frozen=True, eq=False)
class Period:
    """What is held against another: its name, what was measured in it, and the call trace, where it is one."""

    name: str
    dataset: Dataset = field(default_factory=Dataset)
    trace: Trace | None = None

    @cached_property
    def spent(self) -> Spent | None:
        """Its database time."""
        return spent(self.dataset)

    @cached_property
    def measures(self) -> Sequence[Measure]:
        """Its figures beside database time; of a call trace its calls alone, which its tables tell once more."""
        return [*calls(self.trace)] if self.trace else [*waits(self.dataset), *figures(self.dataset)]


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two periods, and what differs.

    Attributes:
        before, after: Names of the periods.
        verdict: What to make of it.
        why: The reason, where nothing is compared, or no difference told.
        main: The figures that the verdict is about.
        unit: Unit of load that time is told by; null: by the second.
        loads: Units of load a second; null where they are not known.
        time: Database time a unit (s), or a second, as a whole and by wait event, the largest first.
        rows: All other figures.
        changes: What else is different; null where the periods are lines of one table.
        twin: What a server says that was not changed; null where none is named.
        points: When the cost of a unit moved; null without any.
        quantiles: How the cost of a unit is spread over the steps of both periods.
        histograms: How latencies are spread, of which both have histograms.
    """

    before: str
    after: str
    verdict: Verdict
    why: str
    main: Sequence[Row]
    unit: str | None = None
    loads: Loads | None = None
    time: Sequence[Row] = ()
    rows: Sequence[Row] = ()
    changes: Changes | None = None
    twin: Twin | None = None
    points: ChangePoints | None = None
    quantiles: Sequence[Quantile] = ()
    histograms: Sequence[Spread] = ()

    @property
    def all_rows(self) -> Sequence[Row]:
        """All rows, time first."""
        return [*self.time, *self.rows]

    @property
    def regressions(self) -> list[Row]:
        """What got worse, that which costs most time first; of a wait of which the length is known, the length."""
        lengths = {row.key.name for row in self.rows if row.key.kind == "wait"}
        own = [row for row in self.time if row.key != DATABASE_TIME and row.key.name not in lengths]
        worse = [row for row in (*own, *self.rows) if row.outcome == "worse"]
        return sorted(worse, key=lambda row: (row.added is None, -abs(row.added or 0.0)))

    @property
    def shares_of_change(self) -> list[tuple[Row, float]]:
        """By what database time a unit changed: each wait event, and its share of the whole change, the largest first.

        A share above 1, or below 0, is of what others took back. None where the whole is not told to have changed.
        """
        if not self.time or self.time[0].outcome not in {"better", "worse"}:
            return []
        whole = (self.time[0].after or 0.0) - (self.time[0].before or 0.0)
        parts = [(row, ((row.after or 0.0) - (row.before or 0.0)) / whole) for row in self.time[1:]] if whole else []
        return sorted(parts, key=lambda part: -abs(part[1]))

    @property
    def not_measured(self) -> list[Row]:
        """Figures of which one period tells nothing."""
        return [row for row in self.all_rows if row.outcome == "untold" and None in (row.before, row.after)]


def compared_alone(before: Period, after: Period, unit: str | None = None) -> Comparison:
    """Hold two periods against each other, whatever else was changed: see `design.compare`."""
    found = _compared(before, after, unit)
    return replace(found, histograms=[*histograms(before.dataset, after.dataset)])


def _compared(before: Period, after: Period, unit: str | None) -> Comparison:
    rows = compared(before.measures, after.measures)
    old, new = before.spent, after.spent
    if old is None or new is None:
        return _without_time(before.name, after.name, judged(rows))
    chosen = unit_of(old, new, None if unit == AS_OUTCOME else unit)
    done = [throughput(old, new, chosen, "high" if unit == AS_OUTCOME else None)] if chosen else []
    time, loads = time_rows(old, new, chosen)
    together = judged([*time, *done, *rows])
    time, rows = together[: len(time)], together[len(time) :]
    client = [row for row in rows if row.key.kind in {"run", "call"} and row.better]
    main = client or (rows[:1] if done and unit == AS_OUTCOME else time[:1])
    verdict, why = told(main)
    if main == time[:1]:
        verdict, why = _by_load(verdict, why, chosen, loads)
    found = Comparison(before.name, after.name, verdict, why, main, chosen, loads, time, rows)
    if chosen is None:
        return found
    return replace(found, points=change_points(old, new, chosen), quantiles=quantiles(old, new, chosen))


def of_runs(before: str, old: Sequence[Measure], after: str, new: Sequence[Measure]) -> Comparison:
    """Hold two lines of a table of runs against each other."""
    return _without_time(before, after, judged(compared(old, new)))


def told(main: Sequence[Row]) -> tuple[Verdict, str]:
    """What some figures say together, and why where they say nothing."""
    outcomes = {row.outcome for row in main if row.outcome != "untold"}
    if {"better", "worse"} <= outcomes:
        ways = (
            f"{way}: {', '.join(row.key.name for row in main if row.outcome == way)}" for way in ("better", "worse")
        )
        return "not comparable", "; ".join(ways)
    for verdict in ("better", "worse"):
        if verdict in outcomes:
            return verdict, ""
    if "same" in outcomes:
        return "no difference", ""
    return "not comparable", next((row.difference.why for row in main if row.difference.why), NOTHING)


def _that_matters(row: Row, main: Sequence[Row]) -> Row:
    """A call whose change is no part of the pass worth naming is the same: two runs of one program differ by more."""
    whole_s = next((one.before for one in main if one.key == PASS), None)
    changed_s = abs((row.after or 0.0) - (row.before or 0.0))
    return replace(row, outcome="same") if whole_s and changed_s < MATTERS * whole_s else row


def _by_load(verdict: Verdict, why: str, unit: str | None, loads: Loads | None) -> tuple[Verdict, str]:
    """The verdict on database time, as far as the load lets it be one."""
    if unit is None:
        return "not comparable", NO_LOAD
    if loads and loads.overlap is False and loads.before_range and loads.after_range:
        return "not comparable", "there is no load that both periods had"
    return verdict, why


def _without_time(before: str, after: str, rows: Sequence[Row]) -> Comparison:
    """Of runs, traces and load tests: the whole of a run or a pass counts, else all that has a good way."""
    whole = [row for row in rows if row.key in {TOTAL, PASS, OVER_LIMIT} and row.outcome != "untold"]
    client = [row for row in rows if row.key.kind in {"run", "class", "call"} and row.better]
    noted = [row for row in rows if row.key.kind == "figure" and row.better and row.key.of == ""]
    main = whole or client or noted
    rows = [_that_matters(row, main) if row.key.kind == "call" else row for row in rows]
    verdict, why = told(main)
    return Comparison(before, after, verdict, why, main, rows=rows)
