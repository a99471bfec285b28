//! The figures that are counted in logs, by the names under which `statistic` holds them.
//!
//! What the server counts in a view of its own goes by that view's name, so that what is asked of a live server can be
//! asked of its log; `log.` stands before what only the log tells.

/// A sum in whole numbers, which come out the same in whatever order they are added; divided by `scale` it has its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Figure {
    pub name: &'static str,
    pub unit: &'static str,
    pub scale: u32,
}

const fn figure(name: &'static str, unit: &'static str, scale: u32) -> Figure {
    Figure { name, unit, scale }
}

const fn count(name: &'static str) -> Figure {
    figure(name, "per_s", 1)
}

const fn bytes(name: &'static str) -> Figure {
    figure(name, "bytes_per_s", 1)
}

const fn seconds_of_us(name: &'static str) -> Figure {
    figure(name, "s_per_s", 1_000_000)
}

const fn ms_of_us(name: &'static str) -> Figure {
    figure(name, "ms_per_s", 1_000)
}

pub const MESSAGES: Figure = count("log.messages");
pub const ERRORS: Figure = count("log.errors");
pub const ERRORS_FROM: Figure = count("log.errors_from");
pub const ERRORS_IN: Figure = count("log.errors_in");
pub const STATEMENTS_LOGGED: Figure = count("log.statements_without_duration");
pub const DURATIONS: Figure = count("log.durations_without_statement");
pub const PLANS: Figure = count("log.plans");
pub const PARSES: Figure = count("log.parses");
pub const PARSE_TIME: Figure = seconds_of_us("log.parse_time");
pub const BINDS: Figure = count("log.binds");
pub const BIND_TIME: Figure = seconds_of_us("log.bind_time");

pub const CONNECTIONS: Figure = count("log.connections_received");
pub const AUTHORIZED: Figure = count("pg_stat_database.sessions");
pub const DISCONNECTIONS: Figure = count("log.disconnections");
pub const SESSION_TIME: Figure = seconds_of_us("log.session_time");
pub const TOO_MANY: Figure = count("log.connections_refused");
pub const FORKS_FAILED: Figure = count("log.forks_failed");

pub const DEADLOCKS: Figure = count("pg_stat_database.deadlocks");
pub const LOCK_WAITS: Figure = count("log.lock_waits");
pub const LOCKS_ACQUIRED: Figure = count("log.locks_acquired");
pub const LOCK_WAIT_TIME: Figure = seconds_of_us("log.lock_wait_time");
pub const TEMP_FILES: Figure = count("pg_stat_database.temp_files");
pub const TEMP_BYTES: Figure = bytes("pg_stat_database.temp_bytes");
pub const ARCHIVE_FAILURES: Figure = count("pg_stat_archiver.failed_count");

pub const CHECKPOINTS_TIMED: Figure = count("pg_stat_checkpointer.num_timed");
pub const CHECKPOINTS_REQUESTED: Figure = count("pg_stat_checkpointer.num_requested");
pub const CHECKPOINTS_AT_EDGES: Figure = count("log.checkpoints_at_start_or_stop");
pub const CHECKPOINTS_DONE: Figure = count("log.checkpoints_complete");
pub const CHECKPOINTS_FREQUENT: Figure = count("log.checkpoints_too_frequent");
pub const CHECKPOINT_BUFFERS: Figure = figure("pg_stat_checkpointer.buffers_written", "blocks_per_s", 1);
pub const CHECKPOINT_WRITE: Figure = ms_of_us("pg_stat_checkpointer.write_time");
pub const CHECKPOINT_SYNC: Figure = ms_of_us("pg_stat_checkpointer.sync_time");
pub const CHECKPOINT_FILES: Figure = count("log.checkpoint_sync_files");
pub const WAL_ADDED: Figure = count("log.wal_files_added");
pub const WAL_REMOVED: Figure = count("log.wal_files_removed");
pub const WAL_RECYCLED: Figure = count("log.wal_files_recycled");
pub const RESTARTPOINTS: Figure = count("log.restartpoints_complete");

pub const CHECKPOINT_TOTAL: Figure = figure("log.checkpoint_total", "s", 1_000_000);
pub const CHECKPOINT_LONGEST_SYNC: Figure = figure("log.checkpoint_longest_sync", "s", 1_000_000);
pub const CHECKPOINT_DISTANCE: Figure = figure("log.checkpoint_distance", "bytes", 1);
pub const CHECKPOINT_ESTIMATE: Figure = figure("log.checkpoint_estimate", "bytes", 1);

