"""What a section of a report means, said in data: which column goes under which name, in which unit.

A section is known by its title (or, where several tables have the same title, by the summary that its HTML gives),
and its columns by their names, of which different versions have different ones.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple, Protocol

from doctord._native import ReportFigure, ReportTable
from doctord.read.oracle.awr.report import InstanceRows, Report, Values, filled_down, place
from doctord.regex import regex

MIB = 1048576.0
ROOT = "CDB$ROOT"
# Rows that add up the others.
SUMS = {"Total", "TOTAL", "Total:", "TOTAL:", "Sum"}
UNIT = regex(r"\((?:in )?(us|ms|cs|s|secs?|seconds|centi-?seconds|mins?|minutes|hrs?)\)", re.IGNORECASE)
BRACKETS = regex(r"\s*\(([A-Za-z]+)\)$")
UNITS = {"seconds": "s", "sec": "s", "secs": "s", "centiseconds": "cs", "centi-seconds": "cs", "minutes": "min"}
# A row's name as the statistic's full name, its unit, and the factor that makes the value so; null: it is not kept.
Meant = tuple[str, str, float]
NameOf = Callable[[str], Meant | None]
# A statistic: its name, its unit, and what it is about.
Given = tuple[str, str, str]


class Section(Protocol):
    """One table of a report, known by its title: what rows are made of it, and which statistics it gives."""

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


@dataclass(frozen=True, slots=True, eq=False)
class FigureColumn:
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

    def at(self, table: ReportTable, **texts: str) -> ReportFigure | None:
        """The column of such a table that holds it, for rows with these texts; null where it has none."""
        column = table.find(*self.columns)
        if column is None:
            return None
        bare = bare_unit(table.names[column], self.bare)
        return ReportFigure(column, texts, kilo=self.kilo, by=self.by, bare=bare, to=self.to, is_total=self.is_total)


def total(name: str, *columns: str, unit: str = "per_s", kilo: float = 1000.0, by: float = 1.0) -> FigureColumn:
    """A count over the interval, as a rate."""
    return FigureColumn(name, columns, unit, kilo=kilo, by=by, is_total=True)


def rate(name: str, *columns: str, unit: str = "per_s", kilo: float = 1000.0, by: float = 1.0) -> FigureColumn:
    """A column that the report itself gives a second: reads a second, bytes a second."""
    return FigureColumn(name, columns, unit, kilo=kilo, by=by)


def gauge(name: str, *columns: str, unit: str = "count", kilo: float = 1000.0, by: float = 1.0) -> FigureColumn:
    """A reading, a share, a mean: what is no rate."""
    return FigureColumn(name, columns, unit, kilo=kilo, by=by)


def spent(name: str, *columns: str, bare: str = "s") -> FigureColumn:
    """Time spent over the interval, as seconds per second."""
    return FigureColumn(name, columns, "s_per_s", bare=bare, to="s", is_total=True)


def mean_ms(name: str, *columns: str, bare: str = "ms") -> FigureColumn:
    """A mean duration, in milliseconds."""
    return FigureColumn(name, columns, "ms", bare=bare, to="ms")


def mean_s(name: str, *columns: str, bare: str = "s") -> FigureColumn:
    """A column of durations, read in the unit of heading or cell, else in `bare`, and given in seconds."""
    return FigureColumn(name, columns, "s", bare=bare, to="s")


@cache
def bare_unit(name: str, default: str) -> str:
    """The unit of time that a column's name says: `Avg Wait (ms)`."""
    found = UNIT.search(name)
    if found is None:
        return default
    word = found[1].lower()
    return UNITS.get(word, word)


class Plan(NamedTuple):
    """Where a section's columns are in tables that have certain names of columns.

    Attributes:
        entity: Columns that name the entity of a row, or its statistic.
        head: The column with the pluggable database.
        figures: The columns of figures.
    """

    entity: tuple[int, ...]
    head: int | None
    figures: tuple[ReportFigure, ...]


@lru_cache(maxsize=4096)
def planned(section: "Statistics | Named", names: tuple[str, ...]) -> Plan | None:
    """The plan of a section; reports of one version have the same names in all of their files."""
    return section.plan(ReportTable.made("", names, ()))


