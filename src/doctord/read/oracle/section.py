"""What a section of a report means, said in data: which column goes under which name, in which unit.

A section is known by its title (or, where several tables have the same title, by the summary that its HTML gives),
and its columns by their names, of which different versions have different ones.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Protocol

from doctord._native import ReportTable
from doctord.read.oracle.report import Place, Report, Values, filled_down, place

MIB = 1048576.0
ROOT = "CDB$ROOT"
# Rows that add up the others.
SUMS = {"Total", "TOTAL", "Total:", "TOTAL:", "Sum"}
UNIT = re.compile(r"\((?:in )?(us|ms|cs|s|secs?|seconds|centi-?seconds|mins?|minutes|hrs?)\)", re.IGNORECASE)
UNITS = {"seconds": "s", "sec": "s", "secs": "s", "centiseconds": "cs", "centi-seconds": "cs", "minutes": "min"}
# A row's name as the statistic's full name, its unit, and the factor that makes the value so; null: it is not kept.
Meant = tuple[str, str, float]
NameOf = Callable[[str], Meant | None]
# A statistic: its name, its unit, and what it is about.
Given = tuple[str, str, str]
NO_VALUES: tuple[float | None, ...] = ()


class Section(Protocol):
    """What is made of a table."""

    @property
    def title(self) -> str:
        """Pattern of titles or summaries, without regard to case; it holds from the beginning."""
        ...

    def fill(self, table: ReportTable, report: Report) -> bool:
        """Add the table's rows to the report's; false when the table has not the columns for that."""
        ...

    def given(self) -> Iterator[Given]:
        """The statistics that it gives: name, unit, and the columns that make the entity."""
        ...


@dataclass(frozen=True, slots=True)
class Figure:
    """A column of figures.

    Attributes:
        name: What stands after the view in the statistic's name.
        columns: Names of the column in different versions.
        unit: Unit of the value; one that ends in `per_s` makes it a rate.
        bare: Of times: the unit of a cell that does not say it, where the column's name does not either.
        to: Of times: the unit wanted; null: it is not a time.
        kilo: What K stands for.
        by: Factor.
        is_total: Whether it is an increase over the interval, to be made a rate.
    """

    name: str
    columns: tuple[str, ...]
    unit: str
    bare: str = "s"
    to: str | None = None
    kilo: float = 1000.0
    by: float = 1.0
    is_total: bool = False

    def values(self, placed: Place) -> Sequence[float | None]:
        """The values of a table's rows; none at all where the table has no such column."""
        column = placed.table.find(*self.columns)
        if column is None:
            return NO_VALUES
        # Where all rows cover the same time, the division is done natively.
        seconds = placed.seconds if self.is_total and isinstance(placed.seconds, float) else None
        over = seconds or 1.0
        if self.to is None:
            found = placed.table.numbers(column, kilo=self.kilo, by=self.by, over=over)
        else:
            bare = bare_unit(placed.table.names[column], self.bare)
            found = placed.table.times(column, bare=bare, to=self.to, over=over)
        return placed.per_second(found) if self.is_total and seconds is None else found


def total(name: str, *columns: str, unit: str = "per_s", kilo: float = 1000.0, by: float = 1.0) -> Figure:
    """A count over the interval, as a rate."""
    return Figure(name, columns, unit, kilo=kilo, by=by, is_total=True)


def rate(name: str, *columns: str, unit: str = "per_s", kilo: float = 1000.0, by: float = 1.0) -> Figure:
    """What is a rate already."""
    return Figure(name, columns, unit, kilo=kilo, by=by)


def gauge(name: str, *columns: str, unit: str = "count", kilo: float = 1000.0, by: float = 1.0) -> Figure:
    """A reading, a share, a mean: what is no rate."""
    return Figure(name, columns, unit, kilo=kilo, by=by)


def spent(name: str, *columns: str, bare: str = "s") -> Figure:
    """Time spent over the interval, as seconds per second."""
    return Figure(name, columns, "s_per_s", bare=bare, to="s", is_total=True)


def mean_ms(name: str, *columns: str, bare: str = "ms") -> Figure:
    """A mean duration, in milliseconds."""
    return Figure(name, columns, "ms", bare=bare, to="ms")


def mean_s(name: str, *columns: str, bare: str = "s") -> Figure:
    """A duration in seconds."""
    return Figure(name, columns, "s", bare=bare, to="s")


@cache
def bare_unit(name: str, default: str) -> str:
    """The unit of time that a column's name says: `Avg Wait (ms)`."""
    found = UNIT.search(name)
    if found is None:
        return default
    word = found[1].lower()
    return UNITS.get(word, word)


