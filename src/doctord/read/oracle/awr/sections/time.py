"""Where time went, and how busy the host was: time model, operating system statistics, services."""

from doctord._native import ReportTable
from doctord.read.oracle.awr.report import Report, place
from doctord.read.oracle.awr.section import (
    MIB,
    Named,
    Redundant,
    Section,
    Special,
    Statistics,
    gauge,
    kind_of,
    spent,
    total,
)
from doctord.read.oracle.dates import moment_near

READINGS = ("LOAD", "NUM_", "PHYSICAL_MEMORY", "FREE_MEMORY", "INACTIVE_MEMORY", "SWAP_FREE", "TCP_", "GLOBAL_")


def time_model(name: str) -> tuple[str, str, float]:
    """Name, unit (seconds of it a second) and factor of the statistic of a line of the time model."""
    return f"v$sys_time_model.{name}", "s_per_s", 1.0


def os_statistics(table: ReportTable, report: Report) -> bool:
    """V$OSSTAT: times (in hundredths of a second), bytes and readings, the last at the end of the interval."""
    column = table.find("Statistic", "Statistic Name")
    value = table.find("Value", "Total", "Value (centi-seconds)")
    if column is None or value is None:
        return False
    placed = place(table, report)
    names = [name or "" for name in table.texts(column)]
    begin = table.numbers(value)
    end_column = table.find("End Value")
    end = table.numbers(end_column) if end_column is not None else begin
    meant = [_os_statistic(name) for name in names]
    rates = placed.per_second(begin)
    values = [
        (None if each is None else each * factor) if unit.endswith("per_s") else (first if last is None else last)
        for first, last, each, (_, unit, factor) in zip(begin, end, rates, meant, strict=True)
    ]
    are_increases = "centi-seconds" in table.names[value]  # of readings as well, where periods are compared
    row = placed.row | {
        "component": "oracle",
        "name": [None if are_increases and not unit.endswith("per_s") else name for name, unit, _ in meant],
        "value": values,
        "unit": [unit for _, unit, _ in meant],
        "kind": [kind_of(unit) for _, unit, _ in meant],
    }
    report.filled.add_known("statistic", len(values), row, "name", "value")
    _host_rows(report, dict(zip(names, begin, strict=True)), dict(zip(names, values, strict=True)))
    return True


def _os_statistic(name: str) -> tuple[str, str, float]:
    full = f"v$osstat.{name}"
    if name.endswith("_TIME"):
        return full, "s_per_s", 0.01
    if name.startswith(READINGS):
        return full, "bytes" if name.endswith("_BYTES") else "count", 1.0
    return full, "bytes_per_s" if name.endswith("_BYTES") else "per_s", 1.0


def _host_rows(report: Report, ticks: dict[str, float | None], at_end: dict[str, float | None]) -> None:
    """The host's CPUs and memory from the same figures. IDLE_TIME holds IOWAIT_TIME, and BUSY_TIME all the rest."""
    busy, idle = ticks.get("BUSY_TIME"), ticks.get("IDLE_TIME")
    if busy is not None and idle is not None and busy + idle > 0:
        waiting = ticks.get("IOWAIT_TIME")
        share = 100 / (busy + idle)
        parts = {"usr_pct": "USER_TIME", "sys_pct": "SYS_TIME", "wait_io_pct": "IOWAIT_TIME"}
        row = report.whole.row() | {"idle_pct": max(idle - (waiting or 0.0), 0.0) * share}
        row |= {key: value * share for key, name in parts.items() if (value := ticks.get(name)) is not None}
        report.filled.add("cpu", 1, row)
    sizes = {
        "total_bytes": "PHYSICAL_MEMORY_BYTES",
        "free_bytes": "FREE_MEMORY_BYTES",
        "swap_free_bytes": "SWAP_FREE_BYTES",
    }
    memory = {key: int(value) for key, name in sizes.items() if (value := at_end.get(name)) is not None}
    if memory:
        report.filled.add("memory", 1, report.whole.row() | {"interval_s": None} | memory)


def os_detail(table: ReportTable, report: Report) -> bool:
    """The host's CPUs between snapshots: these rows are finer than the one for the whole interval."""
    at = table.find("Snap Time")
    columns = [table.find(name) for name in ("%user", "%sys", "%idle", "%iowait")]
    if at is None or None in columns or len(table) < 2:
        return at is not None
    moments = [moment_near(text or "", report.whole.ts, report.source) for text in table.texts(at)]
    usr, system, idle, wait = (table.numbers(column) for column in columns if column is not None)
    keep = [row for row in range(1, len(table)) if moments[row] and moments[row - 1] and usr[row] is not None]
    ends = [moments[row] or 0 for row in keep]
    seconds = [(end - (moments[row - 1] or 0)) / 1e6 for end, row in zip(ends, keep, strict=True)]
    finer = {
        "ts": ends,
        "interval_s": seconds,
        "host": report.whole.host,
        "usr_pct": [usr[row] for row in keep],
        "sys_pct": [system[row] for row in keep],
        "wait_io_pct": [wait[row] for row in keep],
        "idle_pct": [max((idle[row] or 0.0) - (wait[row] or 0.0), 0.0) for row in keep],
    }
    report.filled.forget("cpu")
    report.filled.add("cpu", len(keep), finer)
    return True