@dataclass(frozen=True, slots=True, eq=False)
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
    figures: tuple[FigureColumn, ...]
    glue: str = " "
    is_size: bool = False
    head: tuple[str, ...] = ("PDB Name", "Container Name")

    def fill(self, table: ReportTable, report: Report) -> bool:
        """Add a row of `statistic` for each row and column of figures; false where its columns are missing."""
        placed = place(table, report)
        plan = planned(self, placed.table.names)
        if plan is None:
            return False
        entities = self._entities(placed.table, plan) if plan.entity else None
        needed = "entity" if plan.entity else None
        return report.filled.add_figures(placed, plan.figures, {"entity": entities}, needed) > 0

    def given(self) -> Iterator[Given]:
        """A statistic for each column of figures, with the columns that make its entity."""
        columns = (names if isinstance(names, str) else names[0] for names in self.entity)
        entity = self.glue.join(columns)
        seen = set[str]()
        for figure in self.figures:
            if figure.name not in seen:
                seen.add(figure.name)
                yield f"{self.view}.{figure.name}", figure.unit, entity

    def plan(self, table: ReportTable) -> Plan | None:
        """Where its columns are; null where the first of its entity's is missing."""
        found = [table.find(*((names,) if isinstance(names, str) else names)) for names in self.entity]
        if found and found[0] is None:
            return None
        columns = (
            figure.at(table, name=f"{self.view}.{figure.name}", unit=figure.unit, kind=kind_of(figure.unit))
            for figure in self.figures
        )
        return Plan(
            tuple(column for column in found if column is not None),
            table.find(*self.head),
            tuple(column for column in columns if column is not None),
        )

    def _entities(self, table: ReportTable, plan: Plan) -> list[str | None]:
        """The entity of each row: null for a sum of the others."""
        parts = [self._part(table, column) for column in plan.entity]
        if len(parts) == 1:
            joined = filled_down(parts[0])
        else:
            joined = [self.glue.join(filter(None, row)) for row in zip(*parts, strict=True)]
        if plan.head is not None:
            pdbs = zip(table.texts(plan.head), joined, strict=True)
            joined = [name if pdb in {None, ROOT} else f"{pdb}:{name}" for pdb, name in pdbs]
        return list(joined) if SUMS.isdisjoint(joined) else [None if name in SUMS else name for name in joined]

    def _part(self, table: ReportTable, column: int) -> list[str | None]:
        texts = table.texts(column)
        if not self.is_size:
            return texts
        numbers = table.numbers(column)
        return [text if number is None else f"{number:.10g}" for text, number in zip(texts, numbers, strict=True)]


def kind_of(unit: str) -> str:
    """Whether figures of a unit are rates."""
    return "rate" if unit.endswith("per_s") else "gauge"


def add_figure(
    report: Report, placed: InstanceRows, values: Sequence[float | None], *, name: str, unit: str, entities: Values
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
        "kind": kind_of(unit),
    }
    needed = ("value", "entity") if isinstance(entities, list) else ("value",)
    return report.filled.add_known("statistic", len(values), row, *needed) > 0


def with_unit(view: str, plain: tuple[str, float], units: Mapping[str, tuple[str, float]]) -> NameOf:
    """Names of a view with their unit in brackets behind them.

    Args:
        view: What stands before the dot in names.
        plain: Unit and factor of names without one of these units.
        units: Unit and factor for what stands in the brackets.
    """

    def name_of(name: str) -> Meant:
        found = BRACKETS.search(name)
        if found is None or found[1] not in units:
            return f"{view}.{name}", *plain
        return f"{view}.{name[: found.start()]}", *units[found[1]]

    return name_of


def picked(values: Values, keep: list[int]) -> Values:
    """The values of these rows, where there is one for each."""
    return [values[at] for at in keep] if isinstance(values, list) else values


@dataclass(frozen=True, slots=True, eq=False)
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
    values: tuple[FigureColumn, ...]

    def fill(self, table: ReportTable, report: Report) -> bool:
        """Add a row of `statistic` for each row, which names its figure itself; false where a column is missing."""
        placed = place(table, report)
        plan = planned(self, placed.table.names)
        if plan is None or not len(placed.table):
            return False
        add_named(report, placed, plan.figures[0], placed.table.texts(plan.entity[0]), self.name_of)
        return True

    def given(self) -> Iterator[Given]:
        """A statistic for each row: `NAME` stands for what is printed."""
        meant = self.name_of("NAME")
        if meant is not None:
            yield meant[0], meant[1], ""

    def plan(self, table: ReportTable) -> Plan | None:
        """Where the names are and the best of the values; null where either is missing."""
        column = table.find(*self.names)
        found = next((at for value in self.values if (at := value.at(table)) is not None), None)
        return Plan((column,), None, (found,)) if column is not None and found is not None else None


def add_named(
    report: Report, placed: InstanceRows, figure: ReportFigure, names: Sequence[str | None], name_of: NameOf
) -> bool:
    """Add a statistic of each row with a name that means one; false where there is none."""
    if not names:
        return False
    found, units, kinds, factors = zip(*(_meant(name_of, name) for name in names), strict=True)
    values: dict[str, Values] = {"name": list(found), "unit": list(units), "kind": list(kinds)}
    return report.filled.add_figures(placed, [figure], values, "name", factors) > 0


@lru_cache(maxsize=1 << 16)
def _meant(name_of: NameOf, name: str | None) -> tuple[str | None, str, str, float]:
    """Name, unit, kind and factor; no name where a row is not kept. Reports have the same names again and again."""
    found = name_of(name.rstrip(": ")) if name else None
    return (found[0], found[1], kind_of(found[1]), found[2]) if found else (None, "", "", 1.0)


class Special(NamedTuple):
    """A table that a function of its own reads."""

    title: str
    function: Callable[[ReportTable, Report], bool]
    gives: tuple[Given, ...] = ()

    def fill(self, table: ReportTable, report: Report) -> bool:
        """Add what the section's own function makes of the table; false where it has not the columns."""
        return self.function(table, report)

    def given(self) -> Iterator[Given]:
        """The statistics among what it gives."""
        yield from self.gives


class Redundant(NamedTuple):
    """A table of sums, shares or extracts of what other tables hold: it is left out."""

    title: str

    def fill(self, table: ReportTable, report: Report) -> bool:  # noqa: ARG002 - as every section
        """Add no row; the table counts as understood."""
        return True

    def given(self) -> Iterator[Given]:
        """No statistic: yields nothing."""
        yield from ()
