"""Tables as SQL*Plus prints them: a heading, a ruler of dashes as wide as the columns, and rows."""

import re
from collections.abc import Iterator

from doctord.regex import regex

RULER = regex(r"-+(?: +-+)*\s*$")
NUMBER = regex(r"[-+]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][-+]?\d+)?")

Line = tuple[int, str]
Row = dict[str, str | None]


def figure(text: str | None) -> float | None:
    """A number of SQL*Plus, without group separators; null when there is none, or it did not fit its column (`####`).

    >>> figure(" .25"), figure("7,8"), figure("9.5431E+10"), figure("######"), figure("")
    (0.25, 7.8, 95431000000.0, None, None)
    """
    found = NUMBER.fullmatch(text.strip()) if text else None
    return float(found[0].replace(",", ".")) if found else None


def table_rows(lines: list[Line]) -> Iterator[tuple[int, Row]]:
    """Rows of a table with the number of their line: columns by lower-case name, null where nothing is printed.

    The heading may come again, as at the top of a page. Lines before the first ruler are headings.
    """
    columns: list[tuple[str, slice]] = []
    heading = ""
    for number, raw in lines:
        line = raw.expandtabs()
        if RULER.match(line):
            columns = list(_columns(heading, line))
        elif line.strip() and columns and line.split() != heading.split():
            yield number, {name: line[place].strip() or None for name, place in columns}
        elif line.strip():
            heading = line


def _columns(heading: str, ruler: str) -> Iterator[tuple[str, slice]]:
    found = list(re.finditer(r"-+", ruler))
    for this, following in zip(found, [*found[1:], None], strict=True):
        # What is wider than the last column runs on; a value never runs into the next one.
        end = following.start() if following else None
        yield heading[this.start() : end].strip().lower(), slice(this.start(), end)
