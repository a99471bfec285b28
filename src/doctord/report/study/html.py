"""A study as one HTML file that needs nothing else: the verdict, forest plots, tables, both periods over time."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import ceil

import numpy as np
from markupsafe import Markup

from doctord.analyse.study.compare import Outcome, Row
from doctord.analyse.study.spent import Spent
from doctord.analyse.study.spreads import Quantile
from doctord.analyse.study.time_rows import DATABASE_TIME
from doctord.analyse.study.verdict import Comparison, Period
from doctord.app.study.study import Study
from doctord.report.diagnosis.html import COLOURS, environment
from doctord.report.plot import Plot, svg
from doctord.report.series import MOST_STEPS, Series, Step
from doctord.report.study import words
from doctord.report.study.forest import Mark
from doctord.report.study.forest import svg as forest

MOST_MARKS = 24
PER_CENT_MOST = 200.0  # a figure that grew by more is told in the table alone


def render(found: Study) -> str:
    """The page of a study."""
    return (
        environment()
        .get_template("study/page.html.j2")
        .render(
            study=found,
            words=words,
            plots=[(plot, Markup(svg(plot))) for plot in _on_one_scale([*_timeline(found.periods)])],  # noqa: S704 - the serialiser escaped it
            time_drawn=_time_drawn,
            others_drawn=_others_drawn,
            spread_drawn=_spread_drawn,
            colours=range(COLOURS),
            leads=words.LEADS,
        )
    )


def _time_drawn(found: Comparison) -> Markup | None:
    """Database time, in its own unit; null where no part of it has a difference."""
    unit = f"ms a {found.unit}" if found.unit else "ms a second"
    return _drawn([_in_time(row, found.unit) for row in found.time if row.difference.ratio], unit)


def _others_drawn(found: Comparison) -> Markup | None:
    """The other figures that are better or worse, in per cent; null where there are none."""
    others = [_in_per_cent(row) for row in found.rows if row.outcome in {"better", "worse"} and row.difference.ratio]
    return _drawn([mark for mark in others if abs(mark.value) <= PER_CENT_MOST], "%")


def _spread_drawn(found: Comparison) -> Markup | None:
    """The shift of each quantile of the cost of a unit, in milliseconds."""
    return _drawn([_shift(one) for one in found.quantiles], f"ms a {found.unit}")


def _shift(one: Quantile) -> Mark:
    ends = (None if end is None else 1000 * one.before * (end - 1) for end in (one.low, one.high))
    low, high = ends
    is_told = low is not None and high is not None and (low > 0 or high < 0)
    outcome: Outcome = "same" if not is_told else "better" if one.ratio < 1 else "worse"
    return Mark(words.quantile(one)[3], 1000 * (one.after - one.before), low, high, outcome)


def _drawn(marks: Sequence[Mark], unit: str) -> Markup | None:
    return Markup(forest(marks[:MOST_MARKS], unit)) if marks else None  # noqa: S704 - the serialiser escaped it


def _in_time(row: Row, unit: str | None) -> Mark:
    """The difference of a part of database time in milliseconds, its interval as the ratio's."""
    before_ms, told = 1000 * (row.before or 0.0), row.difference
    values = (None if end is None else before_ms * (end - 1) for end in (told.ratio, told.low, told.high))
    value, low, high = values
    name = words.name(row, unit) if row.key == DATABASE_TIME else row.key.name
    return Mark(name, value or 0.0, low, high, row.outcome)


def _in_per_cent(row: Row) -> Mark:
    told = row.difference
    value, low, high = (None if end is None else 100 * (end - 1) for end in (told.ratio, told.low, told.high))
    return Mark(words.name(row), value or 0.0, low, high, row.outcome)


def _on_one_scale(plots: Sequence[Plot]) -> list[Plot]:
    """The same, each as high as the highest of them."""
    reaches = max((plot.highest for plot in plots), default=0.0)
    return [replace(plot, reaches=reaches) for plot in plots]


def _timeline(periods: Sequence[Period] | None) -> Iterator[Plot]:
    """Database time a second by wait event, of both periods, each over its own time."""
    for period in periods or ():
        told = period.spent
        if told and told.grid.count > 1:
            grid, layers = told.grid, tuple(_layers(told))
            since, until = grid.since_s, grid.since_s + grid.count * grid.step_s
            yield Plot(f"{period.name}: database time", "s a second", layers, since, until, stacked=True)


def _layers(told: Spent) -> Iterator[Series]:
    """The events that most time went into, and the rest, thinned to what a small plot shows."""
    events = sorted(told.by_event.items(), key=lambda one: -float(one[1].sum()))[: COLOURS - 1]
    rest = told.whole - sum((seconds for _, seconds in events), np.zeros_like(told.whole))
    begins = np.arange(0, told.grid.count, ceil(told.grid.count / MOST_STEPS))
    edges_s = told.grid.since_s + told.grid.step_s * np.append(begins, told.grid.count)
    looked_s = np.add.reduceat(told.seconds, begins)
    for colour, (event, seconds) in enumerate((*events, ("the rest", np.maximum(rest, 0.0)))):
        spent_s = np.add.reduceat(seconds, begins)
        parts = zip(edges_s, edges_s[1:], spent_s, looked_s, strict=False)
        steps = tuple(_step(begin, end, part_s / length_s) for begin, end, part_s, length_s in parts if length_s)
        if seconds.any():
            yield Series(event, steps, colour)


def _step(begin_s: float, end_s: float, mean: float) -> Step:
    return Step(float(begin_s), float(end_s), float(mean), float(mean), float(mean))
