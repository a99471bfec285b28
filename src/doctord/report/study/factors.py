"""The effects of factors, to be read on a terminal and as a JSON document: docs/reference/study.md."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from rich.text import Text

from doctord.analyse.study.factors import Effect
from doctord.app.study.factors import Factorial
from doctord.report.lines import hanging, heading, printed, table
from doctord.report.study.words import ratio_told

TOLD = ("better", "worse", "changed")


def document(found: Factorial) -> dict[str, Any]:
    """What `doctord study-factors --json` gives."""
    told = found.effects
    return {
        "schema_version": 1,
        "table": found.table,
        "result": found.result,
        "better": found.better,
        "runs": told.runs,
        "freedom": told.freedom,
        "noise": told.noise,
        "has_products": told.has_products,
        "in_blocks": list(told.in_blocks),
        "not_varied": list(told.not_varied),
        "left_out": list(found.left_out),
        "effects": [asdict(one) for one in told.found],
    }


def render(found: Factorial, width: int | None = None, *, colour: bool | None = None) -> str:
    """The effects as lines of text."""
    return printed(lambda columns: _page(found, columns), width, colour=colour)


def _page(found: Factorial, width: int) -> Iterator[Text]:
    told = found.effects
    yield from hanging("", Text(_verdict(found), style="bold"), width)
    yield from hanging("", f"{found.table}: {told.runs} runs; {found.better} {found.result} is good.", width)
    yield from _noise(found, width)
    single = [one for one in told.found if len(one.factors) == 1]
    yield from heading("Effects", width, "the other factors held as they were")
    yield from _rows(single, width)
    if pairs := [one for one in told.found if len(one.factors) > 1]:
        yield from heading("Together", width, "the first's effect under the second, times that without")
        yield from _rows(pairs, width)
    if notes := [*_notes(found)]:
        yield from heading("Not told apart", width)
        for note in notes:
            yield from hanging("  ", note, width)


def _verdict(found: Factorial) -> str:
    """The largest effect that could be told."""
    told = [one for one in found.effects.found if one.outcome in {"better", "worse"} and one.ratio]
    if not told:
        unsure = any(one.p is None for one in found.effects.found)
        return "No effect can be told" + (": there are too few runs" if unsure and found.effects.noise is None else "")
    most = max(told, key=lambda one: max(one.ratio or 1.0, 1 / (one.ratio or 1.0)))
    return f"Largest effect: {_named(most)} {ratio_told(most.ratio, most.low, most.high)}, {most.outcome}"


def _noise(found: Factorial, width: int) -> Iterator[Text]:
    told = found.effects
    if told.noise is None:
        said = f"{told.runs} runs leave {told.freedom} to tell chance by: repeat runs, in another order, for intervals."
    else:
        said = f"Two runs of the same settings may differ by {100 * (told.noise - 1):.1f} %."
    yield from hanging("", said, width)
    if not told.has_products and len({name for one in told.found for name in one.factors}) > 1:
        yield from hanging("", "What two factors do together was not looked at: runs are too few for it.", width)


def _rows(effects: Sequence[Effect], width: int) -> Iterator[Text]:
    yield from table(("delta", ""), [(_delta(one), _named(one)) for one in effects], width)


def _delta(one: Effect) -> str:
    if one.ratio is None:
        return "?"
    sign = {"same": "~ ", "untold": "? "}.get(one.outcome, "")
    return sign + ratio_told(one.ratio, one.low, one.high)


def _named(one: Effect) -> str:
    pairs = zip(one.factors, one.levels, strict=True)
    return " x ".join(f"{factor} {before} to {after}" for factor, (before, after) in pairs)


def _notes(found: Factorial) -> Iterator[str]:
    told = found.effects
    for one in told.found:
        if one.confounded_by and one.ratio is None:
            yield f"{_named(one)}: confounded by {', '.join(one.confounded_by)}, which changed together with it"
    for one in told.found:
        if one.with_products:
            pairs = ", ".join(" x ".join(pair) for pair in one.with_products)
            yield f"{_named(one)}: what these do together would be in it: {pairs}"
    if told.in_blocks:
        yield f"{', '.join(told.in_blocks)}: run one level after the other, and what drifted meanwhile is in it"
    if told.not_varied:
        yield f"{', '.join(told.not_varied)}: of one level in all runs"
    if found.left_out:
        yield f"{', '.join(found.left_out)}: taken for readings, and no factors (--factor names them)"
