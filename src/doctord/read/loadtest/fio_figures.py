"""What fio reached, beside its latencies: rates of each job and direction, and what the disks below did.

`statistic`, component `fio`, entity `JOB DIRECTION`: `fio.iops`, `fio.bw`, and of the latency `fio.lat_mean`,
`fio.lat_max` and the percentiles (`fio.lat_p99`). `disk`: fio's disk statistics over the longest run of a job.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from doctord._native import Batch
from doctord.dataset.rows import rows
from doctord.read.loadtest.fio_times import times_ns
from doctord.read.source import SourceFile

KIB = 1024


def of_direction(
    job: Mapping[str, Any], direction: str, about: Mapping[str, Any], source: SourceFile
) -> Iterator[Batch]:
    """Rates and latencies of a direction in which anything was done."""
    held = job.get(direction) or {}
    times = times_ns(held) or {}
    run_s = (held.get("runtime") or 0) / 1e3 or None
    figures = {
        "iops": (held.get("iops") or None, "per_s", "rate"),
        "bw": (held.get("bw_bytes") or (held.get("bw") or 0) * KIB or None, "bytes_per_s", "rate"),
        "lat_mean": (_us(times.get("mean")), "us", "gauge"),
        "lat_max": (_us(times.get("max")), "us", "gauge"),
    }
    for share, time_ns in (times.get("percentile") or {}).items():
        figures[f"lat_p{float(share):g}"] = (_us(time_ns), "us", "gauge")
    common = {
        "ts": about["ts"],
        "interval_s": run_s,
        "host": source.host,
        "component": "fio",
        "entity": about["subject"],
    }
    known = [
        common | {"name": f"fio.{name}", "value": float(value), "unit": unit, "kind": kind}
        for name, (value, unit, kind) in figures.items()
        if value is not None
    ]
    if known:
        yield rows("statistic", known)


def of_disks(disks: Iterable[Mapping[str, Any]], run_s: float, end_us: int, source: SourceFile) -> Iterator[Batch]:
    """What the disks did while the jobs ran so many seconds."""
    held = []
    for disk in disks if run_s else ():
        row = {"ts": end_us, "interval_s": run_s, "host": source.host, "device": str(disk["name"])}
        for way in ("read", "write"):
            count, ticks_ms = float(disk[f"{way}_ios"]), float(disk[f"{way}_ticks"])
            row |= {f"{way}s_per_s": count / run_s, f"{way}_ms": ticks_ms / count if count else None}
        row |= {"queue": float(disk["in_queue"]) / run_s / 1e3, "util_pct": min(float(disk["util"]), 100.0)}
        held.append(row)
    if held:
        yield rows("disk", held)


def _us(time_ns: object) -> float | None:
    return time_ns / 1e3 if isinstance(time_ns, int | float) else None