@dataclass(frozen=True, slots=True)
class Statistics:
    """A table with an entity in each row, and figures of it in the columns.

    Attributes:
        title: As in `Section`.
        view: What stands before the dot in names.
        entity: Columns that name the entity; each a name, or names of different versions. Empty: no entity.
        figures: The columns.
        glue: What joins several columns of an entity.
        is_size: Whether the entity is a size, which is written without signs between groups of digits.
        head: Names of a column with the pluggable database, which goes before the entity with a colon; the root
            does not.
    """

    title: str
    view: str
    entity: tuple[str | tuple[str, ...], ...]
    figures: tuple[Figure, ...]
    glue: str = " "
    is_size: bool = False
    head: tuple[str, ...] = ("PDB Name", "Container Name")

    def fill(self, table: ReportTable, report: Report) -> bool:
        """Statistics of each row."""
        placed = place(table, report)
        entities = self._entities(placed.table)
        if entities is None:
            return False
        held = [
            add_figure(
                report,
                placed,
                figure.values(placed),
                name=f"{self.view}.{figure.name}",
                unit=figure.unit,
                entities=entities,
            )
            for figure in self.figures
        ]
        return any(held)

    def given(self) -> Iterator[Given]:
        """A statistic for each column."""
        columns = (names if isinstance(names, str) else names[0] for names in self.entity)
        entity = self.glue.join(columns)
        seen = set[str]()
        for figure in self.figures:
            if figure.name not in seen:
                seen.add(figure.name)
                yield f"{self.view}.{figure.name}", figure.unit, entity

    def _entities(self, table: ReportTable) -> list[str | None] | str | None:
        """The entity of each row: null for a sum of the others; empty for all where the table has no entities."""
        if not self.entity:
            return ""
        found = [table.find(*((names,) if isinstance(names, str) else names)) for names in self.entity]
        if found[0] is None:
            return None
        parts = [self._part(table, column) for column in found if column is not None]
        if len(parts) == 1:
            joined = filled_down(parts[0])
        else:
            joined = [self.glue.join(part for part in row if part) for row in zip(*parts, strict=True)]
        head = table.find(*self.head)
        if head is not None:
            pdbs = zip(table.texts(head), joined, strict=True)
            joined = [name if pdb in {None, ROOT} else f"{pdb}:{name}" for pdb, name in pdbs]
        return [None if name in SUMS or not name else name for name in joined]

    def _part(self, table: ReportTable, column: int) -> list[str | None]:
        texts = table.texts(column)
        if not self.is_size:
            return texts
        numbers = table.numbers(column)
        return [text if number is None else f"{number:.10g}" for text, number in zip(texts, numbers, strict=True)]


def add_figure(
    report: Report, placed: Place, values: Sequence[float | None], *, name: str, unit: str, entities: Values
) -> bool:
    """Add one statistic of each row that has a value and, where there are entities, one; false where there is none."""
    if not values:
        return False
    row = placed.row | {
        "component": "oracle",
        "entity": entities or None,
        "name": name,
        "value": values,
        "unit": unit,
        "kind": "rate" if unit.endswith("per_s") else "gauge",
    }
    needed = ("value", "entity") if isinstance(entities, list) else ("value",)
    return report.filled.add_known("statistic", len(values), row, *needed) > 0


def picked(values: Values, keep: list[int]) -> Values:
    """The values of these rows, where there is one for each."""
    return [values[at] for at in keep] if isinstance(values, list) else values


@dataclass(frozen=True, slots=True)
class Named:
    """A table with a statistic in each row: its name in one column, its value in others.

    Attributes:
        title: As in `Section`.
        name_of: What a row's name means.
        names: Columns that name the statistic; null: the first.
        values: What to take the value from, the best first.
    """

    title: str
    name_of: NameOf
    names: tuple[str, ...]
    values: tuple[Figure, ...]

    def fill(self, table: ReportTable, report: Report) -> bool:
        """A statistic of each row."""
        placed = place(table, report)
        column = placed.table.find(*self.names)
        if column is None:
            return False
        found = next((values for figure in self.values if (values := figure.values(placed))), NO_VALUES)
        named = [self.name_of(name.rstrip(": ")) if name else None for name in placed.table.texts(column)]
        keep = [at for at, value in enumerate(found) if value is not None and named[at] is not None]
        add_named(report, placed, keep, named, found)
        return bool(found)

    def given(self) -> Iterator[Given]:
        """A statistic for each row: `NAME` stands for what is printed."""
        meant = self.name_of("NAME")
        if meant is not None:
            yield meant[0], meant[1], ""


def add_named(
    report: Report,
    placed: Place,
    keep: list[int],
    named: Sequence[Meant | None],
    values: Sequence[float | None],
) -> None:
    """Add statistics that have their own names, units and factors."""
    chosen = [meant for at in keep if (meant := named[at]) is not None]
    row = {key: picked(value, keep) for key, value in placed.row.items()}
    row |= {
        "component": "oracle",
        "name": [name for name, _, _ in chosen],
        "unit": [unit for _, unit, _ in chosen],
        "kind": ["rate" if unit.endswith("per_s") else "gauge" for _, unit, _ in chosen],
        "value": [(values[at] or 0.0) * factor for at, (_, _, factor) in zip(keep, chosen, strict=True)],
    }
    report.filled.add("statistic", len(keep), row)


@dataclass(frozen=True, slots=True)
class Special:
    """A table that a function of its own reads."""

    title: str
    function: Callable[[ReportTable, Report], bool]
    gives: tuple[Given, ...] = ()

    def fill(self, table: ReportTable, report: Report) -> bool:
        """What the function makes of it."""
        return self.function(table, report)

    def given(self) -> Iterator[Given]:
        """The statistics among what it gives."""
        yield from self.gives


@dataclass(frozen=True, slots=True)
class Redundant:
    """A table of sums, shares or extracts of what other tables hold: it is left out."""

    title: str

    def fill(self, table: ReportTable, report: Report) -> bool:  # noqa: ARG002 - as every section
        """Nothing."""
        return True

    def given(self) -> Iterator[Given]:
        """None."""
        yield from ()
