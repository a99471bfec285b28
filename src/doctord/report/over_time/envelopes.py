"""Figures over time as JSON documents: docs/reference/http-api.md explains their keys."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from doctord.analyse.over_time.envelopes import Enveloped
from doctord.app.over_time.envelopes import FigureFound
from doctord.app.over_time.statement import StatementFound
from doctord.dataset.figure import Figure
from doctord.report.over_time.buckets import rounded, spread, times
from doctord.report.wording import iso


def document(found: FigureFound) -> dict[str, Any]:
    """A figure: its buckets, and a list of values for each of its entities."""
    return {
        **times(found.buckets),
        "step_s": found.step_s,
        **_what(found.figure),
        "series": [_series(one) for one in found.series],
        "left_out": found.left_out,
    }


def listed(found: Iterable[tuple[Figure, list[dict[str, str | None]]]]) -> list[dict[str, Any]]:
    """The figures there are, each with whom it is told of."""
    return [_what(figure) | {"component": figure.component, "entities": entities} for figure, entities in found]


def statement_document(found: StatementFound) -> dict[str, Any]:
    """A statement: its texts, where it was seen, and what it did over time."""
    return {
        "statement": found.statement,
        "texts": list(found.texts),
        "seen": [asdict(one) | {"first": iso(one.first), "last": iso(one.last)} for one in found.told],
        **times(found.buckets),
        "figures": [
            {"figure": name, "unit": unit, "series": [_series(one) for one in series]}
            for (name, unit), series in found.figures.items()
        ],
    }


def _what(figure: Figure) -> dict[str, Any]:
    return {"figure": figure.name, "title": figure.title, "unit": figure.unit, "worse": figure.worse}


def _series(one: Enveloped) -> dict[str, Any]:
    about = asdict(one.labels)
    return about | {"average": rounded(one.mean), "newest": rounded(one.newest), **spread(one.envelope)}
