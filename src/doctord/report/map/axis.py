"""Times along a latency map: a column has the same width however long it is, so moments are placed by column."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from math import ceil

from doctord.analyse.latency.map import Column
from doctord.report.plot import DAY_S, TIME_STEPS_S
from doctord.units import duration

LABEL_WIDTH = 90


def start_of(column: Column) -> datetime:
    """When a column's interval began."""
    return column.end - timedelta(seconds=column.interval_s)


def place_of(columns: Sequence[Column], at: datetime) -> int | None:
    """The column in which a moment lies; null before the first and after the last."""
    if not columns or not start_of(columns[0]) <= at <= columns[-1].end:
        return None
    return bisect_left(columns, at, key=lambda column: column.end)


def moments(columns: Sequence[Column], width: float) -> Iterator[tuple[float, str]]:
    """Round moments (UTC), as many as have room for their labels, each with where it lies, counted in columns."""
    if not columns:
        return
    since, until = start_of(columns[0]).timestamp(), columns[-1].end.timestamp()
    room = max(int(width / LABEL_WIDTH), 1)
    step = next(
        (step for step in TIME_STEPS_S if (until - since) / step <= room), ceil((until - since) / room / DAY_S) * DAY_S
    )
    last = -1e9
    for number in range(ceil(since / step), int(until // step) + 1):
        at = datetime.fromtimestamp(number * step, UTC)
        place = _place(columns, at)
        if (place - last) * width / len(columns) >= LABEL_WIDTH * 0.8:
            yield place, f"{at:%d %b}" if step >= DAY_S else f"{at:%H:%M:%S}" if step < 60 else f"{at:%H:%M}"
            last = place


def _place(columns: Sequence[Column], at: datetime) -> float:
    number = min(bisect_left(columns, at, key=lambda column: column.end), len(columns) - 1)
    column = columns[number]
    inside = (at - start_of(column)).total_seconds() / column.interval_s if column.interval_s else 1.0
    return number + min(max(inside, 0.0), 1.0)


def times_in_words(columns: Sequence[Column]) -> str:
    """From when to when, and how long a column is: `2026-11-21 06:00:00 to 06:05:00 UTC, 300 columns of 1 s`."""
    if not columns:
        return "no column"
    since, until = start_of(columns[0]), columns[-1].end
    end = f"{until:%H:%M:%S}" if since.date() == until.date() else f"{until:%Y-%m-%d %H:%M:%S}"
    widths = sorted(column.interval_s for column in columns)
    return f"{since:%Y-%m-%d %H:%M:%S} to {end} UTC, {len(columns)} columns of {duration(widths[len(widths) // 2])}"
