"""Lines of a table of figures by name: its columns by their headings, and each line with its cells and its time."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

from doctord.dataset.rows import micros
from doctord.read.clock import ASSUMED_STEP_S, untimed
from doctord.read.moments import moment_of_cell
from doctord.read.source import SourceFile
from doctord.read.tabular.kept_headings import Heading, plain

SEPARATORS: Final = ",;\t|"
DATES: Final = ("date", "day")
NO_INTERVAL: Final = "no interval is told: its rates are taken to be of {:g} s (--every tells)"
AS_MANY: Final = "not as many cells as headings"
NO_DATE: Final = "no date"


class Line(NamedTuple):
    """A line of the table: its number in the file, its cells by column, its time (us since 1970) and length."""

    number: int
    cells: list[str]
    at_us: int
    interval_s: float | None


@dataclass(frozen=True, slots=True)
class Table:
    """A table by its headings.

    Attributes:
        subject: The column that says whom a row is about.
        about: What that is (see SUBJECTS).
        headings: Of all columns.
        names: Whom the rows are about, in small letters.
        state: Which of two states is read: the `first`, or the `other`.
    """

    subject: int
    about: str
    headings: list[Heading]
    names: tuple[str, ...] = ()
    state: str = "first"

    def column(self, *texts: str) -> int | None:
        """The column of one of these headings."""
        return next((at for at, one in enumerate(self.headings) if plain(one.text) in texts), None)

    @property
    def has_states(self) -> bool:
        """Whether its columns are of two states."""
        return any(one.state == "first" for one in self.headings)

    def of(self, state: str) -> list[tuple[int, Heading]]:
        """The columns of figures of a state: `own`, `limit` or `other`."""
        named = {self.subject, self.column(*DATES), self.column("class", "wait class"), self.column("unit")}
        left = {"first": "other", "other": "first"}[self.state]
        two, one_state = {"own": {"own", self.state}, "other": {left}}, {"own": {"own", "other"}, "other": set()}
        asked: dict[str, set[str]] = two if self.has_states else one_state
        wanted = asked.get(state, {state})
        return [(at, one) for at, one in enumerate(self.headings) if one.state in wanted and at not in named]


def separator_of(line: str) -> str:
    """What parts the cells of a heading."""
    return max(SEPARATORS, key=line.count)


def cells_of(line: str, separator: str) -> list[str]:
    """The cells of a line, without blanks around them; none of what is no CSV."""
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=separator), [])]
    except csv.Error:
        return []


def lines_of(source: SourceFile, table: Table, separator: str) -> Iterator[Line]:
    """The lines below the heading; those by date cover the time from one date to the next."""
    dates = table.column(*DATES)
    at_us = micros(untimed(source, 1)[0]) if dates is None else None
    found = list[tuple[int, list[str], int]]()
    for number, text in source.lines():
        cells = cells_of(text.lstrip("\ufeff"), separator)
        if not any(cells) or cells == [one.text for one in table.headings]:
            continue
        if len(cells) != len(table.headings):
            source.skip(number, AS_MANY)
            continue
        try:
            found.append((number, cells, at_us or micros(moment_of_cell(cells[dates or 0], source))))
        except ValueError:
            source.skip(number, NO_DATE)
    moments = sorted({at for _, _, at in found})
    steps = [later - one for one, later in pairwise(moments)]
    interval_s = min(steps) / 1e6 if steps else None
    if dates is None and table.about == "wait" and any(one.per_s for _, one in table.of("own")):
        interval_s = source.every_s or ASSUMED_STEP_S
        source.note(NO_INTERVAL.format(interval_s))
    for number, cells, at in found:
        yield Line(number, cells, at, interval_s)