pub const VACUUMS: Figure = count("pg_stat_user_tables.autovacuum_count");
pub const ANALYZES: Figure = count("pg_stat_user_tables.autoanalyze_count");
pub const VACUUM_TIME: Figure = seconds_of_us("log.autovacuum_time");
pub const VACUUM_CPU: Figure = seconds_of_us("log.autovacuum_cpu_time");
pub const ANALYZE_TIME: Figure = seconds_of_us("log.autoanalyze_time");
pub const ANALYZE_CPU: Figure = seconds_of_us("log.autoanalyze_cpu_time");
pub const WRAPAROUND: Figure = count("log.autovacuum_to_prevent_wraparound");
pub const AUTOVACUUM_CANCELLED: Figure = count("log.autovacuum_cancelled");
pub const AUTOVACUUM_SKIPPED: Figure = count("log.autovacuum_skipped");
pub const INDEX_SCANS: Figure = count("log.autovacuum_index_scans");
pub const PAGES_REMOVED: Figure = figure("log.autovacuum_pages_removed", "blocks_per_s", 1);
pub const PAGES_SCANNED: Figure = figure("log.autovacuum_pages_scanned", "blocks_per_s", 1);
pub const ROWS_REMOVED: Figure = count("log.autovacuum_rows_removed");
pub const BUFFERS_HIT: Figure = figure("log.autovacuum_buffers_hit", "blocks_per_s", 1);
pub const BUFFERS_MISSED: Figure = figure("log.autovacuum_buffers_read", "blocks_per_s", 1);
pub const BUFFERS_DIRTIED: Figure = figure("log.autovacuum_buffers_dirtied", "blocks_per_s", 1);
pub const VACUUM_WAL_RECORDS: Figure = count("log.autovacuum_wal_records");
pub const VACUUM_WAL_IMAGES: Figure = count("log.autovacuum_wal_fpi");
pub const VACUUM_WAL_BYTES: Figure = bytes("log.autovacuum_wal_bytes");
pub const VACUUM_READ_RATE: Figure = figure("log.autovacuum_read_rate", "bytes_per_s", 1);
pub const VACUUM_WRITE_RATE: Figure = figure("log.autovacuum_write_rate", "bytes_per_s", 1);
pub const PAGES_REMAIN: Figure = figure("log.autovacuum_pages_remain", "blocks", 1);
pub const ROWS_REMAIN: Figure = figure("log.autovacuum_rows_remain", "rows", 1);
pub const ROWS_DEAD: Figure = figure("log.autovacuum_rows_dead_not_removable", "rows", 1);

pub const ROWS_EXAMINED: Figure = count("slow_log.rows_examined");
pub const LOCK_TIME: Figure = seconds_of_us("slow_log.lock_time");
pub const BYTES_SENT: Figure = bytes("slow_log.bytes_sent");
pub const TMP_TABLES: Figure = count("slow_log.tmp_tables");
pub const TMP_DISK_TABLES: Figure = count("slow_log.tmp_disk_tables");
pub const TMP_TABLE_SIZES: Figure = bytes("slow_log.tmp_table_sizes");
pub const FULL_SCAN: Figure = count("slow_log.full_scan");
pub const FULL_JOIN: Figure = count("slow_log.full_join");
pub const TMP_TABLE: Figure = count("slow_log.tmp_table");
pub const TMP_TABLE_ON_DISK: Figure = count("slow_log.tmp_table_on_disk");
pub const FILESORT: Figure = count("slow_log.filesort");
pub const FILESORT_ON_DISK: Figure = count("slow_log.filesort_on_disk");
pub const MERGE_PASSES: Figure = count("slow_log.merge_passes");
pub const INNODB_READS: Figure = count("slow_log.innodb_reads");
pub const INNODB_READ_BYTES: Figure = bytes("slow_log.innodb_read_bytes");
pub const INNODB_READ_WAIT: Figure = seconds_of_us("slow_log.innodb_read_wait");
pub const INNODB_LOCK_WAIT: Figure = seconds_of_us("slow_log.innodb_lock_wait");
pub const INNODB_QUEUE_WAIT: Figure = seconds_of_us("slow_log.innodb_queue_wait");
pub const PAGES_UPDATED: Figure = figure("slow_log.pages_updated", "blocks_per_s", 1);
pub const STATEMENTS_FAILED: Figure = count("slow_log.failed");

pub const ABORTED: Figure = count("log.aborted_connections");
pub const DENIED: Figure = count("log.access_denied");
pub const INNODB_DEADLOCKS: Figure = count("log.deadlocks");
pub const SEMAPHORE_WAITS: Figure = count("log.semaphore_waits");
pub const SEMAPHORE_LONGEST: Figure = figure("log.semaphore_longest_wait", "s", 1000);
pub const PAGE_CLEANER_LATE: Figure = count("log.page_cleaner_late");
pub const PAGE_CLEANER_LOOP: Figure = figure("log.page_cleaner_loop", "s", 1000);
