"""Where the metrics of node_exporter, postgres_exporter and mysqld_exporter belong in the dataset."""

from typing import Final, NamedTuple

from doctord.regex import regex


class MetricColumn(NamedTuple):
    """A column, the label that names its entity, and what the metric (a counter: its rate) is multiplied by."""

    table: str
    column: str
    label: str | None = None
    factor: float = 1.0
    counter: bool = False


def _rate(table: str, column: str, label: str | None = None, factor: float = 1.0) -> MetricColumn:
    return MetricColumn(table, column, label, factor, counter=True)


# What a label's value is called in the dataset.
ENTITY: Final = {"cpu": "cpu", "disk": "device", "network": "interface", "filesystem": "mount", "memory": None}

NODE: Final[dict[str, MetricColumn]] = {
    "node_context_switches_total": _rate("cpu", "csw_per_s"),
    "node_intr_total": _rate("cpu", "interrupts_per_s"),
    "node_forks_total": _rate("cpu", "forks_per_s"),
    "node_procs_running": MetricColumn("cpu", "run_queue"),
    "node_procs_blocked": MetricColumn("cpu", "blocked_tasks"),
    "node_pressure_cpu_waiting_seconds_total": _rate("cpu", "pressure_some_pct", factor=100.0),
    "node_pressure_memory_waiting_seconds_total": _rate("memory", "pressure_some_pct", factor=100.0),
    "node_pressure_memory_stalled_seconds_total": _rate("memory", "pressure_full_pct", factor=100.0),
    "node_memory_MemTotal_bytes": MetricColumn("memory", "total_bytes"),
    "node_memory_MemFree_bytes": MetricColumn("memory", "free_bytes"),
    "node_memory_MemAvailable_bytes": MetricColumn("memory", "available_bytes"),
    "node_memory_AnonPages_bytes": MetricColumn("memory", "anon_bytes"),
    "node_memory_Cached_bytes": MetricColumn("memory", "page_cache_bytes"),
    "node_memory_Buffers_bytes": MetricColumn("memory", "page_cache_bytes"),
    "node_memory_PageTables_bytes": MetricColumn("memory", "page_tables_bytes"),
    "node_memory_Shmem_bytes": MetricColumn("memory", "shmem_bytes"),
    "node_memory_SwapTotal_bytes": MetricColumn("memory", "swap_total_bytes"),
    "node_memory_SwapFree_bytes": MetricColumn("memory", "swap_free_bytes"),
    "node_memory_HugePages_Total": MetricColumn("memory", "huge_pages_total"),
    "node_memory_HugePages_Free": MetricColumn("memory", "huge_pages_free"),
    "node_memory_HugePages_Rsvd": MetricColumn("memory", "huge_pages_rsvd"),
    "node_memory_Hugepagesize_bytes": MetricColumn("memory", "huge_page_bytes"),
    "node_vmstat_pgpgin": _rate("memory", "page_in_kib_per_s"),
    "node_vmstat_pgpgout": _rate("memory", "page_out_kib_per_s"),
    "node_vmstat_pswpin": _rate("memory", "swap_in_per_s"),
    "node_vmstat_pswpout": _rate("memory", "swap_out_per_s"),
    "node_vmstat_pgscan_kswapd": _rate("memory", "scan_per_s"),
    "node_vmstat_pgscan_direct": _rate("memory", "scan_per_s"),
    "node_vmstat_pgfault": _rate("memory", "minor_faults_per_s"),
    "node_vmstat_pgmajfault": _rate("memory", "major_faults_per_s"),
    "node_disk_reads_completed_total": _rate("disk", "reads_per_s", "device"),
    "node_disk_writes_completed_total": _rate("disk", "writes_per_s", "device"),
    "node_disk_read_bytes_total": _rate("disk", "read_bytes_per_s", "device"),
    "node_disk_written_bytes_total": _rate("disk", "write_bytes_per_s", "device"),
    "node_disk_read_time_seconds_total": _rate("disk", "read_ms", "device", 1000.0),  # still to be divided by the reads
    "node_disk_write_time_seconds_total": _rate("disk", "write_ms", "device", 1000.0),
    "node_disk_io_time_seconds_total": _rate("disk", "util_pct", "device", 100.0),
    "node_disk_io_time_weighted_seconds_total": _rate("disk", "queue", "device"),
    "node_filesystem_size_bytes": MetricColumn("filesystem", "size_bytes", "mountpoint"),
    "node_filesystem_avail_bytes": MetricColumn("filesystem", "available_bytes", "mountpoint"),
    "node_filesystem_free_bytes": MetricColumn("filesystem", "_free_bytes", "mountpoint"),  # helps to find others
    "node_filesystem_files": MetricColumn("filesystem", "_inodes", "mountpoint"),
    "node_filesystem_files_free": MetricColumn("filesystem", "_inodes_free", "mountpoint"),
    "node_network_receive_bytes_total": _rate("network", "rx_bytes_per_s", "device"),
    "node_network_transmit_bytes_total": _rate("network", "tx_bytes_per_s", "device"),
    "node_network_receive_errs_total": _rate("network", "errors_per_s", "device"),
    "node_network_transmit_errs_total": _rate("network", "errors_per_s", "device"),
    "node_network_receive_drop_total": _rate("network", "errors_per_s", "device"),
    "node_network_transmit_drop_total": _rate("network", "errors_per_s", "device"),
    "node_netstat_Tcp_OutSegs": _rate("network", "segments_out_per_s"),
    "node_netstat_Tcp_RetransSegs": _rate("network", "retransmits_per_s"),
    "node_netstat_TcpExt_ListenDrops": _rate("network", "listen_drops_per_s"),
    "node_netstat_TcpExt_ListenOverflows": _rate("network", "listen_overflows_per_s"),
    "node_netstat_Tcp_CurrEstab": MetricColumn("network", "established"),
}
CPU_TIME: Final = "node_cpu_seconds_total"
CPU_MODES: Final = {
    "user": "usr_pct",
    "nice": "usr_pct",
    "system": "sys_pct",
    "iowait": "wait_io_pct",
    "irq": "irq_pct",
    "softirq": "irq_pct",
    "steal": "steal_pct",
    "idle": "idle_pct",
}
HOST_NAME: Final = ("node_uname_info", "nodename")
CLOCK: Final = "node_time_seconds"

