"""A line of a map's cells as a terminal shows it: shades of plain characters, or backgrounds of 256 or all colours."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import expm1, log1p
from typing import Literal

from doctord.regex import regex
from doctord.report.map.grid import LOG_STEEPNESS, Scale
from doctord.report.palettes import BLUE, BLUE_256, RED, RED_256, SHADES, Rgb

Colours = Literal["none", "256", "true"]
LEVELS = len(SHADES)
GAP = "/"
DIGITS = "0123456789"
RUN = regex(r"(.)\1*")
RESET = "\x1b[0m"


@dataclass(frozen=True, slots=True)
class Ink:
    """How each level is shown: the character, and the escape sequence before it (empty without colour)."""

    characters: Sequence[str]
    sequences: Sequence[str]

    def levels(self) -> str:
        """The levels from few to many, as a legend."""
        return "".join(f"{before}{mark}{RESET if before else ''}" for mark, before in self._pairs())

    def _pairs(self) -> list[tuple[str, str]]:
        return list(zip(self.characters, self.sequences, strict=True))


def ink(palette: Literal["blue", "red"], colours: Colours) -> Ink:
    """The levels of a palette on a terminal of so many colours."""
    if colours == "none":
        return Ink(SHADES, [""] * LEVELS)
    if colours == "256":
        numbers = BLUE_256 if palette == "blue" else RED_256
        return Ink(" " * LEVELS, [f"\x1b[48;5;{number}m" for number in numbers])
    return Ink(" " * LEVELS, [_background(rgb) for rgb in (BLUE if palette == "blue" else RED)])


def _background(rgb: Rgb) -> str:
    return "\x1b[48;2;{};{};{}m".format(*rgb)


def bounds(largest: float, scale: Scale) -> list[float]:
    """The values at which the second and each further level begins."""
    parts = [level / LEVELS for level in range(1, LEVELS)]
    if scale == "root":
        parts = [part**2 for part in parts]
    elif scale == "log":
        parts = [expm1(part * log1p(LOG_STEEPNESS)) / LOG_STEEPNESS for part in parts]
    return [part * largest for part in parts]


def cells(values: Sequence[float | None], limits: Sequence[float], shown: Ink, marks: Mapping[int, str]) -> str:
    """One row: a value a cell, null for a gap. `marks` are characters that stand on cells, by column."""
    # A character a cell: its level, from 1, "0" for nothing and the sign for a gap.
    levels = "".join(
        GAP if value is None else DIGITS[bisect_right(limits, value) + 1] if value > 0 else "0" for value in values
    )
    if not marks:
        return "".join(_run(run[0], run.end() - run.start(), shown) for run in RUN.finditer(levels))
    return "".join(_marked(level, marks.get(column), shown) for column, level in enumerate(levels))


def _run(run: str, length: int, shown: Ink) -> str:
    level = run[0]
    if level in "0/":
        return (GAP if level == GAP else " ") * length
    number = int(level) - 1
    before = shown.sequences[number]
    return f"{before}{shown.characters[number] * length}{RESET if before else ''}"


def _marked(level: str, mark: str | None, shown: Ink) -> str:
    if mark is None:
        return _run(level, 1, shown)
    number = 0 if level == GAP else int(level)
    before = shown.sequences[number - 1] if number > 0 else ""
    # Black on the light half, white on the dark one.
    before += ("\x1b[30m" if number <= LEVELS // 2 else "\x1b[97m") if before else ""
    return f"{before}{mark}{RESET if before else ''}"
