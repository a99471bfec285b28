"""Clusters: what instances send each other, how long it takes, and what that does to statements and blocks."""

from doctord._native import ReportFigure, ReportTable
from doctord.read.oracle.awr.report import Report, place
from doctord.read.oracle.awr.section import (
    MIB,
    FigureColumn,
    Named,
    NameOf,
    Redundant,
    Section,
    Special,
    Statistics,
    add_named,
    gauge,
    mean_ms,
    rate,
    spent,
    total,
    with_unit,
)

REMOTE = (("Inst No", "Src Inst#", "Instance# Src"), "Block Class")


def per_second(view: str) -> NameOf:
    """Names of what is counted per second; kilobytes as bytes."""
    return with_unit(view, ("per_s", 1.0), {"KB": ("bytes_per_s", 1024.0), "MB": ("bytes_per_s", MIB)})


def times_and_shares(view: str) -> NameOf:
    """Names with the unit behind them: times are made milliseconds, the rest are shares."""
    return with_unit(view, ("pct", 1.0), {"us": ("ms", 0.001), "ms": ("ms", 1.0)})


def listed(view: str, title: str) -> Special:
    """A table of a name and a figure, without headings."""
    name_of = times_and_shares(view)

    def fill(table: ReportTable, report: Report) -> bool:
        if len(table.names) < 2:
            return False
        placed = place(table, report)
        return add_named(report, placed, ReportFigure(1), placed.table.texts(0), name_of)

    return Special(title, fill, ((f"{view}.NAME", "ms or pct", ""),))


def us(name: str, *columns: str) -> FigureColumn:
    """A mean in microseconds, made milliseconds."""
    return mean_ms(name, *columns, bare="us")


def blocks(kind: str, printed: str) -> tuple[FigureColumn, ...]:
    """Blocks of one kind received, and why they took the time they took."""
    return (
        total(f"{kind} blocks received", f"{printed} Blocks Received"),
        *(
            gauge(f"{kind} {what}_pct", *(f"{printed} {column}" for column in columns), unit="pct")
            for what, columns in (
                ("immediate", ("% Immed", "Blocks %Immed")),
                ("busy", ("% Busy", "Blocks %Busy")),
                ("congested", ("% Congst", "Blocks %Cngst")),
            )
        ),
        *(
            us(f"{kind} {what}_ms", f"{printed} Avg Time (us) {column}", f"{printed} Avg Time (us) {other}")
            for what, column, other in (
                ("all", "All", "All"),
                ("immediate", "Immed", "Immed"),
                ("busy", "Busy", "Busy"),
                ("congested", "Congst", "Cngst"),
            )
        ),
    )


def counted(view: str, title: str, *names: str, prefix: str = "") -> Statistics:
    """A table of a cluster's instances with a count in each column, under its own name in small letters."""
    figures = tuple(total(name.lower(), f"{prefix}{name}") for name in names)
    return Statistics(title, view, (), figures)


