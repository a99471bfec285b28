"""The sections of an AWR-miner report that hold a row for each snapshot, and what becomes of it.

Sums over an interval become rates. Gigabytes and megabytes are powers of 1024, as the script rounds them. TOTAL_TIME_S
of TOP-N-TIMED-EVENTS is in microseconds, whatever its name says, and `mem_gb` of OSSTAT in megabytes.
"""

from collections.abc import Callable, Iterator
from itertools import groupby

from doctord.read.oracle.awr_miner.metrics import CPU, MIB, metric_of
from doctord.read.oracle.awr_miner.osstat import osstat
from doctord.read.oracle.awr_miner.report import Found, Placed, Report, Span

GIB = float(1 << 30)
PLACES = {"snap", "dur_m", "end", "inst"}
ON_CPU = {"wait_class": "CPU", "event": "CPU", "kind": "foreground"}
NO_POWER_OF_TWO = "no power of two milliseconds"


def memory(_: Report, found: list[Placed]) -> Iterator[Found]:
    """Memory of an instance, with one digit of gigabytes."""
    for it in found:
        yield from it.statistic("v$sga.total", it.figure("sga", GIB), "bytes")
        yield from it.statistic("v$pgastat.total PGA allocated", it.figure("pga", GIB), "bytes")


def sga_advice(_: Report, found: list[Placed]) -> Iterator[Found]:
    """`v$sga_target_advice`, by target in MB."""
    for it, target in _advised(found, "sga_target_gb"):
        for column in ("estd_physical_reads", "size_factor"):
            yield from it.statistic(f"v$sga_target_advice.{column}", it.figure(column), None, entity=target)


def pga_advice(_: Report, found: list[Placed]) -> Iterator[Found]:
    """`v$pga_target_advice`, by target in MB."""
    for it, target in _advised(found, "pga_target_gb"):
        for name, column, unit, factor in (
            ("estd_extra_bytes_rw", "estd_extra_mb_rw", "bytes", MIB),
            ("estd_pga_cache_hit_percentage", "estd_pga_cache_hit_percentage", "pct", 1.0),
            ("size_factor", "size_factor", None, 1.0),
        ):
            value = it.figure(column, factor)
            yield from it.statistic(f"v$pga_target_advice.{name}", value, unit, entity=target)


def _advised(found: list[Placed], column: str) -> Iterator[tuple[Placed, str]]:
    """Rows with their target in MB: as a part of the target in force, since small ones are rounded away."""
    for _, group in groupby(found, lambda it: (it.snapshot, it.instance)):
        held = list(group)
        now_gb = next((it.figure(column) for it in held if it.figure("size_factor") == 1), None)
        for it in held:
            factor = it.figure("size_factor")
            target_gb = it.figure(column) if not now_gb or factor is None else now_gb * factor
            if target_gb is not None:
                yield it, f"{target_gb * 1024:.0f}"


def size_on_disk(report: Report, found: list[Placed]) -> Iterator[Found]:
    """Space that the tablespaces take in sum."""
    for it in found:
        if (size := it.figure("size_gb", GIB)) is not None:
            database = {"kind": "database", "name": report.about.get("DB_NAME"), "used_bytes": round(size)}
            yield "space", {"ts": it.span.end_us} | database


def main_metrics(_: Report, found: list[Placed]) -> Iterator[Found]:
    """Metrics of an instance; its CPU usage is a row of `wait`."""
    for it in found:
        for column in sorted(it.row.keys() - PLACES - CPU.keys()):
            metric = metric_of(column)
            yield from it.statistic(metric.name, it.figure(column, metric.factor), metric.unit, metric.kind)
        if (cpu := it.figure("cpu_per_s")) is not None:
            yield "wait", it.span.at | ON_CPU | {"instance": it.instance, "average_active_sessions": cpu}


def average_active_sessions(report: Report, found: list[Placed]) -> Iterator[Found]:
    """Time of foreground sessions by class of wait; `DB CPU` is one, and all that is told of CPU up to 2.9."""
    for it in found:
        waited, name = it.figure("avg_sess"), it.text("wait_class")
        yield from it.statistic("wait_class.waited", waited, "s_per_s", "rate", name)
        if name == "DB CPU" and waited is not None and not report.has_cpu:
            yield "wait", it.span.at | ON_CPU | {"average_active_sessions": waited}


