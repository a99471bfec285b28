"""What makes a history doubtful: more measurements in an hour than it is long, and units that changed.

Neither is corrected, for nobody knows which of them is right: it is said, so that readers know what figures rest on.
"""

from collections.abc import Iterable, Iterator
from typing import Final

import polars as pl

from doctord.analyse.capacity.series import HOUR_S, Labels, stepped, text_of
from doctord.dataset.dataset import Dataset
from doctord.dataset.figure import Figure
from doctord.dataset.tables import TABLES

TOLERATED: Final = 1.1  # intervals that end within an hour may begin before it, and differ by a little
UNITS: Final = ("host", "db", "component", "instance", "name", "entity")


def is_counted_once(figure: Figure) -> bool:
    """Whether each series of a figure has one row at a time, so that its intervals must not overlap."""
    apart = {"db", *figure.each}
    entities = TABLES[figure.table].entity
    return figure.weight == "interval_s" and all(name in apart or name in figure.where for name in entities)


def is_overfull() -> pl.Expr:
    """Whether rows of an hour (`count`, `weight` in seconds) are more than it holds, even if one began before it."""
    return pl.col("weight") * (1 - 1 / pl.col("count")) > TOLERATED * HOUR_S


def overfull(dataset: Dataset, figures: Iterable[Figure]) -> Iterator[str]:
    """What is to be said of the hours of a dataset that hold more than an hour."""
    for figure in filter(is_counted_once, figures):
        hours = stepped(dataset.frame(figure.table), figure).filter(is_overfull())
        for (host, db, entity), part in hours.group_by("host", "db", "entity", maintain_order=True):
            yield overfull_text(figure, Labels(text_of(host), text_of(db), text_of(entity)), part)


def overfull_text(figure: Figure, labels: Labels, hours: pl.DataFrame) -> str:
    """The remark on overfull hours of one series (`ts`, their ends; `weight`)."""
    worst = hours.sort("weight", maintain_order=True).row(-1, named=True)
    about = ", ".join(part for part in (labels.host, labels.db, labels.entity) if part)
    many = f"{hours.height} hours hold" if hours.height > 1 else "one hour holds"
    return (
        f"{figure.title} ({about}): {many} more than an hour of measurements, that to {worst['ts']:%F %H:%M} UTC "
        f"{worst['weight'] / HOUR_S:.2g} h: a clock was set back, or it was measured twice; their mean is taken"
    )


def changed_units(statistics: pl.DataFrame) -> Iterator[str]:
    """What is to be said of statistics (`UNITS`, `unit`, `ts`) whose unit is not always the same."""
    spans = (
        statistics.drop_nulls("unit")
        .group_by(*UNITS, "unit", maintain_order=True)
        .agg(pl.col("ts").min().alias("since"))
    )
    several = spans.filter(pl.len().over(UNITS) > 1).sort(*UNITS, "since", maintain_order=True)
    for _, part in several.group_by(*UNITS, maintain_order=True):
        first, last = part.row(0, named=True), part.row(-1, named=True)
        about = ", ".join(first[key] for key in ("host", "db", "instance", "entity") if first[key])
        yield (
            f"{first['name']}{f' ({about})' if about else ''}: its unit was {first['unit']!r} and is {last['unit']!r} "
            f"since {last['since']:%F %H:%M} UTC: what is older is not comparable"
        )
