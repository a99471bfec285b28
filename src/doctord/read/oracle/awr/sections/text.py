"""What only reports in plain text have, or have in another shape: `name: value` pairs, and sections of Statspack."""

from collections.abc import Iterator

from doctord._native import ReportFigure, ReportTable
from doctord.read.oracle.awr.report import Report, place
from doctord.read.oracle.awr.section import (
    Named,
    NameOf,
    Redundant,
    Section,
    Special,
    Statistics,
    add_named,
    gauge,
    rate,
    total,
)
from doctord.read.oracle.awr.sections.memory import SGA, sizes
from doctord.read.oracle.awr.sections.rac import times_and_shares
from doctord.read.oracle.awr.sections.statistics import sysstat_reading

# What V$SGA calls otherwise in HTML.
POOLS = {"Shared Pool": "Shared Pool Size"}
CPU = {
    "% of total CPU for Instance": "%Total CPU",
    "% of busy CPU for Instance": "%Busy CPU",
    "%DB time waiting for CPU - Resource Mgr": "%DB time waiting for CPU (Resource Manager)",
    "% of Busy CPU used for Instance": "%Busy CPU",
    "%DB time waiting for CPU (Resource Mgr)": "%DB time waiting for CPU (Resource Manager)",
}


def instance_cpu(name: str) -> tuple[str, str, float] | None:
    """Shares of the CPUs as the HTML report calls them; seconds are in the time model."""
    return (f"instance_cpu.{CPU[name]}", "pct", 1.0) if name in CPU else None


def load_profile_ratio(name: str) -> tuple[str, str, float]:
    """What stands below the load profile."""
    return f"load_profile.{name}", "pct" if "%" in name or "Pct" in name else "count", 1.0


def pairs(title: str, name_of: NameOf, kilo: float = 1000.0) -> Special:
    """A table of names that end with a colon, each with a figure behind it, or two for begin and end: then the last."""

    def fill(table: ReportTable, report: Report) -> bool:
        placed = place(ReportTable.made(table.title, ["name", "figure"], list(_pairs(table))), report)
        return add_named(report, placed, ReportFigure(1, kilo=kilo), placed.table.texts(0), name_of)

    return Special(title, fill)


def _pairs(table: ReportTable) -> Iterator[tuple[str, str]]:
    for row in zip(*(table.texts(column) for column in range(len(table.names))), strict=True):
        name, last = "", ""
        for cell in filter(None, row):
            if cell.endswith(":"):
                if name and last:
                    yield name, last
                name, last = cell.rstrip(": "), ""
            else:
                last = cell
        if name and last:
            yield name, last


SECTIONS: tuple[Section, ...] = (
    pairs(r"Cache Sizes", lambda name: SGA(POOLS.get(name, name)), kilo=1024.0),
    pairs(r"Memory Statistics$", sizes("memory")),
    pairs(r"Instance CPU$", instance_cpu),
    pairs(r"Load Profile$", load_profile_ratio),
    pairs(r"Instance Efficiency", lambda name: (f"instance_efficiency.{name}", "pct", 1.0)),
    pairs(r"Global Cache Efficiency", times_and_shares("gc_efficiency")),
    pairs(r"Global Cache and Enqueue Services - Workload", times_and_shares("gc_workload")),
    pairs(r"Global Cache and Enqueue Services - Messaging", times_and_shares("gc_messaging")),
    Named(r"Instance Activity Stat", sysstat_reading, ("Statistic",), (gauge("", "End Value"),)),
    Statistics(
        r"IO Stat by Function - summary",
        "v$iostat_function",
        ("Function",),
        (
            total("read_bytes", "Read Data Volume", unit="bytes_per_s", kilo=1024.0),
            total("write_bytes", "Write Data Volume", unit="bytes_per_s", kilo=1024.0),
            rate("reads", "Read Requests /sec"),
            rate("writes", "Write Requests /sec"),
            total("waits", "Wait Count"),
            gauge("wait_ms", "Wait Avg Tm(ms)", unit="ms"),
        ),
    ),
    Statistics(
        r"IO Stat by Function - detail",
        "v$iostat_function",
        ("Function",),
        tuple(
            figure
            for size in ("Small", "Large")
            for figure in (
                total(f"{size.lower()}_reads", f"Read {size} Read Reqs"),
                total(f"{size.lower()}_writes", f"Write {size} Write Reqs"),
                total(f"{size.lower()}_read_bytes", f"Read {size} Data Read", unit="bytes_per_s", kilo=1024.0),
                total(f"{size.lower()}_write_bytes", f"Write {size} Data Writn", unit="bytes_per_s", kilo=1024.0),
            )
        ),
    ),
    Statistics(
        r"File Read Histogram Stat",
        "v$file_histogram",
        (("Filename",),),
        tuple(
            total(f"single block reads {edges}", edges)
            for edges in ("0 - 2 ms", "2 - 4 ms", "4 - 8 ms", "8 - 16 ms", "16 - 32 ms", "32+ ms")
        ),
    ),
    Redundant(r"Top Process Memory"),
    Redundant(r"SQL Memory Statistics"),
)
