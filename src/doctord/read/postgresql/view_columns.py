"""The columns of PostgreSQL's statistics views by version, by which a table without a heading is known."""

from collections.abc import Iterator
from typing import Final

Columns = tuple[str, ...]


def _named(text: str) -> Columns:
    return tuple(text.split())


_SESSION: Final = _named("usesysid usename application_name client_addr client_hostname client_port backend_start")
_TIMES: Final = _named("xact_start query_start state_change")
_WAIT: Final = _named("wait_event_type wait_event state backend_xid backend_xmin")
_DATABASE: Final = _named(
    "datid datname numbackends xact_commit xact_rollback blks_read blks_hit tup_returned tup_fetched tup_inserted"
    " tup_updated tup_deleted conflicts temp_files temp_bytes deadlocks"
)
_CHECKSUMS: Final = _named("checksum_failures checksum_last_failure")
_BLOCK_TIMES: Final = _named("blk_read_time blk_write_time")
_SESSIONS: Final = _named(
    "session_time active_time idle_in_transaction_time sessions sessions_abandoned sessions_fatal sessions_killed"
)
_TABLE: Final = _named("relid schemaname relname")
_CHANGES: Final = _named("n_tup_ins n_tup_upd n_tup_del n_tup_hot_upd")
_ROWS: Final = _named("n_live_tup n_dead_tup")
_VACUUMS: Final = _named(
    "last_vacuum last_autovacuum last_analyze last_autoanalyze vacuum_count autovacuum_count analyze_count"
    " autoanalyze_count"
)
_SCANS: Final = _named("seq_scan seq_tup_read idx_scan idx_tup_fetch")
_SCANS_16: Final = _named("seq_scan last_seq_scan seq_tup_read idx_scan last_idx_scan idx_tup_fetch")
_LOCKS: Final = _named(
    "locktype database relation page tuple virtualxid transactionid classid objid objsubid virtualtransaction pid mode"
    " granted fastpath"
)

# The columns of each view: of 9.2, 9.4, 9.6, 10, 13, 14 and later, as far as they differ.
LAYOUTS: Final[dict[str, tuple[Columns, ...]]] = {
    "pg_stat_activity": (
        ("datid", "datname", "pid", *_SESSION, *_TIMES, "waiting", "state", "query"),
        ("datid", "datname", "pid", *_SESSION, *_TIMES, "waiting", "state", "backend_xid", "backend_xmin", "query"),
        ("datid", "datname", "pid", *_SESSION, *_TIMES, *_WAIT, "query"),
        ("datid", "datname", "pid", *_SESSION, *_TIMES, *_WAIT, "query", "backend_type"),
        ("datid", "datname", "pid", "leader_pid", *_SESSION, *_TIMES, *_WAIT, "query", "backend_type"),
        ("datid", "datname", "pid", "leader_pid", *_SESSION, *_TIMES, *_WAIT, "query_id", "query", "backend_type"),
    ),
    "pg_stat_database": (
        (*_DATABASE, *_BLOCK_TIMES, "stats_reset"),
        (*_DATABASE, *_CHECKSUMS, *_BLOCK_TIMES, "stats_reset"),
        (*_DATABASE, *_CHECKSUMS, *_BLOCK_TIMES, *_SESSIONS, "stats_reset"),
        (*_DATABASE, *_CHECKSUMS, *_BLOCK_TIMES, *_SESSIONS, "parallel_workers_to_launch",
         "parallel_workers_launched", "stats_reset"),
    ),
    "pg_stat_user_tables": (
        (*_TABLE, *_SCANS, *_CHANGES, *_ROWS, *_VACUUMS),
        (*_TABLE, *_SCANS, *_CHANGES, *_ROWS, "n_mod_since_analyze", *_VACUUMS),
        (*_TABLE, *_SCANS, *_CHANGES, *_ROWS, "n_mod_since_analyze", "n_ins_since_vacuum", *_VACUUMS),
        (*_TABLE, *_SCANS_16, *_CHANGES, "n_tup_newpage_upd", *_ROWS, "n_mod_since_analyze", "n_ins_since_vacuum",
         *_VACUUMS),
    ),
    "pg_locks": (_LOCKS, (*_LOCKS, "waitstart")),
}  # fmt: skip
# What a heading must name for the view to be known by it, the surest first.
KEYS: Final[dict[str, tuple[frozenset[str], ...]]] = {
    "pg_locks": (frozenset({"locktype", "mode", "granted"}),),
    "pg_stat_activity": (
        frozenset({"pid", "state", "query_start"}), frozenset({"pid", "wait_event_type"}),
        frozenset({"pid", "state", "xact_start"}), frozenset({"pid", "waiting", "state"}),
    ),
    "pg_stat_database": (frozenset({"datname", "xact_commit"}),),
    "pg_stat_user_tables": (frozenset({"relname", "seq_scan"}), frozenset({"relname", "n_dead_tup"})),
}  # fmt: skip
# Columns that people put beside a view's own when they sample it.
MOMENTS: Final = (
    "ts", "now", "clock_timestamp", "sample_time", "snap_time", "collected_at", "captured_at", "timestamp", "epoch",
    "time", "sampled_at", "date_time",
)  # fmt: skip
STATES: Final = ("", "active", "idle", "idle in transaction", "idle in transaction (aborted)", "disabled",
                 "fastpath function call", r"\N")  # fmt: skip


def view_of(names: frozenset[str]) -> str | None:
    """The view whose columns these are; null where it is none of them."""
    return next((view for view, keys in KEYS.items() if any(key <= names for key in keys)), None)


def layout_of(cells: list[str]) -> tuple[str, Columns] | None:
    """The view, and the names of the columns, of a line without a heading; its first cell may be a moment more."""
    for view, columns in _of_length(len(cells)):
        by_name = dict(zip(columns, cells, strict=True))
        if _FITS[view](by_name):
            return view, columns
    return None


def _of_length(length: int) -> Iterator[tuple[str, Columns]]:
    for view, layouts in LAYOUTS.items():
        for columns in layouts:
            if len(columns) == length:
                yield view, columns
            elif len(columns) + 1 == length:
                yield view, ("ts", *columns)


def _is_activity(row: dict[str, str]) -> bool:
    return row["pid"].isdecimal() and row["state"] in STATES and row["backend_start"][:2] in {"19", "20", "", r"\N"}


def _is_database(row: dict[str, str]) -> bool:
    counts = ("datid", "numbackends", "xact_commit", "blks_read", "deadlocks")
    return all(row[name].isdecimal() or row[name] in {"", r"\N"} for name in counts) and row["xact_commit"].isdecimal()


def _is_tables(row: dict[str, str]) -> bool:
    return row["relid"].isdecimal() and row["seq_scan"].isdecimal() and row["n_dead_tup"].isdecimal()


def _is_locks(row: dict[str, str]) -> bool:
    return row["mode"].endswith("Lock") and row["granted"] in {"t", "f", "true", "false"}


_FITS: Final = {
    "pg_stat_activity": _is_activity,
    "pg_stat_database": _is_database,
    "pg_stat_user_tables": _is_tables,
    "pg_locks": _is_locks,
}
