"""Names of MariaDB's and MySQL's variables and status: which are readings, what they count, which may hold a secret.

In the dataset they stand in small letters, whoever read them: `global_status.innodb_buffer_pool_reads`.
"""

from collections.abc import Mapping
from typing import Final

from doctord.regex import regex

COMPONENT: Final = "mysql"
STATUS: Final = "global_status."
# Statements that failed in all, by digest, and what was raised by number, warnings among it.
FAILED_STATEMENTS: Final = "events_statements_summary_global_by_event_name.sum_errors"
FAILED_BY_DIGEST: Final = "events_statements_summary_by_digest.sum_errors"
RAISED: Final = "events_errors_summary_global_by_error.sum_error_raised"
RAISED_BY_USER: Final = "events_errors_summary_by_user_by_error.sum_error_raised"  # "1142 clerk"
# Transactions whose session is gone, as those that are prepared (XA), and each of these by its name.
WITHOUT_SESSION, WITHOUT_SESSION_S = "innodb_trx.without_session", "innodb_trx.without_session_oldest_s"
PREPARED, PREPARED_COUNT = "xa_recover.prepared", "xa_recover.count"
REPLICA: Final = "replica_status."  # of a replica, as it tells of itself
HIDDEN: Final = "(set, not shown)"
SERVER_PID: Final = "server_pid"
SYSTEM_USER: Final = "system user"  # of replication's threads
# performance_schema has them under the user who started them, and MariaDB's among its background threads.
IS_REPLICATION: Final = "name LIKE 'thread/sql/replica%' OR name LIKE 'thread/sql/slave%'"
# Of the background threads together: seconds on a CPU, and seconds ready without one.
BACKGROUND: Final = ("threads.background_cpu_s_per_s", "threads.background_run_wait_s_per_s")

# Readings among the global status; the others rise since the server's start.
GAUGES: Final = regex(
    r"(threads_(?!created)\w+|threadpool_\w+|open_(?!ed)\w+|max_(used|memory)_\w+|uptime\w*"
    r"|innodb_(page_size|row_lock_current_waits|row_lock_time_(avg|max)|num_open_files|history_list_length|checkpoint_\w+"
    r"|buffer_pool_(pages_(?!flushed|made|lru|split)\w*|bytes\w*)|(data|os_log)_pending\w*|log_waits_now|mem_\w+"
    r"|available_undo_logs|undo_tablespaces_\w+|ibuf_(size|segment_size|free_list)|onlineddl_\w*pct\w*|max_trx_id"
    r"|redo_log_(capacity_resized|logical_size|physical_size|enabled|read_only|resize_status))"
    r"|buffer_pool_(?:dirty_)?pages|key_blocks_\w+|\w+_pagecache_blocks_\w+|qcache_(free|total|queries)\w*"
    r"|slaves?_(?!retried)\w+|replica_(?!retried)\w+|last_query_\w+|prepared_stmt_count|wsrep_\w+|acl_\w+|ssl_\w+"
    r"|not_flushed\w*|memory_used\w*|stack_usage|max_statement_time\w*|binlog_snapshot_\w+|tc_log_(max|page_size)\w*"
    r"|table_open_cache_active_instances|delayed_insert_threads|rpl_\w+_(clients|status|avg_wait_time|wait_sessions))$"
)
_SECONDS: Final = frozenset({"query_time", "cpu_time", "busy_time"})
_MILLISECONDS: Final = frozenset({"innodb_row_lock_time"})
_BYTES: Final = regex(
    r"bytes_(received|sent)|innodb_(os_log_written|data_written|data_read|lsn_\w+)|binlog_bytes_written"
)

# Values that may hold a password, a key, or SQL with literals.
SECRET: Final = regex(
    r"(\w*_)?(password|passwd|pwd|auth|secret|token|secret_id|authentication_string)|init_(connect|slave|replica|file)"
    r"|(\w*_)?(secret|access|private|api)_key"
    r"|wsrep_provider_options|\w*(proxy|vault_url|connection_string)"
)


def is_gauge(name: str) -> bool:
    """Whether a status, in small letters, is a reading; the others count since the server's start.

    >>> is_gauge("threads_running"), is_gauge("threads_created"), is_gauge("innodb_checkpoint_age")
    (True, False, True)
    """
    return GAUGES.fullmatch(name) is not None


def rate_unit(name: str) -> str:
    """The unit of a counter's rate.

    >>> rate_unit("questions"), rate_unit("innodb_os_log_written"), rate_unit("innodb_row_lock_time")
    ('per_s', 'bytes_per_s', 'ms_per_s')
    """
    if name in _SECONDS:
        return "s_per_s"
    if name in _MILLISECONDS:
        return "ms_per_s"
    return "bytes_per_s" if _BYTES.fullmatch(name) else "per_s"


def shown(name: str, value: str) -> str:
    """The value of a variable as it may be kept.

    >>> shown("wsrep_sst_auth", "sst:open sesame"), shown("old_passwords", "0")
    ('(set, not shown)', '0')
    """
    return HIDDEN if value and SECRET.fullmatch(name) else value


def readings(status: Mapping[str, str]) -> tuple[dict[str, float], dict[str, float]]:
    """Gauges, and counters, of a status by name in small letters; what is no number is left out.

    >>> readings({"Threads_running": "2", "Questions": "900", "Rpl_status": "AUTH_MASTER"})
    ({'threads_running': 2.0}, {'questions': 900.0})
    """
    gauges, counters = dict[str, float](), dict[str, float]()
    for name, text in status.items():
        try:
            value = float(text)
        except ValueError:
            continue
        (gauges if is_gauge(name.lower()) else counters)[name.lower()] = value
    return gauges, counters


def status_rows(gauges: Mapping[str, float], per_s: Mapping[str, float], interval_s: float) -> list[dict[str, object]]:
    """Rows of `statistic`, without time, host and server: gauges as they are, and the rates over an interval."""
    named = {"component": COMPONENT}
    read = [{**named, "name": STATUS + name, "value": value, "kind": "gauge"} for name, value in gauges.items()]
    rose = [
        {
            **named,
            "name": STATUS + name,
            "value": value,
            "kind": "rate",
            "unit": rate_unit(name),
            "interval_s": interval_s,
        }
        for name, value in per_s.items()
    ]
    return [*read, *rose]
