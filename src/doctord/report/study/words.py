"""The words of a study: values and differences, as benchstat writes them, and the verdict in one line."""

from typing import Final

from doctord.analyse.study.compare import Outcome, Row
from doctord.analyse.study.difference import Difference
from doctord.analyse.study.spreads import Quantile, Spread
from doctord.analyse.study.time_rows import DATABASE_TIME
from doctord.analyse.study.verdict import Comparison
from doctord.units import duration, in_latency, number, quantity

SIGNS: Final[dict[Outcome, str]] = {"same": "~", "new": "new", "gone": "gone", "untold": "?"}
TIMES: Final = 3.0  # a ratio above this is told as times, and not as per cent
MOST_TIMES: Final = 100  # more is told by the values better
MOST_POINTS: Final = 3
WORTH: Final = 0.01  # of a change, for a part of it to be named
MOST_PARTS: Final = 5
MANY: Final = 1.2  # times as many, from which on a device that is as quick as before has shown something
NEARLY_ALL: Final = 99.0  # per cent: what is beyond shows a digit more
UNIT_NAMES: Final = {"pct": "%", "s_per_s": "s/s", "requests_per_day": ""}
LEADS: Final = {
    "better": "Better",
    "worse": "Worse",
    "no difference": "No difference that can be told",
    "not comparable": "Not comparable",
}


def value(row: Row, of: float | None) -> str:
    """A value of a row with its unit; a dash where it was not measured."""
    if of is None:
        return "-"
    if row.key.kind in {"time", "call"} and row.unit == "s":
        return in_latency(of)
    return quantity(of, row.unit) if row.unit not in UNIT_NAMES else f"{number(of)} {UNIT_NAMES[row.unit]}".rstrip()


def delta(row: Row) -> str:
    """The difference with its interval; `~`: none that can be told, `?`: nobody can say.

    Of a value that became three times as large or more, how many times.
    """
    told = row.difference
    if told.ratio is None or row.outcome == "untold":
        return "to 0" if row.after == 0 and row.before else SIGNS.get(row.outcome, "")
    sign = "~ " if row.outcome == "same" else ""
    return sign + ratio_told(told.ratio, told.low, told.high)


def ratio_told(ratio: float | None, low: float | None = None, high: float | None = None) -> str:
    """A ratio with its interval, in per cent; from three times as much on, in times."""
    if ratio is None:
        return ""
    if ratio >= TIMES:
        return f"x {number(ratio)}" + ("" if low is None or high is None else f" ({number(low)} to {number(high)})")
    return f"{_pct(ratio)} %" + ("" if low is None or high is None else f" ({_pct(low)} to {_pct(high)})")


def rows_counted(row: Row) -> str:
    """How many rows a difference is of, before and after."""
    counts = [str(one.rows) if one else "0" for one in (row.difference.before, row.difference.after)]
    return counts[0] if counts[0] == counts[1] else "+".join(counts)


def name(row: Row, unit: str | None = None) -> str:
    """What a row is about."""
    if row.key == DATABASE_TIME:
        return f"database time a {unit}" if unit else "database time a second"
    if row.key.kind == "statement":
        return row.key.of or row.key.name
    return f"{row.key.name}, {row.key.of}" if row.key.of else row.key.name


def verdict(found: Comparison) -> str:
    """The verdict in one line: what became of the first figure that it is about, or why there is none."""
    lead = LEADS[found.verdict]
    if found.twin and found.main and found.verdict != "not comparable":
        return f"{lead}: {name(found.main[0], found.unit)} {delta(found.twin.net)}, its twin's own difference taken off"
    if found.verdict == "not comparable" or not found.main:
        return f"{lead}: {found.why}"
    row = next((row for row in found.main if row.outcome == found.verdict), found.main[0])
    values = f"{value(row, row.before)} to {value(row, row.after)}"
    return f"{lead}: {name(row, found.unit)} {values} ({delta(row)}{_factor(row)})"


