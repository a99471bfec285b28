"""A table of runs in which several things were varied: a column for each factor, and one for what came of it."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Final

import numpy as np

from doctord.analyse.study.factors import Effects, effects
from doctord.analyse.study.measure import Better, better_of
from doctord.errors import UserError
from doctord.read.tabular.kept_value import value_of

MOST_LEVELS: Final = 12  # a column of more is a reading
FEWEST: Final = 4  # runs
SEPARATORS: Final = ",;\t|"
HINT: Final = "a line a run, a column a factor, and one column of what came of it, as CSV"
Lines = list[tuple[int, dict[str, str]]]


@dataclass(frozen=True, eq=False)
class Factorial:
    """What came of it: of which table and result, which way that is better, and its columns that are neither."""

    table: str
    result: str
    better: Better
    effects: Effects
    left_out: Sequence[str]

    @property
    def healthy(self) -> bool | None:
        """True where an effect could be told, or that there is none; null where none could."""
        return True if any(one.p is not None for one in self.effects.found) else None


def of_table(path: Path, result: str, factors: Sequence[str] = (), better: Better | None = None) -> Factorial:
    """The effects of the factors of a table.

    Args:
        path: The table, in the order of its runs.
        result: The column of what came of each run.
        factors: Columns that were varied; none: all others of two to twelve levels.
        better: Whether low or high results are good; null: as the name of the column says.

    Raises:
        UserError: it is no such table, has no such columns, a result is no number above zero, or runs are too few.
    """
    lines = _lines(path)
    columns = list(lines[0][1])
    for name in (result, *factors):
        if name not in columns:
            raise UserError(f"{path}: there is no column {name!r}", f"columns are {', '.join(columns)}")
    better = better or better_of(result, None)
    if better is None:
        raise UserError(f"is it good when {result!r} is high, or low?", "say so: --better low")
    results = np.array([_result(path, line, row[result]) for line, row in lines])
    levels = {name: [row[name].strip() for _, row in lines] for name in columns if name != result}
    chosen = list(factors) or [name for name, column in levels.items() if len(set(column)) <= _most_levels(column)]
    _check_factors(path, {name: levels[name] for name in chosen}, lines)
    left_out = [name for name in levels if name not in chosen]
    return Factorial(
        path.name, result, better, effects({name: levels[name] for name in chosen}, results, better), left_out
    )


def _most_levels(column: Sequence[str]) -> int:
    """A column that is another in each run is a name or a reading of it."""
    return min(MOST_LEVELS, len(column) // 2)


def _lines(path: Path) -> Lines:
    """The runs by their line of the file.

    Raises:
        UserError: it cannot be read, or is no table.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: {getattr(error, 'strerror', None) or 'no text in UTF-8'}", HINT) from error
    first = text.partition("\n")[0]
    reader = csv.DictReader(text.splitlines(), delimiter=max(SEPARATORS, key=first.count), restkey="", restval="")
    lines = [(reader.line_num, row) for row in reader if any(str(cell).strip() for cell in row.values())]
    if len(lines) < FEWEST:
        raise UserError(f"{path}: {len(lines)} runs are too few", f"{HINT}; at least {FEWEST} runs")
    if wrong := next((line for line, row in lines if "" in row), None):
        raise UserError(f"{path}, line {wrong}: more cells than there are columns", HINT)
    return lines


def _result(path: Path, line: int, cell: str) -> float:
    """What came of a run, in seconds where it is a time.

    Raises:
        UserError: it is missing, no number, a bound, zero or less.
    """
    text, found = cell.strip(), value_of(cell.strip())
    if text.startswith(("<", ">")):
        raise UserError(
            f"{path}, line {line}: {text!r} is a bound, and no result", "run it to its end, or leave the line out"
        )
    if found is None or not isfinite(found.number):
        raise UserError(f"{path}, line {line}: {text!r} is no number", "leave out the line of a run without a result")
    if found.number <= 0:
        raise UserError(
            f"{path}, line {line}: {text!r} is not above zero", "effects are ratios: of nothing there is none"
        )
    return found.number


def _check_factors(path: Path, levels: dict[str, list[str]], lines: Lines) -> None:
    for name, column in levels.items():
        if "" in column:
            raise UserError(
                f"{path}, line {lines[column.index('')][0]}: {name} is not told", "each run has a level of each factor"
            )
        if len(set(column)) > MOST_LEVELS:
            raise UserError(f"{path}: {name} has {len(set(column))} levels", f"at most {MOST_LEVELS}: is it a reading?")
    if not any(len(set(column)) > 1 for column in levels.values()):
        raise UserError(f"{path}: no factor was varied", HINT)
