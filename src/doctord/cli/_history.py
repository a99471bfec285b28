"""What the commands that look at weeks and years share: figures over time, of a lake or of files."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import numpy as np
import typer

from doctord.analyse.capacity.figure import Figure
from doctord.analyse.capacity.series import HOUR_S, Series, Whose
from doctord.lake.history import History
from doctord.lake.place import LakeError
from doctord.lake.query import Lake
from doctord.lake.summaries import mark_of
from doctord.lake.tiers import renew

VALUE_OF = {"mean": "value", "max": "high", "min": "low", "last": "last"}


def renewed(lake: Lake, figures: Sequence[Figure]) -> None:
    """Sum up what was recorded since the last time; where that may not be written, it is said."""
    try:
        renew(lake, figures)
    except LakeError as error:
        typer.echo(f"doctord: not summed up for later: {error}\nhint: {error.hint}", err=True)


def history(lake: Lake, figures: Sequence[Figure], since: datetime, until: datetime) -> list[Series]:
    """Figures of a lake over time, in hours; series of which nothing was measured between the two are left out.

    Raises:
        LakeError: the lake, or a figure in it, cannot be read.
    """
    return series_in(History(lake, figures), figures, since, until)


def series_in(
    told: History, figures: Sequence[Figure], since: datetime, until: datetime, step_s: int = HOUR_S
) -> list[Series]:
    """The same of what was looked up already, in steps of so many seconds.

    Raises:
        LakeError: the tiers are damaged.
    """
    by_mark = {mark_of(figure): figure for figure in figures}
    steps = told.steps(since, until, ("value", "low", "high", "last"), step_s)
    found = list[Series]()
    for row, (mark, host, db, entity) in enumerate(steps.whose):
        figure = by_mark[str(mark)]
        values = steps.sums[VALUE_OF[figure.sum]][row]
        there = np.flatnonzero(np.isfinite(values))
        if there.size:
            part = slice(there[0], there[-1] + 1)
            start = steps.start + timedelta(seconds=step_s * int(there[0]))
            low, high = steps.sums["low"][row][part], steps.sums["high"][row][part]
            found.append(Series(figure, Whose(host, db, entity), step_s, start, values[part], low, high))
    return found
