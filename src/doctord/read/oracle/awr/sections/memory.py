"""Memory: what it is used for, and what the advisors expect of more or less of it."""

from doctord._native import ReportFigure, ReportTable
from doctord.read.oracle.awr.report import Report, filled_down, place
from doctord.read.oracle.awr.section import (
    MIB,
    FigureColumn,
    Meant,
    Named,
    NameOf,
    Redundant,
    Section,
    Special,
    Statistics,
    add_named,
    gauge,
    mean_s,
    total,
    with_unit,
)

LATER = ("E", "E1", "E2", "E:", "B/E", "End")


def at_end(inner: Statistics) -> Special:
    """Of rows for begin (`B`) and end (`E`) of the interval, those for its end."""

    def fill(table: ReportTable, report: Report) -> bool:
        marks = filled_down(table.texts(table.find("", "B/E", "Snap") or 0)) if table.names else []
        later = [row for row, mark in enumerate(marks) if mark in LATER]
        return inner.fill(table.only(later) if later else table, report)

    return Special(inner.title, fill, tuple(inner.given()))


def bytes_of(name: str, *columns: str) -> FigureColumn:
    """A column of sizes in MB (of 2^20 bytes, K of 1024), as a gauge in bytes."""
    return gauge(name, *columns, unit="bytes", kilo=1024.0, by=MIB)


def sizes(view: str) -> NameOf:
    """Names of memory, with the unit in brackets or beside the figure; percentages as such."""
    size_of = with_unit(view, ("bytes", 1.0), {"KB": ("bytes", 1024.0), "MB": ("bytes", MIB), "M": ("bytes", MIB)})

    def name_of(name: str) -> Meant | None:
        if "%" in name:
            return f"{view}.{name}", "pct", 1.0
        if name == "db_block_buffers":
            return f"{view}.{name}", "blocks", 1.0
        return size_of(name)

    return name_of


SGA = sizes("v$sga")


def cache_sizes(table: ReportTable, report: Report) -> bool:
    """Names and sizes by turns: `Buffer Cache: 728M 728M Std Block Size: 8K`."""
    placed = place(table, report)
    columns = [(name, value) for name, value in ((0, 2), (0, 1), (3, 4)) if value < len(table.names)]
    found = [
        add_named(report, placed, ReportFigure(value, kilo=1024.0), placed.table.texts(name), SGA)
        for name, value in columns
    ]
    return any(found)


