"""Numbers as interactive tools print them, and where the columns of their tables go in the dataset."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from doctord.read.tools.report import Report
from doctord.regex import regex

NUMBER = regex(r"(-?\d+(?:[.,]\d+)?|-?[.,]\d+)([KkMmGgTPE]?)i?B?%?$")
POWERS = {letter: power for power, letter in enumerate("KMGTPE", 1)}
NOT_MEASURED = frozenset({"-", "--", "N/A", "n/a", "nan", "-nan"})


def number(text: str, thousand: float = 1024.0) -> float | None:
    """A figure with or without the letter of its size; null where the tool says that there is none.

    A comma stands for the point, as some locales have it: these tools never group digits.

    >>> number("0.14"), number("0,14"), number("3579G"), number("77%"), number("1K", 1000), number("-")
    (0.14, 0.14, 3842921988096.0, 77.0, 1000.0, None)

    Raises:
        ValueError: it is no number.
    """
    if text.replace(".", "", 1).isdecimal():
        return float(text)
    found = NUMBER.match(text)
    if found is None:
        if text in NOT_MEASURED:
            return None
        raise ValueError(f"{text!r} is no number")
    value = float(found[1].replace(",", ".")) or 0.0  # Solaris prints -0
    return value * thousand ** POWERS[found[2].upper()] if found[2] else value


@dataclass(frozen=True)
class Layout:
    """Where the columns of a tool's table go.

    Attributes:
        component: Of the rows in `statistic`.
        tool: What stands before the dot in their names.
        places: Column of the dataset and factor, by the tool's column; several columns that go to one are added up.
        units: Unit, kind and factor of a column that has no place, where its name does not tell.
        left_out: Columns that follow from the others.
    """

    component: str
    tool: str
    places: Mapping[str, tuple[str, float]]
    units: Mapping[str, tuple[str, str, float]] = field(default_factory=dict)
    left_out: frozenset[str] = frozenset()

    def fill(
        self,
        report: Report,
        table: str,
        figures: Mapping[str, float | None],
        about: str | None = None,
        **entity: Any,  # noqa: ANN401 - a cell
    ) -> bool:
        """Put figures into the row of an entity, and those that have no column into `statistic`, about the same.

        False where one of them cannot be: none is put anywhere.
        """
        row, others = dict[str, float](), list[tuple[str, float, tuple[str, str, float]]]()
        for name, value in figures.items():
            if value is None or name in self.left_out:
                continue
            if name in self.places:
                column, factor = self.places[name]
                row[column] = row.get(column, 0.0) + value * factor
            else:
                others.append((name, value, self.units.get(name) or _unit(name)))
        if row and not report.row(table, row, **entity):
            return False
        for name, value, (unit, kind, factor) in others:
            report.statistic(self.component, f"{self.tool}.{name}", value * factor, unit, kind=kind, entity=about)
        return True


def _unit(name: str) -> tuple[str, str, float]:
    """Unit, kind and factor of a column by its name: rates end in /s, shares begin with %."""
    if name.lower().startswith("kb") and name.endswith("/s"):
        return "bytes_per_s", "rate", 1024.0
    if name.endswith("/s"):
        return "per_s", "rate", 1.0
    if name.startswith("%"):
        return "pct", "gauge", 1.0
    return "count", "gauge", 1.0


def numbered(names: Iterable[str], values: Iterable[str]) -> dict[str, float | None]:
    """Figures by the names above them.

    Raises:
        ValueError: one of them is no number, or there are not as many of one as of the other.
    """
    return {name: number(value) for name, value in zip(names, values, strict=True)}