# Views of PostgreSQL, as postgres_exporter writes them before the name of the column; the longest first.
PG_VIEWS: Final = (
    "pg_stat_database_conflicts", "pg_stat_progress_vacuum", "pg_stat_checkpointer", "pg_stat_user_tables",
    "pg_stat_user_indexes", "pg_stat_statements", "pg_stat_replication", "pg_stat_database", "pg_stat_bgwriter",
    "pg_stat_activity", "pg_stat_archiver", "pg_stat_wal_receiver", "pg_stat_wal", "pg_statio_user_tables",
    "pg_statio_user_indexes", "pg_replication_slots", "pg_replication_slot", "pg_replication", "pg_process_idle",
    "pg_long_running_transactions", "pg_database", "pg_locks", "pg_wal",
)  # fmt: skip
# Columns of these that are readings; the others rise.
PG_GAUGES: Final = regex(
    r"(numbackends|count|lag\w*|active\w*|slot\w*|size\w*|bytes|n_(live|dead)_tup|n_mod_since_analyze|n_ins_since_vacuum"
    r"|oldest\w*|last_\w+|max_tx_duration|stats_reset|segments|connection_limit|\w+_duration_seconds|is_replica"
    r"|heap_blks_(scanned|total|vacuumed)\w*)$"
)
PG_GAUGE_VIEWS: Final = frozenset({"pg_stat_activity", "pg_locks", "pg_long_running_transactions", "pg_replication"})
# Labels that name what a figure of PostgreSQL is about, from the whole to the part.
PG_ENTITY: Final = ("datname", "schemaname", "relname", "indexrelname", "slot_name", "application_name", "queryid")
# Figures of databases and tables: kind and column of `space`.
SPACE: Final = {
    "pg_database_size_bytes": ("database", "used_bytes"),
    "pg_stat_user_tables_n_live_tup": ("table", "live_rows"),
    "pg_stat_user_tables_n_dead_tup": ("table", "dead_rows"),
}