SECTIONS: tuple[Section, ...] = (
    Named(r"memory statistics$", sizes("memory"), ("",), (gauge("", "End"), gauge("", "Begin"))),
    Named(r"shared pool statistics", sizes("shared_pool"), ("",), (gauge("", "End"), gauge("", "Begin"))),
    Special(r"cache sizes and other statistics", cache_sizes, (("v$sga.NAME", "bytes", ""),)),
    Statistics(
        r"Cache Sizes",
        "v$sga",
        (),
        tuple(
            bytes_of(name, *columns)
            for name, *columns in (
                ("Memory Target", "Memory Target Begin"),
                ("Sga Target", "Sga Target Begin"),
                ("Buffer Cache", "DB Cache Begin"),
                ("Shared Pool Size", "Shared Pool Begin"),
                ("Large Pool", "Large Pool Begin"),
                ("Java Pool", "Java Pool Begin"),
                ("Streams Pool", "Streams Pool Begin"),
                ("PGA Target", "PGA Target Begin"),
                ("Log Buffer", "Log Buffer"),
            )
        ),
    ),
    Named(r"comparisons of cache sizes", SGA, ("",), (gauge("", "(M)", by=MIB),)),
    Statistics(
        r"PGA Aggr(egate)? (Summary|Target Stat)",
        "v$pgastat",
        (),
        (
            gauge("cache hit percentage", "PGA Cache Hit %", unit="pct"),
            total("bytes processed", "W/A MB Processed", unit="bytes_per_s", by=MIB),
            total(
                "extra bytes read/written",
                "Extra W/A MB Read/Written",
                "Read/Written W/A MB",
                unit="bytes_per_s",
                by=MIB,
            ),
        ),
    ),
    at_end(
        Statistics(
            r"PGA Aggr(egate)? Target Stat",
            "v$pgastat",
            (),
            (
                bytes_of("aggregate PGA target parameter", "PGA Aggr Target(M)", "PGA Aggr Target End"),
                bytes_of("aggregate PGA auto target", "Auto PGA Target(M)", "Auto PGA Target End"),
                bytes_of("total PGA allocated", "PGA Mem Alloc(M)", "PGA Mem Alloc End"),
                bytes_of("total PGA used by workareas", "W/A PGA Used(M)"),
                bytes_of("total PGA used for auto workareas", "Auto Workareas End"),
                bytes_of("total PGA used for manual workareas", "Manual Workarea End"),
                gauge("global memory bound", "Global Mem Bound(K)", unit="bytes", by=1024.0),
                bytes_of("global memory bound", "Global Mem Bound End"),
            ),
        )
    ),
    Statistics(
        r"PGA Aggr(egate)? Target Histogram",
        "v$sql_workarea_histogram",
        ("Low Optimal", "High Optimal"),
        (
            total("total", "Total Execs"),
            total("optimal", "Optimal Execs"),
            total("onepass", "1-Pass Execs"),
            total("multipass", "M-Pass Execs"),
        ),
        glue=" - ",
    ),
    Statistics(
        r"PGA Memory Advisory",
        "v$pga_target_advice",
        (("PGA Target Est (MB)", "PGA Aggr Target Est (MB)"),),
        (
            gauge("size_factor", "Size Factr", unit="factor"),
            gauge("bytes_processed", "W/A MB Processed", unit="bytes", by=MIB),
            gauge(
                "estd_extra_bytes_rw",
                "Estd Extra W/A MB Read/ Written to Disk",
                "Estd Extra W/A MB Read/Written to Disk",
                unit="bytes",
                by=MIB,
            ),
            gauge("estd_pga_cache_hit_pct", "Estd PGA Cache Hit %", "Estd P Cache Hit %", unit="pct"),
            gauge("estd_overalloc_count", "Estd PGA Overalloc Count", "Estd PGA Overallo Count"),
            gauge("estd_time", "Estd Time", unit="ms"),
        ),
        is_size=True,
    ),
    Statistics(
        r"Buffer Pool Advisory",
        "v$db_cache_advice",
        ("P", ("Size for Est (M)", "Size for Estimate (M)")),
        (
            gauge("size_factor", "Size Factor", "Size Factr", unit="factor"),
            gauge("buffers", "Buffers (thousands)", by=1000.0),
            gauge("estd_physical_read_factor", "Est Phys Read Factor", "Est Phys Read Factr", unit="factor"),
            gauge("estd_physical_reads", "Estimated Phys Reads (thousands)", by=1000.0),
            mean_s("estd_physical_read_time", "Est Phys Read Time"),
            gauge("estd_pct_of_db_time_for_reads", "Est %DBtime for Rds", "Est % dbtime for Rds", unit="pct"),
        ),
        is_size=True,
    ),
    Statistics(
        r"SGA Target Advisory",
        "v$sga_target_advice",
        ("SGA Target Size (M)",),
        (
            gauge("size_factor", "SGA Size Factor", unit="factor"),
            mean_s("estd_db_time", "Est DB Time (s)"),
            gauge("estd_physical_reads", "Est Physical Reads"),
        ),
        is_size=True,
    ),
    Statistics(
        r"Shared Pool Advisory",
        "v$shared_pool_advice",
        (("Shared Pool Size(M)", "Shared Pool Size (M)"),),
        (
            gauge("size_factor", "SP Size Factr", unit="factor"),
            bytes_of("estd_lc_size", "Est LC Size (M)"),
            gauge("estd_lc_memory_objects", "Est LC Mem Obj"),
            mean_s("estd_lc_time_saved", "Est LC Time Saved (s)"),
            gauge("estd_lc_time_saved_factor", "Est LC Time Saved Factr", unit="factor"),
            mean_s("estd_lc_load_time", "Est LC Load Time (s)"),
            gauge("estd_lc_load_time_factor", "Est LC Load Time Factr", unit="factor"),
            gauge("estd_lc_memory_object_hits", "Est LC Mem Obj Hits (K)", by=1000.0),
            gauge("estd_lc_memory_object_hits", "Est LC Mem Obj Hits"),
        ),
        is_size=True,
    ),
    Statistics(
        r"Streams Pool Advisory",
        "v$streams_pool_advice",
        (("Size for Est (MB)", "Streams Pool Size (M)"),),
        (
            gauge("size_factor", "Size Factor", "Streams Pool Size Factor", unit="factor"),
            gauge("estd_spill_count", "Est Spill Count"),
            mean_s("estd_spill_time", "Est Spill Time (s)"),
            gauge("estd_unspill_count", "Est Unspill Count"),
            mean_s("estd_unspill_time", "Est Unspill Time (s)"),
        ),
        is_size=True,
    ),
    Statistics(
        r"Java Pool Advisory",
        "v$java_pool_advice",
        (("Java Pool Size(M)", "Java Pool Size (M)"),),
        (
            gauge("size_factor", "JP Size Factr", unit="factor"),
            mean_s("estd_lc_time_saved", "Est LC Time Saved (s)"),
            mean_s("estd_lc_load_time", "Est LC Load Time (s)"),
        ),
        is_size=True,
    ),
    at_end(
        Statistics(
            r"Instance Recovery Stats",
            "v$instance_recovery",
            (),
            (
                mean_s("target_mttr", "Targt MTTR (s)", "Target MTTR(s)"),
                mean_s("estimated_mttr", "Estd MTTR (s)", "Estimated MTTR(s)"),
                gauge("recovery_estimated_ios", "Recovery Estd IOs", "Recovery Estimated IOs"),
                gauge("actual_redo_blks", "Actual RedoBlks", "Actual Redo Blks", "Actual Redo Blocks", unit="blocks"),
                gauge("target_redo_blks", "Target RedoBlks", "Target Redo Blks", "Target Redo Blocks", unit="blocks"),
                gauge(
                    "log_file_size_redo_blks",
                    "Log Sz RedoBlks",
                    "Log File Size Redo Blks",
                    "Log File Size Redo Blocks",
                    unit="blocks",
                ),
                gauge(
                    "log_chkpt_timeout_redo_blks",
                    "Log Ckpt Timeout RedoBlks",
                    "Log Ckpt Timeout Redo Blks",
                    "Log Ckpt Timeout Redo Blocks",
                    unit="blocks",
                ),
                gauge(
                    "log_chkpt_interval_redo_blks",
                    "Log Ckpt Interval RedoBlks",
                    "Log Ckpt Interval Redo Blks",
                    "Log Ckpt Interval Redo Blocks",
                    unit="blocks",
                ),
                bytes_of("optimal_logfile_size", "Opt Log Sz(M)", "Optimal Log File Size (Mb)"),
                mean_s("estd_cluster_available_time", "Estd RAC Avail Time", "Estimated Cluster Available Time (s)"),
            ),
        )
    ),
    Statistics(
        r"MTTR Advisory",
        "v$mttr_target_advice",
        ("Size for Est (s)",),
        (
            gauge("dirty_limit", "Dirty Limit", unit="blocks"),
            gauge("estd_cache_writes", "Est Cache Writes"),
            gauge("estd_cache_write_factor", "Est Cache Write Fctr", unit="factor"),
            gauge("estd_total_writes", "Est Total Writes"),
            gauge("estd_total_ios", "Est Total IOs"),
        ),
        is_size=True,
    ),
    at_end(
        Statistics(
            r"Process Memory Summary",
            "v$process_memory",
            ("Category",),
            (
                bytes_of("allocated", "Alloc (MB)"),
                bytes_of("used", "Used (MB)"),
                bytes_of("max_allocated", "Max Alloc (MB)"),
                bytes_of("hist_max_allocated", "Hist Max Alloc (MB)"),
                gauge("processes", "Num Proc", "Num Procs or Allocs"),
            ),
        )
    ),
    Statistics(
        r"Memory Dynamic Components",
        "v$memory_dynamic_components",
        (("Component", "Cache"),),
        (
            bytes_of("current_size", "Current Size (Mb)", "End Snap Size (M)"),
            bytes_of("current_size", "Begin Snap Size (M)"),
            bytes_of("min_size", "Min Size (Mb)"),
            bytes_of("max_size", "Max Size (Mb)"),
            gauge("oper_count", "Oper Count", "Op Count"),
        ),
    ),
    Statistics(
        r"SGA Memory Summary",
        "v$sga",
        (("SGA regions", "Pool"),),
        (
            gauge("size", "End Size (Bytes) (if different)", "End Size (Bytes)", unit="bytes"),
            gauge("size", "Begin Size (Bytes)", unit="bytes"),
            gauge("size", "End Value (KB)", unit="bytes", by=1024.0),
        ),
    ),
    Statistics(
        r"SGA breakdown difference",
        "v$sgastat",
        ("Pool", "Name"),
        (bytes_of("size", "End MB"), bytes_of("size", "Begin MB"), gauge("size", "End Value", unit="bytes")),
        glue="/",
    ),
    Redundant(r"Memory Resize Operations Summary"),
)