def twin(found: Comparison) -> list[str]:
    """What a twin says, in sentences; none where none is named."""
    told = found.twin
    if told is None or not found.main:
        return []
    own, halves = found.main[0], told.net.noise.halves if told.net.noise else None
    moved = "it moved too, and that is taken off" if told.has_moved else "no difference that can be told"
    apart = f" (halves of the period before: {_pct(halves)} %)" if halves else ""
    return [
        f"Here: {in_latency(own.before or 0.0)} to {in_latency(own.after or 0.0)}, {delta(own)}.",
        f"Twin {told.name}: {_values(told.own)}: {moved}.",
        f"Both moved in parallel before the change{apart}."
        if told.is_parallel
        else f"They did not move in parallel before the change{apart}: the twin shows nothing.",
    ]


def points(found: Comparison) -> list[str]:
    """When the cost moved, in sentences; none where it did not, or the periods are too short to tell."""
    told = found.points
    if told is None:
        return []
    named = f"{told.ended:%F %T} to {told.began:%F %T} UTC"
    lines = [
        f"Within the period before, it changed at {one.at:%F %T} UTC ({ratio_told(one.difference.ratio)}), "
        f"{duration((told.ended - one.at).total_seconds())} before its end."
        for one in told.before[-MOST_POINTS:]
    ]
    lines += [
        f"Within the period after, it changed at {one.at:%F %T} UTC ({ratio_told(one.difference.ratio)}), "
        f"{duration((one.at - told.began).total_seconds())} after its beginning."
        for one in told.after[:MOST_POINTS]
    ]
    if told.is_elsewhere:
        lines.append(f"At the change itself ({named}) no difference can be told: what moved, did not move with it.")
    return lines


def shares(found: Comparison) -> str:
    """What database time changed by, the largest part first; empty where it is one event alone, or did not change."""
    parts = [(row, share) for row, share in found.shares_of_change if abs(share) >= WORTH]
    named = ", ".join(f"{row.key.name} {100 * share:.0f} %" for row, share in parts[:MOST_PARTS])
    return named if len(parts) > 1 else ""


def histogram(one: Spread) -> str:
    """How a latency is spread, held against before."""
    moved, times = f"{100 * one.difference.moved:.0f} %", one.times_as_many
    many = f"{times:.2g} times as many a second" if times else "how many a second, is not told"
    if one.is_alike:
        quiet = ": what serves them is not under pressure" if times and times > MANY else ""
        return f"{one.subject}: same shape ({moved} lie elsewhere), {many}{quiet}"
    medians = [side.histogram.quantile(0.5) for side in (one.difference.a, one.difference.b)]
    told = " to ".join(in_latency(middle.us / 1e6) for middle in medians if middle)
    return f"{one.subject}: another shape ({moved} lie elsewhere), median {told}, {many}"


def quantile(one: Quantile) -> tuple[str, str, str, str]:
    """A quantile of the cost of a unit: before, after, difference, and which."""
    told = ratio_told(one.ratio, one.low, one.high)
    sign = "~ " if one.low is not None and one.high is not None and one.low <= 1 <= one.high else ""
    return in_latency(one.before), in_latency(one.after), sign + told, f"p{100 * one.share:g}"


def _values(told: Difference) -> str:
    """The cost of a unit before and after."""
    values = (in_latency(one.value) if one else "-" for one in (told.before, told.after))
    return " to ".join(values) + (f", {ratio_told(told.ratio, told.low, told.high)}" if told.ratio else "")


def certainty(found: Comparison) -> str:
    """Why the figure that the verdict is about has no interval; empty where it has one."""
    why = {row.difference.why for row in found.main if row.outcome == found.verdict and row.difference.low is None}
    return f"{', '.join(sorted(why))}: no interval, and how much of it is chance cannot be told" if why else ""


def _factor(row: Row) -> str:
    """How many times less, as people tell how much faster something became."""
    ratio = row.difference.ratio
    return f", {1 / ratio:.2f} times less" if ratio and 1 / MOST_TIMES < ratio < 1 else ""


def _pct(ratio: float) -> str:
    """A ratio as a signed change in per cent: a digit after the point below ten."""
    percent = 100 * (ratio - 1)
    digits = 0 if abs(percent) >= 10 and percent > -NEARLY_ALL else 1
    return f"{percent:+.{digits}f}"
