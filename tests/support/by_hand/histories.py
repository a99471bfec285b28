"""Series made by hand, for tests of capacity."""

from collections.abc import Iterable
from datetime import UTC, datetime

import numpy as np

from doctord.analyse.capacity.series import HOUR_S, Labels, Series
from doctord.dataset.figure import own_figures

MONDAY = datetime(2026, 1, 5, tzinfo=UTC)
FIGURES = {figure.name: figure for figure in own_figures()}
NAN = float("nan")


def history(
    values: Iterable[float],
    figure: str = "disk_requests_per_s",
    labels: Labels | None = None,
    step_s: int = HOUR_S,
) -> Series:
    """A series whose first step begins on a Monday at 00:00 UTC."""
    numbers = np.array(list(values), dtype=float)
    start = datetime.fromtimestamp(MONDAY.timestamp() + step_s, UTC)
    return Series(FIGURES[figure], labels or Labels("a", None, "sda"), step_s, start, numbers, numbers, numbers)
