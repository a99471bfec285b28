"""A study to be read on a terminal: the verdict, where the time went, what got worse, and what is not known."""

from collections.abc import Iterator, Sequence
from typing import Final

from rich.text import Text

from doctord.analyse.study.changes import KINDS
from doctord.analyse.study.compare import Row
from doctord.analyse.study.targets import Judged
from doctord.analyse.study.verdict import Comparison
from doctord.app.study.study import Part, Study
from doctord.report.lines import hanging, heading, printed, table
from doctord.report.study import words
from doctord.units import number

SHOWN: Final = 12
COLUMNS: Final = ("before", "after", "delta", "n", "")
STYLES: Final = {"better": "bold green", "worse": "bold red", "no difference": "bold", "not comparable": "bold yellow"}
WORTH: Final = ("worse", "better", "new", "gone", "changed")  # what stands first of the other figures


def render(found: Study, width: int | None = None, *, colour: bool | None = None) -> str:
    """The study as lines of text."""
    return printed(lambda columns: _page(found, columns), width, colour=colour)


def _page(found: Study, width: int) -> Iterator[Text]:
    for text in (found.question.text, found.question.change and f"Changed: {found.question.change}"):
        if text:
            yield from hanging("", text, width)
    for number_, part in enumerate(found.parts):
        if number_:
            yield Text()
        yield from (_of_runs(part, width) if part.name else _of_periods(part, found.question.change, width))
    if accepted := found.question.accepted:
        yield from heading("Accepted", width)
        yield from hanging("  ", ", ".join(accepted), width)


def _of_periods(part: Part, change: str, width: int) -> Iterator[Text]:
    found = part.last
    yield from hanging("", Text(words.verdict(found), style=STYLES[found.verdict]), width)
    if unsure := words.certainty(found):
        yield from hanging("", unsure, width)
    yield from _conditions(found, change, width)
    if found.time:
        per = f"a {found.unit}" if found.unit else "a second"
        yield from heading(f"Database time {per}", width)
        yield from _rows(found.time, found.unit, width)
    if shares := words.shares(found):
        yield from hanging("  Of the change: ", shares, width)
    if found.quantiles:
        yield from heading("How it is spread", width, "quantiles of its steps")
        yield from table(("before", "after", "delta", ""), [words.quantile(one) for one in found.quantiles], width)
    if found.regressions:
        yield from heading("Worse", width, "by the time that it costs")
        for row in found.regressions[:SHOWN]:
            yield from hanging("  ", _regression(row, found.unit), width)
    if part.targets[0]:
        yield from heading("Targets", width)
    for judged in part.targets[0]:
        yield from _target(judged, width)
    others = sorted(filter(_says_something, found.rows), key=_order)
    if others:
        yield from heading("Other figures", width)
        yield from _rows(others, None, width)
    if found.histograms:
        yield from heading("Latencies", width, "shares of them by length")
    for one in found.histograms[:SHOWN]:
        yield from hanging("  ", words.histogram(one), width)
    yield from _not_measured(found, width)


def _conditions(found: Comparison, change: str, width: int) -> Iterator[Text]:
    """What the verdict rests on: a twin, when it moved, load, noise, and what else is different."""
    for line in (*words.twin(found), *words.points(found)):
        yield from hanging("", line, width)
    yield from _loads(found, width)
    yield from _noise(found, width)
    yield from _changes(found, change, width)


def _not_measured(found: Comparison, width: int) -> Iterator[Text]:
    left = found.not_measured
    if left:
        yield from heading("Not measured", width)
    for why in dict.fromkeys(row.difference.why for row in left):
        names = [words.name(row) for row in left if row.difference.why == why]
        yield from hanging("  ", f"{why}: {', '.join(names[:SHOWN])}{_more(names)}", width)


def _of_runs(part: Part, width: int) -> Iterator[Text]:
    yield from hanging("", Text(f"{part.name}: {words.verdict(part.last)}", style=STYLES[part.last.verdict]), width)
    for one, targets in zip(part.comparisons, part.targets, strict=True):
        yield from heading(f"{one.before} / {one.after}", width, one.verdict)
        told = [row for row in one.rows if row not in one.not_measured]
        yield from _rows(sorted(told, key=_order), None, width)
        for judged in targets:
            yield from _target(judged, width)


