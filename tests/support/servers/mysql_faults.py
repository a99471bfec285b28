"""Settings of MariaDB and MySQL that are wrong, and the same that are right, with what was measured beside them."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from doctord.dataset.dataset import Dataset
from doctord.dataset.mysql_names import is_gauge
from settings_datasets import GIB, HOST, dataset, machine

DB = "mysql:3306"
MARIADB, MYSQL = "10.11.19-MariaDB", "8.0.36"
MIB = 1 << 20


@dataclass
class Server:
    """One server: settings by name, status by name (rates a second, but readings), and rows of other tables."""

    settings: dict[str, object]
    status: dict[str, float] = field(default_factory=dict)
    version: str = MARIADB
    tables: dict[str, Any] = field(default_factory=dict)

    def dataset(self) -> Dataset:
        return dataset(
            "mysql",
            {"version": self.version, **self.settings},
            db=DB,
            statistic=list(self._statistics()),
            **self.tables,
        )

    def _statistics(self) -> Any:
        for name, value in self.status.items():
            full = name if "." in name else f"global_status.{name}"
            kind = "gauge" if "." in name or is_gauge(name) else "rate"
            yield {"host": HOST, "component": "mysql", "db": DB, "name": full, "value": value, "kind": kind}


def disk(**figures: float) -> dict[str, Any]:
    return {"disk": [{"host": HOST, "device": "sda", "interval_s": 1.0, **figures}]}


def host(component: str, **settings: object) -> dict[str, Any]:
    """Rows of another component of the same host; `__` stands for a dot."""
    return {
        "setting": [
            {"host": HOST, "component": component, "name": name.replace("__", "."), "value": str(value)}
            for name, value in settings.items()
        ]
    }


def in_file(**settings: str) -> dict[str, Any]:
    common = {"host": HOST, "component": "mysql", "db": DB, "source": "file", "source_file": "/etc/my.cnf"}
    rows = enumerate(settings.items(), 1)
    return {"setting": [{**common, "name": name, "value": value, "line": line} for line, (name, value) in rows]}


def seen_for(seconds: float) -> dict[str, Any]:
    return {"cpu": [{"ts": datetime(2026, 1, 1, tzinfo=UTC), "host": HOST, "interval_s": seconds, "idle_pct": 50.0}]}


BUSY = {"query_time": 4.0, "uptime": 1000.0}
SMALL = machine(16 * GIB, available_bytes=8 * GIB)
READS = disk(reads_per_s=1000.0, read_ms=2.0, writes_per_s=500.0, write_ms=2.0)
BINLOG = {"log_bin": "ON", "expire_logs_days": "0.000000", "binlog_expire_logs_seconds": 0}
WRITES = {"binlog_bytes_written": 10.0 * MIB, **BUSY}
SPACE = {"filesystem": [{"host": HOST, "mount": "/var", "size_bytes": 200 * GIB, "used_bytes": 100 * GIB}]}
KEPT = {"log_bin": "ON", "log_bin_basename": "/var/lib/mysql/bin"}

# By rule: a server with the fault, and one without it.
FAULTS: dict[str, tuple[Server, Server]] = {
    "commits_not_flushed": (
        Server({"innodb_flush_log_at_trx_commit": 2}, {"handler_commit": 500.0}),
        Server({"innodb_flush_log_at_trx_commit": 1}, {"handler_commit": 500.0}),
    ),
    "binlog_not_synced": (Server({"log_bin": "ON", "sync_binlog": 0}), Server({"log_bin": "OFF", "sync_binlog": 0})),
    "doublewrite_off": (Server({"innodb_doublewrite": "OFF"}), Server({"innodb_doublewrite": "ON"})),
    "checksums_off": (
        Server({"innodb_checksum_algorithm": "strict_none"}),
        Server({"innodb_checksum_algorithm": "full_crc32"}),
    ),
    "flush_method_never_syncs": (
        Server({"innodb_flush_method": "nosync"}),
        Server({"innodb_flush_method": "O_DIRECT"}),
    ),
    "recovery_forced": (Server({"innodb_force_recovery": 4}), Server({"innodb_force_recovery": 0})),
    "sql_mode_not_strict": (
        Server({"sql_mode": "NO_ENGINE_SUBSTITUTION"}),
        Server({"sql_mode": "STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION"}),
    ),
    "checks_off": (Server({"foreign_key_checks": "OFF"}), Server({"foreign_key_checks": "ON"})),
    "character_set_of_three_bytes": (
        Server({"character_set_server": "utf8mb3", "sql_mode": ""}),
        Server({"character_set_server": "utf8mb4", "sql_mode": ""}),
    ),
    "table_names_against_file_system": (
        Server({"lower_case_table_names": 0, "lower_case_file_system": "ON"}),
        Server({"lower_case_table_names": 0, "lower_case_file_system": "OFF"}),
    ),
    "statements_replayed": (
        Server({"log_bin": "ON", "binlog_format": "STATEMENT"}),
        Server({"log_bin": "ON", "binlog_format": "MIXED"}),
    ),
    "replica_not_crash_safe": (
        Server({"relay_log_recovery": "OFF"}, {"slaves_running": 1.0}),
        Server({"relay_log_recovery": "OFF"}, {"slaves_running": 0.0}),
    ),
    "replica_writable": (
        Server({"read_only": "OFF"}, {"slaves_running": 1.0}),
        Server({"read_only": "ON"}, {"slaves_running": 1.0}),
    ),
    "replication_errors_skipped": (Server({"slave_skip_errors": "1062"}), Server({"slave_skip_errors": "OFF"})),
    "grants_skipped": (Server({"skip_grant_tables": "ON"}), Server({})),
    "passwords_of_old": (Server({"secure_auth": "OFF"}), Server({"secure_auth": "ON"})),
    "files_of_clients_read": (
        Server({"local_infile": "ON", "secure_file_priv": ""}),
        Server({"local_infile": "ON", "secure_file_priv": "/srv/load/"}),
    ),
    "buffer_pool_exceeds_memory": (
        Server({"innodb_buffer_pool_size": 20 * GIB}, tables=SMALL),
        Server({"innodb_buffer_pool_size": 12 * GIB}, tables=SMALL),
    ),
    "sessions_exceed_memory": (
        Server({"max_connections": 500, "sort_buffer_size": 256 * MIB}, tables=SMALL),
        Server({"max_connections": 500, "sort_buffer_size": 2 * MIB}, tables=SMALL),
    ),
    "buffer_pool_small": (
        Server({"innodb_buffer_pool_size": GIB}, {"innodb_buffer_pool_reads": 900.0, **BUSY}, tables=SMALL | READS),
        Server(
            {"innodb_buffer_pool_size": GIB},
            {
                "innodb_buffer_pool_reads": 900.0,
                "innodb_pages_read": 900.0,
                "innodb_buffer_pool_read_ahead": 880.0,
                **BUSY,
            },
            tables=SMALL | READS,
        ),
    ),
    "pages_cached_twice": (
        Server(
            {"innodb_flush_method": "fsync", "innodb_buffer_pool_size": 9 * GIB},
            tables=machine(16 * GIB, page_cache_bytes=6 * GIB),
        ),
        Server(
            {"innodb_flush_method": "O_DIRECT", "innodb_buffer_pool_size": 9 * GIB},
            tables=machine(16 * GIB, page_cache_bytes=6 * GIB),
        ),
    ),
    "large_pages_missing": (
        Server(
            {"large_pages": "ON", "innodb_buffer_pool_size": 4 * GIB},
            tables=machine(huge_pages_total=100, huge_page_bytes=2 * MIB),
        ),
        Server(
            {"large_pages": "ON", "innodb_buffer_pool_size": 4 * GIB},
            tables=machine(huge_pages_total=2100, huge_page_bytes=2 * MIB),
        ),
    ),
    "buffer_pool_on_one_node": (
        Server(
            {"innodb_numa_interleave": "OFF", "innodb_buffer_pool_size": 12 * GIB},
            tables=SMALL | host("kernel", **{"lscpu__NUMA node(s)": 2}),
        ),
        Server({"innodb_numa_interleave": "OFF", "innodb_buffer_pool_size": 12 * GIB}, tables=SMALL),
    ),
    "redo_log_small": (
        Server(
            {"innodb_log_file_size": 96 * MIB},
            {"innodb_os_log_written": 4.0 * MIB, "innodb_buffer_pool_bytes_dirty": 90.0 * MIB},
        ),
        Server(
            {"innodb_log_file_size": 16 * GIB},
            {"innodb_os_log_written": 4.0 * MIB, "innodb_buffer_pool_bytes_dirty": 90.0 * MIB},
        ),
    ),
    "log_buffer_small": (
        Server({"innodb_log_buffer_size": MIB}, {"innodb_log_waits": 200.0, **BUSY}, tables=READS),
        Server({"innodb_log_buffer_size": MIB}, {"innodb_log_waits": 0.0, **BUSY}, tables=READS),
    ),
    "free_pages_waited_for": (
        Server({"innodb_io_capacity": 200}, {"innodb_buffer_pool_wait_free": 200.0, **BUSY}, tables=READS),
        Server({"innodb_io_capacity": 200}, {"innodb_buffer_pool_wait_free": 1.0, **BUSY}, tables=READS),
    ),
    "neighbours_flushed_on_ssd": (
        Server({"innodb_flush_neighbors": 1}, version=MYSQL, tables=host("block", block__sda__rotational=0)),
        Server({"innodb_flush_neighbors": 1}, version=MYSQL, tables=host("block", block__sda__rotational=1)),
    ),
    "tables_share_one_file": (Server({"innodb_file_per_table": "OFF"}), Server({"innodb_file_per_table": "ON"})),
    "lock_waits_long": (
        Server({"innodb_lock_wait_timeout": 50}, {"innodb_row_lock_time": 1500.0, **BUSY}),
        Server({"innodb_lock_wait_timeout": 50}, {"innodb_row_lock_time": 50.0, **BUSY}),
    ),
    "deadlocks_wait_for_timeout": (
        Server({"innodb_deadlock_detect": "OFF", "innodb_lock_wait_timeout": 50}),
        Server({"innodb_deadlock_detect": "OFF", "innodb_lock_wait_timeout": 1}),
    ),
    "transactions_left_open": (
        Server({"wait_timeout": 28800}, {"innodb_trx.sleeping_oldest_s": 700.0, "innodb_history_list_length": 9e6}),
        Server({"wait_timeout": 28800}, {"innodb_trx.sleeping_oldest_s": 2.0}),
    ),
    "connections_run_out": (
        Server({"max_connections": 100}, {"max_used_connections": 101.0, "connection_errors_max_connections": 3.0}),
        Server({"max_connections": 100}, {"max_used_connections": 40.0}),
    ),
    "open_files_limit_small": (
        Server({"open_files_limit": 1024, "max_connections": 500, "table_open_cache": 2000}),
        Server({"open_files_limit": 10000, "max_connections": 500, "table_open_cache": 2000}),
    ),
    "accept_queue_short": (
        Server(
            {"back_log": 500},
            tables=host("kernel", net__core__somaxconn=128)
            | {"network": [{"host": HOST, "interval_s": 1.0, "listen_overflows_per_s": 5.0}]},
        ),
        Server({"back_log": 80}, tables=host("kernel", net__core__somaxconn=4096)),
    ),
    "threads_created_often": (
        Server({"thread_cache_size": 0}, {"threads_created": 300.0, "connections": 300.0}),
        Server({"thread_cache_size": 100}, {"threads_created": 0.1, "connections": 300.0}),
    ),
    "table_cache_overflows": (
        Server({"table_open_cache": 10}, {"table_open_cache_overflows": 50.0}),
        Server({"table_open_cache": 2000}, {"table_open_cache_overflows": 0.0}),
    ),
    "clients_not_looked_up": (
        Server({"skip_name_resolve": "OFF"}, {"connection_errors_peer_address": 0.5}),
        Server({"skip_name_resolve": "OFF"}, {"connection_errors_peer_address": 0.0}),
    ),
    "temporary_tables_cut": (
        Server({"tmp_table_size": 256 * MIB, "max_heap_table_size": 16 * MIB}),
        Server({"tmp_table_size": 256 * MIB, "max_heap_table_size": 256 * MIB}),
    ),
    "temporary_tables_on_disk": (
        Server({"tmp_table_size": 16 * MIB}, {"created_tmp_disk_tables": 40.0, "created_tmp_tables": 50.0}),
        Server({"tmp_table_size": 16 * MIB}, {"created_tmp_disk_tables": 1.0, "created_tmp_tables": 50.0}),
    ),
    "query_cache_useless": (
        Server({"query_cache_type": "ON", "query_cache_size": 64 * MIB}, {"qcache_hits": 5.0, "qcache_inserts": 300.0}),
        Server(
            {"query_cache_type": "ON", "query_cache_size": 64 * MIB}, {"qcache_hits": 9000.0, "qcache_inserts": 30.0}
        ),
    ),
    "query_cache_on_by_its_size": (
        Server({}, tables=in_file(query_cache_type="OFF", query_cache_size="64M")),
        Server({}, tables=in_file(query_cache_type="OFF", query_cache_size="0")),
    ),
    "binlogs_never_expire": (
        Server(BINLOG | {"datadir": "/var/lib/mysql/"}, WRITES, tables=SPACE),
        Server(BINLOG | {"binlog_expire_logs_seconds": 86400}, WRITES),
    ),
    "binlogs_exceed_space": (
        Server(KEPT | {"binlog_expire_logs_seconds": 864000}, WRITES, tables=SPACE | seen_for(3600.0)),
        Server(KEPT | {"binlog_expire_logs_seconds": 3600}, WRITES, tables=SPACE),
    ),
    "transactions_outgrow_cache": (
        Server({"binlog_cache_size": 32768}, {"binlog_cache_use": 20.0, "binlog_cache_disk_use": 19.0, **WRITES}),
        Server({"binlog_cache_size": 32768}, {"binlog_cache_use": 20.0, "binlog_cache_disk_use": 0.0, **WRITES}),
    ),
    "statements_not_measured": (
        Server({"performance_schema": "OFF", "slow_query_log": "OFF"}),
        Server({"performance_schema": "OFF", "slow_query_log": "ON"}),
    ),
    "slow_log_floods": (
        Server({"slow_query_log": "ON", "long_query_time": "0.000000"}, {"questions": 20000.0}),
        Server({"slow_query_log": "ON", "long_query_time": "1.000000"}, {"questions": 20000.0}),
    ),
    "general_log_on": (Server({"general_log": "ON"}, {"questions": 100.0}), Server({"general_log": "OFF"})),
    "setting_deprecated": (
        Server({}, version=MYSQL, tables=in_file(innodb_log_file_size="1G")),
        Server({}, version=MYSQL, tables=in_file(innodb_redo_log_capacity="1G")),
    ),
}
