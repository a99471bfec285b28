"""The load over time as one JSON document, and as columns for Arrow: docs/reference/http-api.md explains its keys."""

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from doctord.analyse.load_over_time import Band, Buckets, Skew
from doctord.app.load_over_time import LoadFound
from doctord.report.wording import iso

DIGITS = 5


def document(found: LoadFound) -> dict[str, Any]:
    """The load: its buckets, a list of values for each band, the sum of the others, and the envelope of all."""
    load = found.load
    return {
        **_times(load.buckets),
        "step_s": load.step_s,
        "dimension": load.dimension,
        "sessions": rounded(load.sessions),
        "seconds": rounded(load.seconds),
        "cpus": found.cpus,
        "bands": [_band(band) | {"text": found.texts.get(band.name or "")} for band in load.bands],
        "others": _band(load.others) | {"names": load.others_count} if load.others else None,
        "total": {name: values_of(getattr(load.total, name)) for name in ("mean", "low", "q1", "median", "q3", "high")},
    }


def skew_document(found: Iterable[Skew]) -> list[dict[str, Any]]:
    """How uneven each dimension is."""
    return [
        {
            "dimension": one.dimension,
            "skew": rounded(one.skew),
            "values": one.values,
            "largest": one.largest,
            "share": rounded(one.share),
        }
        for one in found
    ]


def _times(buckets: Buckets) -> dict[str, Any]:
    return {
        "start": iso(datetime.fromtimestamp(buckets.start_s, UTC)),
        "start_s": buckets.start_s,
        "bucket_s": buckets.width_s,
        "buckets": buckets.count,
    }


def _band(band: Band) -> dict[str, Any]:
    return {
        "name": band.name,
        "sessions": rounded(band.sessions),
        "share": rounded(band.share),
        "values": values_of(band.values),
    }


def values_of(values: npt.NDArray[np.float64] | Sequence[float]) -> list[float | None]:
    """Numbers of five digits; what was not measured is null."""
    return [None if math.isnan(value) else rounded(value) for value in map(float, values)]


def rounded(value: float) -> float:
    """A number of five digits, which are more than a picture shows.

    >>> rounded(12.3456789)
    12.346
    """
    return float(f"{value:.{DIGITS}g}")


def columns(told: Mapping[str, Any]) -> dict[str, list[Any]]:
    """A document of buckets as columns, one for each band, for a table of Arrow: `start_s` is when a bucket begins."""
    starts = [told["start_s"] + number * told["bucket_s"] for number in range(told["buckets"])]
    found: dict[str, list[Any]] = {"start_s": starts}
    for number, band in enumerate(told.get("bands", ())):
        found[f"band_{number}"] = band["values"]
    if told.get("others"):
        found["others"] = told["others"]["values"]
    return found | {f"total_{name}": values for name, values in told["total"].items()}
