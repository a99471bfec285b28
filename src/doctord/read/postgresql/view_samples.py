"""Rows of PostgreSQL's views with the moment at which somebody looked."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from doctord.dataset.rows import micros
from doctord.read.clock import untimed
from doctord.read.figures import number
from doctord.read.moments import moment_of_cell
from doctord.read.postgresql.psql_table import Row
from doctord.read.postgresql.view_columns import MOMENTS
from doctord.read.source import SourceFile

NULLS: Final = ("", r"\N", "NULL", "null")
NO_MOMENT: Final = "no moment"


class Sample(NamedTuple):
    """A row of a view, with what is empty in it left out, when it was, and how long it stands for."""

    at_us: int
    cells: dict[str, str]

    def number(self, name: str) -> float | None:
        """The figure in a column; null where there is none."""
        return number(self.cells[name]) if name in self.cells else None

    def age_s(self, source: SourceFile, *names: str) -> float | None:
        """Seconds since the latest of these times; null where none of them is told."""
        known = [moment for name in names if (moment := moment_us(self.cells.get(name), source))]
        return max(0.0, (self.at_us - max(known)) / 1e6) if known else None


def samples(source: SourceFile, found: Sequence[Row]) -> Iterator[Sample]:
    """The rows with their moment: their own, else the latest that any of them names, else the file's last change."""
    plain = [(line, {name: cell.strip() for name, cell in row.items() if cell.strip() not in NULLS})
             for line, row in found]  # fmt: skip
    column = next((name for name in MOMENTS if any(name in row for _, row in plain)), None)
    latest = None if column else _latest_us(source, [row for _, row in plain])
    for line, row in plain:
        at_us = latest if latest is not None else moment_us(row.get(column or ""), source)
        if at_us is None:
            source.skip(line, NO_MOMENT)
        else:
            yield Sample(at_us, row)


def _latest_us(source: SourceFile, found: list[dict[str, str]]) -> int:
    times = [at for row in found for name in ("query_start", "state_change", "xact_start", "waitstart")
             if (at := moment_us(row.get(name), source))]  # fmt: skip
    if not times:
        return micros(untimed(source, 1)[0])
    source.note("no moment beside its rows: the latest time in them is taken")
    return max(times)


def moment_us(text: str | None, source: SourceFile) -> int | None:
    """Microseconds since 1970 of a cell; null where it is empty or no moment."""
    if not text:
        return None
    try:
        return micros(moment_of_cell(text, source))
    except ValueError:
        return None
