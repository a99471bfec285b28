"""Sections that nothing is known of: kept where they plainly hold an entity in each row and figures of it.

The statistic's name is the section's title and the column's name, both as printed. Its kind is `gauge`, and but for
times and percentages its unit is not known: what it is, the column's name says.
"""

import re
from collections.abc import Sequence

from doctord._native import ReportTable
from doctord.read.oracle.awr.report import INSTANCE_COLUMNS, Report, filled_down, place
from doctord.read.oracle.awr.section import add_figure
from doctord.regex import regex

DISPLAYS = regex(r"^This table (displays|contains|shows?)\s+(the\s+)?", re.IGNORECASE)


def fill(table: ReportTable, report: Report) -> None:
    """Add statistics of an unknown table, or say that it is not read."""
    placed = place(table, report)
    texts = list[list[str | None]]()
    entities = list[str]()
    found = False
    for column, name in enumerate(placed.table.names):
        held = placed.table.texts(column)
        if not any(held) or name in INSTANCE_COLUMNS:
            continue
        values, unit = _figures(placed.table, column, held)
        if not values:
            if not entities:
                texts.append(held)
            continue
        if texts and not entities:
            rows = zip(*map(filled_down, texts), strict=True)
            entities = [" ".join(part for part in parts if part) for parts in rows]
        full = f"{_plain(table)}.{name or 'value'}"
        found |= add_figure(report, placed, values, name=full, unit=unit, entities=entities or "")
    if not found and len(placed.table):
        about = DISPLAYS.sub("", table.summary.partition(".")[0])
        report.source.note(
            f"section not read: {_plain(table)}" + (f" ({about})" if about not in {"", table.title} else "")
        )


def _plain(table: ReportTable) -> str:
    return table.title or table.summary or "a table without a title"


def _figures(table: ReportTable, column: int, held: list[str | None]) -> tuple[Sequence[float | None], str]:
    """The figures of a column and their unit; none where most of its cells are words."""
    most = sum(text is not None for text in held) / 2
    numbers = table.numbers(column)
    if sum(number is not None for number in numbers) > most:
        return numbers, "pct" if "%" in table.names[column] else "as printed"
    times = table.times(column, to="ms")
    return (times, "ms") if sum(time is not None for time in times) > most else ((), "")
