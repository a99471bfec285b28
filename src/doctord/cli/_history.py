"""What the commands that look at weeks and years share: figures over time, of a lake or of files."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import numpy as np
import typer

from doctord.analyse.capacity.figure import Figure
from doctord.analyse.capacity.series import HOUR_S, Series, Whose
from doctord.lake.history import hours
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
    by_mark = {mark_of(figure): figure for figure in figures}
    told = hours(lake, figures, since, until, ("value", "low", "high", "last"))
    found = list[Series]()
    for row, (mark, host, db, entity) in enumerate(told.whose):
        figure = by_mark[str(mark)]
        values = told.sums[VALUE_OF[figure.sum]][row]
        there = np.flatnonzero(np.isfinite(values))
        if there.size:
            part = slice(there[0], there[-1] + 1)
            start = told.start + timedelta(hours=int(there[0]))
            low, high = told.sums["low"][row][part], told.sums["high"][row][part]
            found.append(Series(figure, Whose(host, db, entity), HOUR_S, start, values[part], low, high))
    return found