def timed_events(_: Report, found: list[Placed]) -> Iterator[Found]:
    """The events of a snapshot that took most, foreground and background; CPU is in MAIN-METRICS by instance."""
    for it in found:
        waited = it.span.per_s(it.figure("total_time_s", 1e-6))
        if it.text("event_name") == "DB CPU":
            yield from it.statistic("v$sys_time_model.DB CPU", waited, "s_per_s", "rate")
        elif waited is not None:
            named = {"wait_class": it.text("wait_class"), "event": it.text("event_name")}
            yield "wait", it.span.at | named | {"average_active_sessions": waited}


def io_object_type(_: Report, found: list[Placed]) -> Iterator[Found]:
    """What was read and written of the kinds of objects, and how they grew, with one digit of gigabytes."""
    for it in found:
        for column, name in (
            ("logical_read_gb", "logical_read_bytes"),
            ("physical_read_gb", "physical_read_bytes"),
            ("physical_write_gb", "physical_write_bytes"),
            ("gb_added", "space_allocated_bytes"),
        ):
            yield from it.rate(f"object_type.{name}", it.figure(column, GIB), "bytes_per_s", it.text("object_type"))


def iostat_by_function(_: Report, found: list[Placed]) -> Iterator[Found]:
    """Requests of the server's functions; large ones are those of several blocks."""
    for it in found:
        for direction in ("read", "write"):
            small, large = it.figure(f"sm_{direction[0]}_reqs"), it.figure(f"lg_{direction[0]}_reqs")
            both = None if small is None or large is None else small + large
            function = it.text("function_name")
            yield from it.rate(f"v$iostat_function.{direction}s", both, "per_s", function)
            yield from it.rate(f"v$iostat_function.large_{direction}s", large, "per_s", function)


def sysstat(_: Report, found: list[Placed]) -> Iterator[Found]:
    """A few statistics of all instances, per second already."""
    for it in found:
        for column, name, factor, unit in (
            ("cell_flash_hits", "cell flash cache read hits", 1.0, "per_s"),
            ("read_iops", "physical read total IO requests", 1.0, "per_s"),
            ("read_mb", "physical read total bytes", MIB, "bytes_per_s"),
            ("read_mb_opt", "physical read total bytes optimized", MIB, "bytes_per_s"),
            ("cell_int_mb", "cell physical IO interconnect bytes", MIB, "bytes_per_s"),
            ("cell_int_ss_mb", "cell physical IO interconnect bytes returned by smart scan", MIB, "bytes_per_s"),
            ("ehcc_con_dmls", "EHCC Conventional DMLs", 1.0, "per_s"),
        ):
            yield from it.statistic(f"v$sysstat.{name}", it.figure(column, factor), unit, "rate")


def histograms(report: Report, found: list[Placed]) -> Iterator[Found]:
    """Buckets of powers of two milliseconds; an event that is not in a snapshot had no wait."""
    held: dict[tuple[Span, str | None], list[tuple[float, float | None, int]]] = {}
    for it in found:
        edge_ms, count = int(it.figure("wait_time_milli") or 0), it.figure("wait_count")
        if edge_ms.bit_count() != 1 or count is None:
            report.source.skip(it.number, NO_POWER_OF_TWO)
            continue
        held.setdefault((it.span, it.text("event_name")), []).append((edge_ms // 2 * 1e3, edge_ms * 1e3, int(count)))
    events = dict.fromkeys(event for _, event in held)
    for span in dict.fromkeys(span for span, _ in held):
        for event in events:
            for low, high, count in held.get((span, event), [(0.0, None, 0)]):
                yield "latency", span.at | {"subject": event, "gt_us": low, "le_us": high, "count": count}


SECTIONS: dict[str, Callable[[Report, list[Placed]], Iterator[Found]]] = {
    "MEMORY": memory,
    "MEMORY-SGA-ADVICE": sga_advice,
    "MEMORY-PGA-ADVICE": pga_advice,
    "SIZE-ON-DISK": size_on_disk,
    "OSSTAT": osstat,
    "MAIN-METRICS": main_metrics,
    "AVERAGE-ACTIVE-SESSIONS": average_active_sessions,
    "IO-WAIT-HISTOGRAM": histograms,
    "IO-OBJECT-TYPE": io_object_type,
    "IOSTAT-BY-FUNCTION": iostat_by_function,
    "TOP-N-TIMED-EVENTS": timed_events,
    "SYSSTAT": sysstat,
}
