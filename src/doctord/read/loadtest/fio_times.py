"""The latencies of a job's direction in fio's JSON, of whatever version: in nanoseconds, with their number."""

from collections.abc import Mapping
from typing import Any, Final

# What was timed, that of the device first: `lat` has the time of submission in it. fio 2 has microseconds.
TIMES: Final = (("clat_ns", 1.0), ("lat_ns", 1.0), ("clat", 1e3), ("lat", 1e3))


def times_ns(held: Mapping[str, Any]) -> dict[str, Any] | None:
    """Mean, maximum, percentiles (or bins) in nanoseconds, and `N`, how many; null where nothing was timed.

    >>> times_ns({"total_ios": 7, "clat": {"min": 1, "max": 9, "mean": 3.5, "percentile": {"99.000000": 8}}})
    {'max': 9000.0, 'mean': 3500.0, 'percentile': {'99.000000': 8000.0}, 'N': 7}
    """
    for name, one_ns in TIMES:
        times = held.get(name)
        if not isinstance(times, dict) or not times.get("max"):
            continue
        count = times["N"] if "N" in times else _operations(held)
        if not count:
            continue
        if one_ns == 1.0:
            return {**times, "N": count}
        percentile = {share: time * one_ns for share, time in (times.get("percentile") or {}).items()}
        return {"max": times["max"] * one_ns, "mean": times["mean"] * one_ns, "percentile": percentile, "N": count}
    return None


def _operations(held: Mapping[str, Any]) -> int:
    """Operations of a direction: counted, or their rate over its run; 0 where neither is told."""
    return int(held.get("total_ios") or round((held.get("iops") or 0) * (held.get("runtime") or 0) / 1e3))