def os_by_instance(table: ReportTable, report: Report) -> bool:
    """Rows of `cpu`, `memory` and `statistic` of the hosts of a cluster, by instance; false without a statistic."""
    placed = place(table, report)
    found = [
        placed.table.numbers(column)
        for name in ("% Usr", "% Sys", "% WIO", "% Idl")
        if (column := placed.table.find(f"% CPU {name}", name)) is not None  # 11.2 has no headings above these
    ]
    if len(found) == 4:
        usr, system, wait, idle = found
        shares = {"usr_pct": usr, "sys_pct": system, "wait_io_pct": wait}
        shares["idle_pct"] = [
            None if each is None else max(each - (waiting or 0.0), 0.0)
            for each, waiting in zip(idle, wait, strict=True)
        ]
        report.filled.add("cpu", len(placed.table), placed.row | shares)
    memory = placed.table.find("Memory MB", "MEM (M)", "Memory (M)", "MB")
    if memory is not None:
        sizes = [None if size is None else int(size) for size in placed.table.numbers(memory, by=MIB)]
        report.filled.add("memory", len(placed.table), placed.row | {"interval_s": None, "total_bytes": sizes})
    return OS_BY_INSTANCE.fill(table, report)


OS_BY_INSTANCE = Statistics(
    r"OS Statistics By Instance",
    "v$osstat",
    (),
    (
        gauge("NUM_CPUS", "CPU #CPUs", "#CPUs", "Num CPUs"),
        gauge("NUM_CPU_CORES", "CPU #Cores", "CPU #Core", "#Cores", "#Core"),
        gauge("NUM_CPU_SOCKETS", "CPU #Sckts", "CPU #Sckt", "#Sckts", "#Sckt"),
        gauge("LOAD", "Load End", "End Load", "End"),
        spent("BUSY_TIME", "Time (s) Busy", "Busy Time (s)", "Busy (s)", "Busy"),
        spent("IDLE_TIME", "Time (s) Idle", "Idle Time (s)", "Idle (s)", "Idle"),
        gauge("PHYSICAL_MEMORY_BYTES", "Memory MB", "MEM (M)", "Memory (M)", "MB", unit="bytes", by=MIB),
    ),
)

SECTIONS: tuple[Section, ...] = (
    Named(
        r"Time Model (System )?Stat|different time model statistics",
        time_model,
        ("Statistic Name", "Statistic"),
        (spent("", "Time (s)", "Time (seconds)", "Time(s)"),),
    ),
    Statistics(
        r"Time Model$",
        "v$sys_time_model",
        (),
        (
            spent("DB time", "DB time (s)"),
            spent("DB CPU", "DB CPU (s)"),
            spent("sql execute elapsed time", "SQL Exec Ela (s)"),
            spent("parse time elapsed", "Parse Ela (s)"),
            spent("hard parse elapsed time", "Hard Parse Ela (s)"),
            spent("PL/SQL execution elapsed time", "PL/SQL Ela (s)"),
            spent("Java execution elapsed time", "Java Ela (s)"),
            spent("background elapsed time", "bg time (s)"),
            spent("background cpu time", "bg CPU (s)"),
        ),
    ),
    Redundant(r"Time Model - %"),
    Special(
        r"(Operating System|OS) Statistics( \(All\))?\s*$",
        os_statistics,
        (("v$osstat.NAME", "s_per_s, bytes, bytes_per_s, count", ""),),
    ),
    Special(r"(Operating System|OS) Statistics - detail", os_detail),
    Special(r"OS Statistics By Instance", os_by_instance, tuple(OS_BY_INSTANCE.given())),
    Redundant(r"system load statistics|host cpu|host configuration comparisons"),
    Statistics(
        r"CPU usage and wait statistics|Instance CPU",
        "instance_cpu",
        (),
        (
            gauge("%Total CPU", "%Total CPU", "% Total CPU", unit="pct"),
            gauge("%Busy CPU", "%Busy CPU", "% Busy CPU", unit="pct"),
            gauge(
                "%DB time waiting for CPU (Resource Manager)",
                "%DB time waiting for CPU (Resource Manager)",
                "% DB time waiting for CPU (Resource Manager)",
                unit="pct",
            ),
        ),
    ),
    Statistics(
        r"Service Statistics( \(Global\))?$",
        "v$service_stats",
        ("Service Name",),
        (
            spent("DB time", "DB Time (s)"),
            spent("DB CPU", "DB CPU (s)"),
            total("physical reads", "Physical Reads (K)", by=1000.0),
            total("session logical reads", "Logical Reads (K)", by=1000.0),
            total("physical reads", "Physical Reads"),
            total("session logical reads", "Logical Reads"),
            gauge("% of DB time", "% of DB time", unit="pct"),
            gauge("% CPU Time", "% CPU Time", unit="pct"),
        ),
    ),
    Statistics(
        r"Service Wait Class Stats",
        "v$service_wait_class",
        ("Service Name",),
        (
            *(
                figure
                for printed, name in (
                    ("User I/O", "User I/O"),
                    ("Concurcy", "Concurrency"),
                    ("Admin", "Administrative"),
                    ("Network", "Network"),
                )
                for figure in (
                    total(f"{name} waits", f"{printed} Total Wts"),
                    spent(f"{name} time_waited", f"{printed} Wt Time"),
                )
            ),
        ),
    ),
)
