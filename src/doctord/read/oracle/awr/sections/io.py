"""Input and output: by function, file type, tablespace, file, and the buffer pools."""

from doctord.read.oracle.awr.section import (
    MIB,
    FigureColumn,
    Redundant,
    Section,
    Statistics,
    gauge,
    mean_ms,
    rate,
    total,
)

# `Data` is in multiples of 1024; other columns are in multiples of 1000.
FUNCTION: tuple[FigureColumn, ...] = (
    total("read_bytes", "Reads: Data", unit="bytes_per_s", kilo=1024.0),
    total("write_bytes", "Writes: Data", unit="bytes_per_s", kilo=1024.0),
    rate("reads", "Reqs per sec", "Requests Reads/s"),
    rate("writes", "Reqs per sec#2", "Requests Writes/s"),
    rate("read_bytes", "MB Read MB/s", unit="bytes_per_s", by=MIB),
    rate("write_bytes", "MB Write MB/s", unit="bytes_per_s", by=MIB),
    total("waits", "Waits: Count"),
    mean_ms("wait_ms", "Avg Time", "Avg Tm(ms)", "Avg Tm (ms)"),
    mean_ms("small_read_ms", "Small Read", "Service Time Small Read", "Small Read(ms)"),
    mean_ms("large_read_ms", "Large Read", "Service Time Large Read", "Large Read(ms)"),
)
FILES: tuple[FigureColumn, ...] = (
    total("reads", "Reads"),
    rate("reads", "Av Rds/s", "Av Reads/s", "Avg Reads / Sec"),
    mean_ms("read_ms", "Av Rd(ms)", "Av Rd (ms)", "Avg Read Time (ms)"),
    gauge("blocks_per_read", "Av Blks/Rd", "Avg Blocks / Read", "Avg Blocks per Read"),
    rate("single_block_reads", "1-bk Rds/s"),
    mean_ms("single_block_read_ms", "Av 1-bk Rd(ms)", "Av 1-bk Rd (ms)"),
    total("writes", "Writes"),
    rate("writes", "Av Writes/s", "Writes avg/s", "Avg Writes / Sec"),
    mean_ms("write_ms", "Av Writes(ms)", "Av Writes (ms)"),
    gauge("optimized_reads_pct", "% Opt Reads", unit="pct"),
    total("buffer_waits", "Buffer Waits"),
    mean_ms("buffer_wait_ms", "Av Buf Wt(ms)", "Av Buf Wt (ms)", "Av BufWt (ms)", "Avg Buf Wait Time (ms)"),
)

SECTIONS: tuple[Section, ...] = (
    Statistics(r"IOStat by Function/File ?type", "v$iostat_function_detail", (("Function/File Name", ""),), FUNCTION),
    Statistics(r"IOStat by Function( summary)?$", "v$iostat_function", ("Function Name",), FUNCTION),
    Statistics(r"IOStat by File ?type( summary)?$", "v$iostat_file", ("Filetype Name",), FUNCTION),
    Statistics(r"Tablespace IO Stats", "tablespace_io", ("Tablespace",), FILES),
    Statistics(r"File IO Stats|Top File Comparison", "file_io", (("Filename", "File Name"),), FILES),
    Redundant(r"IOStat by (Function|File Type) - "),
    Statistics(
        r"Buffer Pool Statistics",
        "v$buffer_pool_statistics",
        ("P",),
        (
            gauge("buffers", "Number of Buffers", "Buffers"),
            gauge("hit_pct", "Pool Hit%", "Pool Hit %", "Cache Hit %", unit="pct"),
            total("gets", "Buffer Gets"),
            total("physical_reads", "Physical Reads"),
            total("physical_writes", "Physical Writes"),
            total("free_buffer_waits", "Free Buff Wait", "Free Buffer Waits"),
            total("write_complete_waits", "Writ Comp Wait", "Write Complete Waits"),
            total("buffer_busy_waits", "Buffer Busy Waits"),
        ),
    ),
    Statistics(
        r"Checkpoint Activity",
        "checkpoint_activity",
        (),
        (
            total("mttr_writes", "MTTR Writes"),
            total("log_size_writes", "Log Size Writes"),
            total("log_checkpoint_writes", "Log Ckpt Writes"),
            total("other_settings_writes", "Other Settings Writes"),
            total("autotune_checkpoint_writes", "Autotune Ckpt Writes"),
            total("thread_checkpoint_writes", "Thread Ckpt Writes"),
        ),
    ),
)
