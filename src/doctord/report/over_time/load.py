"""The load over time as one JSON document, and as columns for Arrow: docs/reference/http-api.md explains its keys."""

from typing import Any

from doctord.analyse.over_time.load import Band
from doctord.app.over_time.load import LoadFound, SkewsFound
from doctord.report.over_time.buckets import rounded, times, values_of


def document(found: LoadFound) -> dict[str, Any]:
    """The load: its buckets, a list of values for each band, the sum of the others, and the envelope of all."""
    load = found.load
    return {
        **times(load.buckets),
        "step_s": load.step_s,
        "dimension": load.dimension,
        "sessions": rounded(load.sessions),
        "seconds": rounded(load.seconds),
        "cpus": found.cpus,
        "bands": [_band(band) | {"text": found.texts.get(band.name or "")} for band in load.bands],
        "others": _band(load.others) | {"names": load.others_count} if load.others else None,
        "total": {name: values_of(getattr(load.total, name)) for name in ("mean", "low", "q1", "median", "q3", "high")},
    }


def skew_document(found: SkewsFound) -> list[dict[str, Any]]:
    """How uneven each dimension is."""
    return [
        {
            "dimension": one.dimension,
            "skew": rounded(one.skew),
            "values": one.values,
            "largest": one.largest,
            "text": found.texts.get(one.largest or "") if one.dimension == "statement" else None,
            "share": rounded(one.share),
        }
        for one in found.skews
    ]


def _band(band: Band) -> dict[str, Any]:
    return {
        "name": band.name,
        "sessions": rounded(band.sessions),
        "share": rounded(band.share),
        "values": values_of(band.values),
    }
