"""An answer to a question of size with its working: to be read, at 80 columns, and as a JSON document."""

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from doctord.analyse.sizing.amounts import amount
from doctord.analyse.sizing.working import Given, Number, Quantity, Step
from doctord.app.size import Answer
from doctord.report.plain import JOINT, together

WIDTH = 80
SCHEMA_VERSION = 1
VERDICTS = {True: ["The present setting is right."], False: ["The present setting is not right."], None: []}


def document(found: Answer) -> dict[str, Any]:
    """The JSON document: docs/reference/size.md."""
    sizing = found.worked
    return {
        "schema_version": SCHEMA_VERSION,
        "question": found.question.name,
        "answer": sizing.answer,
        "fits": sizing.fits,
        "given": [{**_quantity(one), "origin": one.origin} for one in _all_given(found)],
        "assumed": [{**_quantity(one), "because": one.because} for one in sizing.assumed],
        "steps": [_step(one) for one in sizing.steps],
        "settings": [{"name": one.name, "value": one.value, "note": one.note} for one in sizing.settings],
        "cautions": list(sizing.cautions),
    }


def render(found: Answer) -> str:
    """The answer, what it rests on, the arithmetic line by line, and what follows."""
    sizing = found.worked
    lines = [*_wrapped(found.question.asks), "", *_wrapped(sizing.answer), *VERDICTS[sizing.fits]]
    lines += _table("Given", [(one.name, _amount(one), one.origin) for one in _all_given(found)])
    lines += _table("Assumed", [(one.name, _amount(one), one.because) for one in sizing.assumed])
    lines += ["", "Arithmetic", *(line for step in sizing.steps for line in _line(step, sizing.sources))]
    lines += _table("Settings", [(one.name, one.value, one.note) for one in sizing.settings])
    lines += _listed("Before you believe it", [f"- {text}" for text in sizing.cautions])
    lines += _listed("Sources", [f"[{at}] {text}" for at, text in enumerate(sizing.sources, 1)])
    return "\n".join(lines)


def _all_given(found: Answer) -> list[Given]:
    """What was given, what is only held against the answer too, and the points of curves that the working uses."""
    return list(dict.fromkeys([*found.known, *found.worked.given]))


def _quantity(quantity: Quantity) -> dict[str, Any]:
    return {"name": quantity.name, "value": quantity.value, "unit": quantity.unit}


def _step(step: Step) -> dict[str, Any]:
    told = {"formula": step.written(_word), "figures": step.written(_amount), "source": step.source or None}
    return {**_quantity(step), **told}


def _word(part: Quantity | Number) -> str:
    return part.name if isinstance(part, Quantity) else _amount(part)


def _amount(part: Quantity | Number) -> str:
    return amount(part.value, part.unit)


def _line(step: Step, sources: Sequence[str]) -> Iterator[str]:
    """A step on one line, or where that is too long on one for each `=`."""
    mark = f" [{sources.index(step.source) + 1}]" if step.source else ""
    words, figures = step.written(_word), step.written(_amount)
    parts = [step.name, words, *([figures] if figures != words else []), _amount(step) + mark]
    whole = "  " + " = ".join(parts)
    if len(whole) <= WIDTH:
        yield whole
        return
    yield from _wrapped(f"{parts[0]} = {parts[1]}", "  ", "      ")
    yield from _wrapped("= " + " = ".join(parts[2:]), "    ", "      ")


def _table(title: str, rows: Sequence[tuple[str, str, str]]) -> list[str]:
    """Names, amounts and what is to be said of them, in columns; nothing where there is no row."""
    if not rows:
        return []
    name, value = (max(len(row[at]) for row in rows) for at in (0, 1))
    lines = ["", title]
    for row in rows:
        first = f"  {row[0]:<{name}}  {row[1]:<{value}}  "
        lines += _wrapped(row[2], first, " " * len(first)) if row[2] else [first.rstrip()]
    return lines


def _listed(title: str, texts: Sequence[str]) -> list[str]:
    return ["", title, *(line for text in texts for line in _wrapped(text, "  ", "    "))] if texts else []


def _wrapped(text: str, first: str = "", others: str = "") -> list[str]:
    """Lines of a text; a figure stays with its unit."""
    lines = textwrap.wrap(
        together(text),
        WIDTH,
        initial_indent=first,
        subsequent_indent=others,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace(JOINT, " ") for line in lines]
