"""A latency map on a terminal: the count above, the time below, and what is said about them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import lru_cache
from math import ceil, inf, log2

from doctord.analyse.latency.histogram import Bucket, Histogram
from doctord.analyse.latency.map import Column, LatencyMap
from doctord.report.map.cells import GAP, Colours, Ink, bounds, cells, ink
from doctord.report.map.grid import Grid, GridRow, Value, cells_of, choose_edges, grid, value_of
from doctord.report.map.view import View
from doctord.units import in_latency, in_letters

LABEL = 9  # columns of a row's latency, and of its newest value at the right
BESIDE_COLUMNS = 2 * LABEL + 3
LEAST_WIDTH, LEAST_HEIGHT = 40, 14
BESIDE_ROWS = 9  # lines that are not rows of cells
QUANTILES = {"5": 0.5, "9": 0.95, "!": 0.99}
CAUTION = {
    "histogram": "",
    "sampled": ", SAMPLED: short waits are mostly missed",
    "mean": ", MEAN ONLY: the source knows no distribution",
}
CURSOR, MEAN, THRESHOLD = "+", "o", "-"


@dataclass(frozen=True, slots=True)
class Frame:
    """The lines of a screen, and the cells on it, with how many columns there are before them."""

    lines: list[str]
    grid: Grid
    older: int


def frame(
    drawn: LatencyMap,
    view: View,
    size: tuple[int, int],
    colours: Colours,
    *,
    whole: Histogram | None = None,
    state: str = "",
    foot: Sequence[str] = (),
) -> Frame:
    """The map on a terminal.

    Args:
        drawn: The map.
        view: What of it is looked at.
        size: Columns and lines of the terminal.
        colours: How many it has.
        whole: What the rows are chosen by; null takes all that the map holds.
        state: A word for the upper right corner: live, paused...
        foot: Lines for the foot, in the place of the cursor's when there is none.
    """
    width, height = size
    room = min(view.columns or inf, width - BESIDE_COLUMNS)
    end = len(drawn.columns) - min(view.back, max(len(drawn.columns) - 1, 0))
    begin = max(end - int(room), 0)
    if drawn.kind == "mean":
        drawn, whole = means_as_marks(drawn), None
    visible = replace(drawn, columns=drawn.columns[begin:end])
    rows = max(min(view.rows or inf, (height - BESIDE_ROWS) // 2), 1)
    edges = choose_edges(whole if whole is not None else visible.whole, int(rows), view.low_us, view.high_us)
    shown = grid(visible, edges)
    lines = [
        _title(visible, state, width),
        *_panel(visible, shown, view, "count", shades=ink("blue", colours), width=width),
        *_panel(visible, shown, view, "time", shades=ink("red", colours), width=width),
        _times(visible.columns),
        *_markers(visible, width),
        *([_over(visible, view.threshold_us)] if view.threshold_us is not None else []),
        *([_under_cursor(visible, shown, view)[:width]] if view.cursor else (line[:width] for line in foot)),
    ]
    return Frame(lines, shown, begin)


def too_small(size: tuple[int, int]) -> str | None:
    """What is wrong with a terminal on which no map can be read; null when one can."""
    if size[0] >= LEAST_WIDTH and size[1] >= LEAST_HEIGHT:
        return None
    return f"a map needs {LEAST_WIDTH} columns and {LEAST_HEIGHT} lines, this terminal has {size[0]} and {size[1]}"


def means_as_marks(drawn: LatencyMap) -> LatencyMap:
    """The map with each mean as the one bucket it lies in: where a mark stands, not how the waits were spread."""
    return replace(drawn, columns=tuple(_as_mark(column) for column in drawn.columns))


def _as_mark(column: Column) -> Column:
    if column.mean is None:
        return column
    if not column.mean.us or column.count is None:
        return replace(column, histogram=Histogram())
    power = ceil(2 * log2(column.mean.us))
    bucket = Bucket(2 ** ((power - 1) / 2), 2 ** (power / 2), max(round(column.count), 1), column.waited_us)
    return replace(column, histogram=Histogram((bucket,)))


def _title(drawn: LatencyMap, state: str, width: int) -> str:
    place = " on ".join(filter(None, (drawn.db, drawn.host)))
    left = f"{drawn.subject}{f', {place}' if place else ''}{CAUTION[drawn.kind]}"
    return f"{left[: width - len(state) - 1]:<{width - len(state)}}{state}".rstrip()


def _panel(drawn: LatencyMap, shown: Grid, view: View, what: Value, *, shades: Ink, width: int) -> Iterator[str]:
    """A heading with the sums, and the rows from the longest latency down."""
    uppers = tuple(row.le_us for row in shown.rows)
    rates = [_rates(column, uppers, what) for column in drawn.columns]
    largest = max((value for held in rates if held for value in held), default=0.0)
    heading, most = _heading(drawn.columns, what), amount(largest, what)
    beside = width - len(shades.characters) - 1 - len(most)
    yield f"{heading:<{beside}}{shades.levels()} {most}" if len(heading) < beside else heading[:width]
    limits = bounds(largest, view.scale)
    marks = _marks(drawn, shown, view)
    threshold = None if view.threshold_us is None else _row_of(shown, view.threshold_us)
    if not shown.rows:
        yield f"{'':>{LABEL}} |{''.join(GAP if column.is_gap else ' ' for column in drawn.columns)}|"
    for nth in reversed(range(len(shown.rows))):
        values = [None if held is None else held[nth] for held in rates]
        line = cells(values, limits, shades, marks.get(nth, {}))
        edge = ">" if nth == threshold else "|"
        yield f"{label(shown.rows[nth]):>{LABEL}} {edge}{line}| {_newest(values, what)}".rstrip()


def _newest(values: Sequence[float | None], what: Value) -> str:
    newest = values[-1] if values else None
    return "" if newest is None else amount(newest, what) if newest else "."


@lru_cache(maxsize=8192)
def _rates(column: Column, uppers: tuple[float, ...], what: Value) -> list[float] | None:
    """What the cells of a column hold a second: waits, or seconds waited."""
    held = cells_of(column, uppers)
    if held is None:
        return None
    per_second = (1.0 if what == "count" else 1e-6) / (column.interval_s or 1.0)
    return [value_of(cell, what) * per_second for cell in held]


def _heading(columns: Sequence[Column], what: Value) -> str:
    rates = [rate for column in columns if (rate := _rate(column, what)) is not None]
    name = "WAITS" if what == "count" else "TIME WAITED"
    if not rates:
        return f"{name}  not measured"
    newest = _rate(columns[-1], what)
    told = (("now", newest), ("most", max(rates)), ("mean", sum(rates) / len(rates)))
    return f"{name}  " + "  ".join(f"{word} {'-' if rate is None else amount(rate, what)}" for word, rate in told)


@lru_cache(maxsize=8192)
def _rate(column: Column, what: Value) -> float | None:
    value, unit = (column.count, 1.0) if what == "count" else (column.waited_us, 1e-6)
    return None if value is None else value * unit / (column.interval_s or 1.0)


def _marks(drawn: LatencyMap, shown: Grid, view: View) -> Mapping[int, Mapping[int, str]]:
    """Characters that stand on cells, by row and column: the threshold on empty ones, percentiles, means, cursor."""
    marks: dict[int, dict[int, str]] = {}
    if view.threshold_us is not None and (row := _row_of(shown, view.threshold_us)) is not None:
        empty = (number for number, held in enumerate(shown.columns) if held is not None and not held[row].count)
        marks[row] = dict.fromkeys(empty, THRESHOLD)
    for number, column in enumerate(drawn.columns):
        if drawn.kind == "mean" and column.mean_us and (row := _row_of(shown, column.mean_us)) is not None:
            marks.setdefault(row, {})[number] = MEAN
        elif view.percentiles and column.histogram is not None:
            for mark, share in reversed(QUANTILES.items()):
                found = column.histogram.quantile(share)
                if found and (row := _row_of(shown, found.us)) is not None:
                    marks.setdefault(row, {})[number] = mark
    if view.cursor:
        at, row = view.cursor
        marks.setdefault(row, {})[len(drawn.columns) - 1 - at] = CURSOR
    return marks


def _row_of(shown: Grid, latency_us: float) -> int | None:
    return next((nth for nth, row in enumerate(shown.rows) if latency_us <= row.le_us), None)


def _times(columns: Sequence[Column]) -> str:
    """The day, and moments under the columns that they stand for, as many as fit."""
    if not columns:
        return ""
    line = f"{columns[-1].end:%Y-%m-%d}".ljust(LABEL + 2)
    for number, column in enumerate(columns):
        text = f"{column.end:%H:%M:%S}"
        if number % 12 == 0 and (number == 0 or len(columns) - number >= len(text)):
            line = line.ljust(LABEL + 2 + number) + text
    return f"{line} UTC"


def _markers(drawn: LatencyMap, width: int) -> Iterator[str]:
    """A letter under the column in which something happened, and in words what was last."""
    inside = [marker for marker in drawn.markers if drawn.columns and marker.at <= drawn.columns[-1].end]
    letters: dict[int, str] = {}
    for marker in inside:
        number = next((nth for nth, column in enumerate(drawn.columns) if marker.at <= column.end), None)
        if number is not None and marker.at > drawn.columns[0].end - timedelta(seconds=drawn.columns[0].interval_s):
            letters[number] = marker.kind[:1].upper()
    if letters:
        yield " " * (LABEL + 2) + "".join(letters.get(number, " ") for number in range(len(drawn.columns))).rstrip()
        yield f"{inside[-1].at:%H:%M:%S} {inside[-1].kind}: {inside[-1].text}"[:width]


def _under_cursor(drawn: LatencyMap, shown: Grid, view: View) -> str:
    """What the cell under the cursor holds."""
    if not view.cursor or not drawn.columns or not shown.rows:
        return ""
    number = max(len(drawn.columns) - 1 - view.cursor[0], 0)
    row = min(view.cursor[1], len(shown.rows) - 1)
    column, held = drawn.columns[number], shown.columns[number]
    where = f"{column.end:%H:%M:%S}  {label(shown.rows[row], both=True)}:"
    if held is None or not column.count:
        return f"{where} {'no waits' if held is not None else 'not measured'}"
    cell = held[row]
    return (
        f"{where} {cell.count:,} waits, {100 * cell.count / column.count:.3g} % of {column.count:,.0f};"
        f" {amount(cell.waited_us / 1e6, 'time')} of {amount((column.waited_us or 0) / 1e6, 'time')}"
    )


def _over(drawn: LatencyMap, threshold_us: float) -> str:
    """Which share of the waits took longer; between two, when the threshold lies inside of a bucket."""
    buckets, total = drawn.whole.buckets, drawn.whole.total
    if not total:
        return f"no wait over {in_latency(threshold_us / 1e6)}"
    least = 100 * sum(bucket.count for bucket in buckets if bucket.gt_us >= threshold_us) / total
    most = 100 * sum(bucket.count for bucket in buckets if bucket.le_us > threshold_us) / total
    share = f"{least:.3g} %" if least == most else f"between {least:.3g} and {most:.3g} %"
    return f"{share} of the waits took over {in_latency(threshold_us / 1e6)}"


def label(row: GridRow, *, both: bool = False) -> str:
    """The latencies of a row: its upper edge, or both."""
    if row.le_us == inf:
        return f"> {in_latency(row.gt_us / 1e6)}"
    upper = in_latency(row.le_us / 1e6)
    return f"{in_latency(row.gt_us / 1e6)} to {upper}" if both and row.gt_us else upper


def amount(rate: float, what: Value) -> str:
    """Waits, or seconds, in few characters.

    >>> amount(1234567, "count"), amount(0.0123, "time")
    ('1.23M', '12.3 ms')
    """
    return in_latency(rate) if what == "time" else in_letters(rate, 1e4).replace(" ", "")
