"""What finds a figure, the list of all that do, and what they share."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias, TypeVar

import polars as pl

from doctord.analyse import figures
from doctord.analyse.sizing.question import Curve, Input
from doctord.analyse.sizing.working import Given
from doctord.dataset.calltrace import Trace
from doctord.dataset.dataset import Dataset
from doctord.units import setting_number


@dataclass(frozen=True)
class Measured:
    """What was measured: a dataset, and the call trace that the files are."""

    dataset: Dataset
    trace: Trace | None = None


Points: TypeAlias = tuple[tuple[float, float], ...]
# A figure, or the points of a curve, with the words for where it was found.
Finder: TypeAlias = Callable[[Measured], tuple[float | Points, str] | None]
Found: TypeAlias = tuple[float, str] | None
FoundCurve: TypeAlias = tuple[Points, str] | None
AnyFinder = TypeVar("AnyFinder", bound=Finder)

FINDERS: Final[dict[str, Finder]] = {}


def finds(*names: str) -> Callable[[AnyFinder], AnyFinder]:
    """Register what finds the inputs of these names; the first line of its docstring says where they may stand."""

    def keep(finder: AnyFinder) -> AnyFinder:
        FINDERS.update(dict.fromkeys(names, finder))
        return finder

    return keep


def find(asked: Input, seen: Measured) -> Given | Curve | None:
    """An input as it was measured; null where it was not, or is zero where it cannot be zero."""
    finder = FINDERS.get(asked.name)
    found = finder(seen) if finder else None
    if found is None:
        return None
    figure, origin = found
    if isinstance(figure, tuple):
        return Curve(asked.name, figure, origin)
    return Given(asked.name, figure, asked.unit, origin) if figure > 0 or asked.zero else None


def where(asked: Input) -> str:
    """Where an input may be found, in words; empty where nothing tells it."""
    finder = FINDERS.get(asked.name)
    return (finder.__doc__ or "").partition("\n")[0].rstrip(".") if finder else ""


def highest(seen: Measured, name: str) -> Found:
    """The highest value of a statistic in any interval, of the server or instance with most of it."""
    found = figures.figures(seen.dataset, name)
    return (max(one.largest for one in found), f"measured: {name}, at the most") if found else None


def setting(seen: Measured, **units: str) -> Found:
    """The first of these settings that has a value above zero; the unit counts where the source gives none.

    Of several servers it is the largest. Of the values that containers of a multitenant database have, the root's
    comes first.
    """
    rows = seen.dataset.frame("setting").filter(pl.col("value").is_not_null()).sort("ts", maintain_order=True)
    for name, unit in units.items():
        by_server = {
            row["db"]: setting_number(str(row["value"]).partition(",")[0], row["unit"] or unit)
            for row in rows.filter(pl.col("name") == name).iter_rows(named=True)
        }
        known = [value for value in by_server.values() if value and value > 0]
        if known:
            return max(known), f"setting: {name}" + (f", the largest of {len(known)}" if len(known) > 1 else "")
    return None
