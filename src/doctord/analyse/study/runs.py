"""Tables of runs: lines of one table that are states themselves, each to be held against another."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import polars as pl

from doctord.analyse.study.figures import DAY_S
from doctord.analyse.study.measure import Key, Measure, better_of
from doctord.analyse.study.samples import Samples
from doctord.dataset.dataset import Dataset
from doctord.regex import regex
from doctord.units import SECONDS

TOTAL: Final = Key("run", "total")
OVER_LIMIT: Final = Key("run", "over limit per day")
PARTED_BY: Final = ", "  # what stands between the factors in the name of a run
_ENDS: Final = regex(r"_?\b(?:min|max)\b|_(?:min|max)(?=_|$)")
_CLASS: Final = regex(r"(?P<bound>[<>≤≥]=?)?\s*(?P<low>\d+(?:\.\d+)?)(?:\s*-\s*\d+(?:\.\d+)?)?\s*(?P<unit>[a-z]+)")


@dataclass(frozen=True, eq=False)
class Run:
    """One line of a table of runs, or one column of a table of classes: its name, and what was measured of it."""

    name: str
    measures: Sequence[Measure]

    def differs_in(self, other: "Run") -> int:
        """How many parts of its name are others: what is varied stands there, one part for each factor."""
        own, theirs = self.name.split(PARTED_BY), other.name.split(PARTED_BY)
        if len(own) != len(theirs):
            return 1
        return sum(one != another for one, another in zip(own, theirs, strict=True))


def runs(dataset: Dataset) -> list[Run]:
    """The runs of a table, in its order; none where it is no such table, or of one run."""
    workload = dataset.frame("statistic").filter(pl.col("component") == "workload").drop_nulls(["entity", "value"])
    classes = {str(name): edge_s(str(name)) for name in workload["entity"].unique(maintain_order=True)}
    by_run: dict[str, list[Measure]] = {}
    if len(classes) > 1 and None not in classes.values():
        for name, measure in _by_class(workload, {name: edge for name, edge in classes.items() if edge is not None}):
            by_run.setdefault(name, []).append(measure)
    else:
        for name, measure in (*_timed(dataset.frame("timing")), *_figures(workload)):
            by_run.setdefault(name, []).append(measure)
    return [Run(name, measures) for name, measures in by_run.items()] if len(by_run) > 1 else []


def pairs(found: Sequence[Run]) -> list[tuple[Run, Run]]:
    """Each run with the first, and with the one before it, as far as they differ in one factor."""
    first = [(found[0], run) for run in found[1:]]
    neighbours = [pair for pair in pairwise(found) if pair[0] is not found[0]]
    ordered = sorted((*first, *neighbours), key=lambda pair: found.index(pair[1]))
    return [(one, other) for one, other in ordered if one.differs_in(other) == 1]


def edge_s(name: str) -> float | None:
    """The lower edge of a class of times in seconds; null where it is none.

    >>> edge_s("<3 s"), edge_s("3-5 s"), edge_s(">60 s"), edge_s("baseline")
    (0.0, 3.0, 60.0, None)
    """
    found = _CLASS.fullmatch(name.lower())
    if found is None or found["unit"] not in SECONDS:
        return None
    is_lowest = (found["bound"] or "").startswith(("<", "≤"))
    return 0.0 if is_lowest else float(found["low"]) * SECONDS[found["unit"]]


def _by_class(rows: pl.DataFrame, edges: dict[str, float]) -> Iterator[tuple[str, Measure]]:
    """Of each column the share of all that took longer than each edge: shares of single classes say neither way."""
    for (name,), part in rows.partition_by("name", as_dict=True, maintain_order=True).items():
        shares = {edges[str(entity)]: float(value) for entity, value in part.select("entity", "value").iter_rows()}
        for edge in sorted(edges.values())[1:]:
            slower = sum(share for at, share in shares.items() if at >= edge)
            key = Key("class", f"slower than {edge:g} s")
            yield str(name).replace("_", " "), Measure(key, "pct", "low", Samples.of(slower, 1.0))


def _timed(rows: pl.DataFrame) -> Iterator[tuple[str, Measure]]:
    """How long each run and its steps took, or how many requests went over a limit in a day of it."""
    told = rows.drop_nulls("duration_s").with_columns(
        pl.col("step").map_elements(lambda step: _ENDS.sub("", step), pl.String).alias("step")
    )
    for (run, step), part in told.partition_by("run", "step", as_dict=True, maintain_order=True).items():
        took = part["duration_s"].to_numpy()
        if part["over_limit"].count():
            counted = Samples.of(part["over_limit"].to_numpy() * DAY_S, took, are_runs=True)
            yield str(run), Measure(OVER_LIMIT, "requests_per_day", "low", counted)
        else:
            key = TOTAL if step is None else Key("run", str(step).replace("_", " "))
            yield str(run), Measure(key, "s", "low", Samples.of(took, 1.0, are_runs=True))


def _figures(rows: pl.DataFrame) -> Iterator[tuple[str, Measure]]:
    for entity, name, unit, value in rows.select("entity", "name", "unit", "value").iter_rows():
        key = Key("figure", str(name).replace("_", " "))
        yield str(entity), Measure(key, unit or "", better_of(str(name), unit), Samples.of(value, 1.0))
