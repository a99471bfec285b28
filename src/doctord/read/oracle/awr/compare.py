"""Reports that compare two periods: each table becomes two, one for each period, with the usual columns.

Columns are told apart by `1st` and `2nd` in their names (`Waits 1st`, `1st per sec`), rows by `B1`, `E1`, `1st` in
their first cell. Differences are left out: they can be worked out.
"""

import re

from doctord._native import ReportTable
from doctord.regex import regex

PERIOD = regex(r"\b(1st|2nd)\b\s*")
ROW = regex(r"(?:1st|2nd|[BE][12])$")
NEVER = regex(r"diff\b|\btotal$|1st/2nd", re.IGNORECASE)


def period_of(table: ReportTable, period: int) -> ReportTable | None:
    """What a table says of the first (1) or second (2) period; null when it tells no periods apart.

    The texts of statements are the same for both.
    """
    if table.title.startswith("Complete List of SQL Text"):
        return table
    if any(PERIOD.search(name) for name in table.names):
        return _columns(table, "1st" if period == 1 else "2nd")
    marks = [mark or "" for mark in table.texts(0)] if len(table) and table.names else []
    if marks and all(ROW.match(mark) for mark in marks):
        return _rows(table, marks, str(period))
    return None


def _columns(table: ReportTable, mark: str) -> ReportTable:
    kept = dict[int, str]()
    for column, name in enumerate(table.names):
        found = PERIOD.search(name)
        if NEVER.search(name):
            continue
        if found is None:
            kept[column] = name
        elif found[1] == mark:
            kept[column] = PERIOD.sub("", name).replace("Period ", "", 1).strip()
    return table.select(list(kept), list(kept.values()))


def _rows(table: ReportTable, marks: list[str], period: str) -> ReportTable:
    own = [row for row, mark in enumerate(marks) if period in mark]
    return table.only(own)
