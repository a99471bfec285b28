"""Targets that were set before: which figure they are about, and whether it reached them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import ge, gt, le, lt
from typing import Final

import polars as pl

from doctord.analyse.study.compare import Row
from doctord.analyse.study.measure import plain_words
from doctord.analyse.study.time_rows import DATABASE_TIME
from doctord.analyse.study.verdict import Comparison
from doctord.dataset.dataset import Dataset

OPERATORS: Final = {"<": lt, "<=": le, ">": gt, ">=": ge}
# What one of a unit is in the unit that it is compared in.
SCALES: Final = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
# A figure that is to be eliminated is so when this share of it is left.
LEFT: Final = 0.01


@dataclass(frozen=True, slots=True)
class Target:
    """A figure, and what it is to be: `name` as people say it, with its unit at the end perhaps (`commit_ms`)."""

    name: str
    operator: str
    limit: float
    unit: str | None = None

    @property
    def text(self) -> str:
        """As it is written."""
        unit = self.unit or ""
        return f"{self.name} {self.operator} {self.limit:g}{' ' if unit else ''}{unit}"


@dataclass(frozen=True, slots=True)
class Judged:
    """A target, the row that it is about, and whether it is met; null where its figure was not measured after."""

    target: Target
    row: Row | None
    is_met: bool | None


def targets_in(dataset: Dataset) -> Iterator[Target]:
    """Those that the keeper of a table wrote beside its figures."""
    rows = dataset.frame("statistic").filter(pl.col("component") == "target").drop_nulls("value")
    for name, entity, value, unit in rows.select("name", "entity", "value", "unit").iter_rows():
        yield Target(str(entity or name), "<=", float(value), unit if unit in SCALES else None)


def judged_targets(targets: Iterable[Target], found: Comparison) -> list[Judged]:
    """Each target with what became of it."""
    return [judged_target(target, found) for target in targets]


def judged_target(target: Target, found: Comparison) -> Judged:
    """A target with what became of it."""
    row = _row_of(target, found)
    if row is None or row.after is None:
        gone = row is not None and row.outcome == "gone" and target.operator in {"<", "<="}
        return Judged(target, row, True if gone else None)
    after, before = (_in_unit(value, row.unit, target.unit) for value in (row.after, row.before))
    if target.limit == 0 and target.operator == "<=" and before is not None and after is not None:
        return Judged(target, row, after <= LEFT * before)
    return Judged(target, row, None if after is None else OPERATORS[target.operator](after, target.limit))


def _row_of(target: Target, found: Comparison) -> Row | None:
    """The row that is meant: by its name, or by that of the load whose time is told; lengths of waits first."""
    words = plain_words(target.name)
    rows = sorted(found.all_rows, key=lambda row: row.key.kind != "wait")
    known = {True: words, False: words[:-1]}  # a unit at the end is none of the name
    for asked in known.values():
        if found.unit and asked == [found.unit]:
            return next(row for row in found.time if row.key == DATABASE_TIME)
        for row in rows:
            if asked and asked in (plain_words(row.key.name), plain_words(f"{row.key.name} {row.key.of}")):
                return row
    return None


def _in_unit(value: float | None, own: str, asked: str | None) -> float | None:
    """A value in the unit of a target; as it is where the target has none."""
    if value is None or asked is None or own not in SCALES:
        return value if asked is None or asked == own else None
    return value * SCALES[own] / SCALES[asked]