SECTIONS: tuple[Section, ...] = (
    Named(
        r".*information about RAC instances",
        lambda name: (f"rac.{name}", "count", 1.0),
        ("", "Statistic"),
        (gauge("", "End"), gauge("", "Begin")),
    ),
    Named(r".*global cache load\s+profile", per_second("gc_profile"), ("", "Statistic"), (rate("", "Per Second"),)),
    listed("gc_efficiency", r".*global cache efficiency percentages"),
    listed("gc_workload", r".*workload characteristics for global"),
    listed("gc_messaging", r".*messaging statistics for Global"),
    Named(
        r"Global Messaging Statistics",
        lambda name: (f"v$ges_statistics.{name}", "per_s", 1.0),
        ("Statistic",),
        (total("", "Total"),),
    ),
    Statistics(
        r"Global Messaging Statistics",
        "gc_messaging",
        (),
        (
            us("Avg message sent queue time", "Queue Time (us) Sent"),
            us("Avg message sent queue time on ksxp", "Queue Time (us) on ksxp"),
            us("Avg message received queue time", "Queue Time (us) Received"),
            us("Avg GCS message process time", "Process Time (us) GCS msgs"),
            us("Avg GES message process time", "Process Time (us) GES msgs"),
            gauge("% of direct sent messages", "% Messages Sent Direct", unit="pct"),
            gauge("% of indirect sent messages", "% Messages Sent Indirect", unit="pct"),
            gauge("% of flow controlled messages", "% Messages Sent Flow Ctrl", unit="pct"),
        ),
    ),
    Statistics(
        r"Global Cache Efficiency Percentages",
        "gc_efficiency",
        (),
        (
            gauge("Buffer access - local cache %", "Buffer Access Local %", unit="pct"),
            gauge("Buffer access - remote cache %", "Buffer Access Remote %", unit="pct"),
            gauge("Buffer access - disk %", "Buffer Access Disk %", unit="pct"),
            gauge("Global Cache Locality %", "Locality %", unit="pct"),
        ),
    ),
    Statistics(
        r"Global (Cache and Enqueue )?(Latency Characteristics|Cache and Enqueue Services)",
        "gc_workload",
        (),
        (
            us("Avg global enqueue get time", "GE Get Time (us)"),
            us("Avg global cache cr block receive time", "CR Blocks Receive Time (us)"),
            us("Avg global cache cr block build time", "CR Blocks Build Time (us)"),
            us("Avg global cache cr block flush time", "CR Blocks Flush Time (us)"),
            gauge("Global cache log flushes for cr blocks served %", "CR Blocks Log Flush CR Srvd %", unit="pct"),
            us("Avg global cache current block receive time", "CU Blocks Receive Time (us)"),
            us("Avg global cache current block pin time", "CU Blocks Pin Time (us)"),
            us("Avg global cache current block flush time", "CU Blocks Flush Time (us)"),
            gauge("Global cache log flushes for current blocks served %", "CU Blocks Log Flush CU Srvd %", unit="pct"),
        ),
    ),
    Statistics(
        r"SysStat and Global Messaging\s*- RAC",
        "v$sysstat",
        (),
        (
            total("gc current blocks received", "Blocks Received GC Current"),
            total("gc cr blocks received", "Blocks Received GC CR"),
            total("gc current blocks served", "Blocks Served GC Current"),
            total("gc cr blocks served", "Blocks Served GC CR"),
            spent("gc CPU used by this session", "CPU (seconds) GC"),
            spent("IPC CPU used by this session", "CPU (seconds) IPC"),
            total("gcs msgs received", "Messages GCS Received"),
            total("ges msgs received", "Messages GES Received"),
            total("gcs messages sent", "Messages GCS Sent"),
            total("ges messages sent", "Messages GES Sent"),
            total("messages sent directly", "Messages Sent Direct"),
            total("messages sent indirectly", "Messages Sent Indir"),
            total("gc blocks lost", "GC Blks Lost"),
            total("gc cr failures", "GC CR Failure"),
        ),
    ),
    Named(
        r"Global CR Serve[rd]* Statistics",
        lambda name: (f"v$cr_block_server.{name}", "per_s", 1.0),
        ("Statistic",),
        (total("", "Total"),),
    ),
    counted(
        "v$cr_block_server",
        r"Global CR Serve[rd]* Statistics",
        "Block Requests CR",
        "Block Requests CU",
        "Block Requests Data",
        "Block Requests Undo",
        "Block Requests TX",
        "Results Current",
        "Results Private",
        "Results Zero",
        "Results Dsk Rd",
        "Results Fail",
        "Fairness Down Conv",
        "Light Works",
        "Total Flushes",
        "Total Builds",
        "Total Errors",
    ),
    Statistics(
        r"Global Current Serve[rd]* Statistics",
        "v$current_block_server",
        ("Statistic",),
        (
            total("total", "Total"),
            *(
                gauge(f"under_{limit}_pct", f"% <{limit}", unit="pct")
                for limit in ("100us", "1ms", "10ms", "100ms", "1s", "10s")
            ),
        ),
    ),
    Statistics(
        r"Global Current Serve[rd]* Statistics",
        "v$current_block_server",
        (),
        (total("pins", "Pins"), total("flushes", "Flushes")),
    ),
    Statistics(
        r"Global Cache Transfer (Statistics|Times \(us\)|Stats)|Global Cache Transfer Times",
        "v$instance_cache_transfer",
        REMOTE,
        (*blocks("cr", "CR"), *blocks("current", "Current")),
    ),
    Statistics(
        r"Global Cache (Transfer|Times) \(Immediate\)",
        "v$instance_cache_transfer",
        REMOTE,
        (
            total("lost", "Blocks Lost", "Lost Blocks Count"),
            us("lost_ms", "Lost Time", "Lost Blocks Time(us)"),
            total("cr immediate", "CR Immed Blks Received", "Immediate CR Blocks Received"),
            total("current immediate", "Current Immed Blks Received", "Immediate Current Blocks Received"),
            us("cr 2hop_ms", "CR Avg Time (us) 2hop", "Immed CR Avg Time (us) 2-hop"),
            us("cr 3hop_ms", "CR Avg Time (us) 3hop", "Immed CR Avg Time (us) 3-hop"),
            us("current 2hop_ms", "Current Avg Time (us) 2hop", "Immed Current Avg Time (us) 2-hop"),
            us("current 3hop_ms", "Current Avg Time (us) 3hop", "Immed Current Avg Time (us) 3-hop"),
        ),
    ),
    Statistics(
        r"Interconnect Ping Latency|Ping Statistics",
        "interconnect_ping",
        (("Target Instance", "Instance# Src"), "Instance# Target"),
        (
            total("500B pings", "500B Ping Count", "500 bytes Ping Count"),
            us("500B ping_ms", "Avg Latency 500B msg", "500 bytes Avg Time(us)"),
            total("8K pings", "8K Ping Count", "8 Kbytes Ping Count"),
            us("8K ping_ms", "Avg Latency 8K msg", "8 Kbytes Avg Time(us)"),
        ),
        glue=" to ",
    ),
    Statistics(
        r"Interconnect Throughput by Client",
        "interconnect_client",
        ("Used By",),
        (
            rate("sent_bytes", "Send Mbytes/sec", unit="bytes_per_s", by=MIB),
            rate("received_bytes", "Receive Mbytes/sec", unit="bytes_per_s", by=MIB),
        ),
    ),
    Statistics(
        r"Interconnect Client Statistics$",
        "interconnect_client",
        (),
        tuple(
            total(f"{client.lower()} {name}_bytes", f"{what} (MB) {client}", unit="bytes_per_s", by=MIB)
            for what, name in (("Sent", "sent"), ("Received", "received"))
            for client in ("Total", "Cache", "IPQ", "DLM", "PNG", "Misc")
        ),
    ),
    Statistics(
        r"Interconnect Device Statistics$",
        "interconnect_device",
        (("Device Name", "Interface NAME", "Interface"), ("IP Address", "Interface IP Address")),
        (
            rate("sent_bytes", "Send Mbytes/sec", unit="bytes_per_s", by=MIB),
            rate("received_bytes", "Receive Mbytes/sec", unit="bytes_per_s", by=MIB),
            total("sent_bytes", "Sent MBytes", unit="bytes_per_s", by=MIB),
            total("received_bytes", "Received MBytes", unit="bytes_per_s", by=MIB),
            total("send_errors", "Send Errors", "Sent Errors"),
            total("send_dropped", "Send Dropped", "Sent Packets Dropped"),
            total("receive_errors", "Receive Errors", "Received Errors"),
            total("receive_dropped", "Receive Dropped", "Received Packets Dropped"),
            total("receive_frame_errors", "Receive Frame Errors", "Received Frame Errors"),
        ),
    ),
    Redundant(r"Interconnect (Client|Device) Statistics \(per Second\)"),
    Named(
        r"Dynamic Remastering Stat",
        lambda name: (f"dynamic_remaster.{name}", "per_s", 1.0),
        ("Name",),
        (total("", "Total"),),
    ),
    Statistics(
        r"Dynamic Remastering Stat",
        "dynamic_remaster",
        (),
        (
            total("remaster ops", "Remaster Ops"),
            gauge("remastered objects per op", "Counts per Ops Remastered Objects"),
            gauge("remaster time per op", "Time per Ops (seconds) Remaster", unit="s"),
            gauge("freeze time per op", "Time per Ops (seconds) Freeze", unit="s"),
        ),
    ),
)
