"""Even stretches of time in documents: when they are, and numbers for each of them."""

import math
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from doctord.analyse.over_time.buckets import Buckets, Envelope
from doctord.report.wording import iso

DIGITS: Final = 5
SPREAD: Final = ("mean", "low", "q1", "median", "q3", "high")


def spread(envelope: Envelope) -> dict[str, list[float | None]]:
    """The mean of each bucket, the extremes and the quartiles."""
    return {name: values_of(getattr(envelope, name)) for name in SPREAD}


def times(buckets: Buckets) -> dict[str, Any]:
    """When the first bucket begins, how long each is, and how many there are."""
    return {
        "start": iso(datetime.fromtimestamp(buckets.start_s, UTC)),
        "start_s": buckets.start_s,
        "bucket_s": buckets.width_s,
        "buckets": buckets.count,
    }


def values_of(values: Iterable[float]) -> list[float | None]:
    """Numbers of five digits; what was not measured is null."""
    return [None if math.isnan(value) else rounded(value) for value in map(float, values)]


def rounded(value: float) -> float:
    """A number of five digits, which are more than a picture shows.

    >>> rounded(12.3456789)
    12.346
    """
    return float(f"{value:.{DIGITS}g}")


def columns(told: Mapping[str, Any]) -> tuple[dict[str, list[Any]], dict[str, Any]]:
    """A document of buckets as columns, and what of it is none.

    `start_s` is when a bucket begins; a list of the document that has a number for each bucket is a column under the
    names that lead to it: `bands.0.values`, `total.mean`.
    """
    found = {"start_s": [told["start_s"] + number * told["bucket_s"] for number in range(told["buckets"])]}

    def rest(value: Any, path: str) -> Any:  # noqa: ANN401 - whatever a document holds
        match value:
            case Mapping():
                parts = {name: rest(one, f"{path}.{name}" if path else name) for name, one in value.items()}
                return {name: one for name, one in parts.items() if one is not found}
            case list() if path.rpartition(".")[2] in {"values", *SPREAD}:
                found[path] = value
                return found  # a mark: it stands among the columns
            case list():
                return [rest(one, f"{path}.{number}") for number, one in enumerate(value)]
        return value

    return found, rest(told, "")