def _rows(rows: Sequence[Row], unit: str | None, width: int) -> Iterator[Text]:
    cells = [
        (
            words.value(row, row.before),
            words.value(row, row.after),
            words.delta(row),
            words.rows_counted(row),
            words.name(row, unit),
        )
        for row in rows[:SHOWN]
    ]
    yield from table(COLUMNS, cells, width)
    if len(rows) > SHOWN:
        yield from hanging("  ", f"and {len(rows) - SHOWN} more: --json has all", width)


def _loads(found: Comparison, width: int) -> Iterator[Text]:
    loads = found.loads
    if loads is None or found.unit is None:
        return
    told = f"{found.unit}s a second: {number(loads.before)} to {number(loads.after)}"
    if loads.before:
        told += f", {loads.after / loads.before:.2f} times as many"
    if loads.before_range and loads.after_range:
        ranges = (f"{number(low)} to {number(high)}" for low, high in (loads.before_range, loads.after_range))
        told += f" ({', '.join(ranges)})"
    if loads.at is not None:
        told += f"; costs are compared at {number(loads.at)}"
    yield from hanging("", told, width)


def _noise(found: Comparison, width: int) -> Iterator[Text]:
    """What the period before says of chance, of the first figure that the verdict is about."""
    row = next(iter(found.main), None)
    if row is None or row.noise is None or row.noise.least is None:
        return
    noise = row.noise
    least = f"{100 * (noise.least - 1):.1f} %" if noise.least else ""
    if noise.is_steady:
        yield from hanging("", f"The noise of this server is {least}: smaller differences cannot be told.", width)
    else:
        told = "The period before is not steady: its second half differs from its first by"
        halves = f"{100 * abs((noise.halves or 1.0) - 1):.1f} %"
        yield from hanging("", f"{told} {halves}, and differences below {least} cannot be told.", width)


def _changes(found: Comparison, change: str, width: int) -> Iterator[Text]:
    """What else is different: more than one change, and nobody can say which of them did it."""
    if found.changes is None:
        return
    others = found.changes.beside(change)
    if len(others) + bool(change) > 1:
        names = [f"{one.name} ({one.before or 'none'} to {one.after or 'none'})" for one in others]
        told = f"{', '.join(names[:SHOWN])}{_more(names)}: which did it cannot be told"
        hint = "; --change NAMES says what was on purpose" if found.changes.confounding(change) else ""
        yield from hanging("Confounded by: ", told + hint, width)
    elif found.changes.found:
        one = found.changes.found[0]
        yield from hanging(
            "One change is recorded: ", f"{one.name}, {one.before or 'none'} to {one.after or 'none'}", width
        )
    if found.changes.not_recorded:
        kinds = ", ".join(KINDS[kind] for kind in found.changes.not_recorded)
        yield from hanging("Not recorded: ", f"{kinds}: whether these changed, nobody can tell", width)


def _regression(row: Row, unit: str | None) -> str:
    told = f"{words.name(row, unit)}: {words.value(row, row.before)} to {words.value(row, row.after)}"
    before, after = row.seconds
    if before is None or after is None or row.key.kind == "call":
        return f"{told} ({words.delta(row)})"
    way = "more" if after > before else "less, for there are fewer of them"
    return f"{told} ({words.delta(row)}); {number(before)} to {number(after)} s a second: {way}"


def _target(one: Judged, width: int) -> Iterator[Text]:
    said = {True: "met", False: "missed", None: "not measured"}[one.is_met]
    values = f": {words.value(one.row, one.row.before)} to {words.value(one.row, one.row.after)}" if one.row else ""
    yield from hanging(f"  {said:14}", f"{one.target.text}{values}", width)


def _says_something(row: Row) -> bool:
    """Whether a figure is worth a line: what got worse has one already, and what was never there needs none."""
    return row.outcome not in {"untold", "worse"} and bool(row.before or row.after or row.outcome in {"new", "gone"})


def _order(row: Row) -> tuple[int, float]:
    """What got worse first, then what got better; the largest change first."""
    place = WORTH.index(row.outcome) if row.outcome in WORTH else len(WORTH)
    ratio = row.difference.ratio or 1.0
    return place, -max(ratio, 1 / ratio) if ratio > 0 else 0.0


def _more(names: Sequence[str]) -> str:
    return f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
