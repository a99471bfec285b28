"""Statistics that mean the same whatever the vendor calls them: one name, and the vendors' own, which are added up.

What a source fills in `statistic` keeps the source's own name; an analysis asks for the common one.
"""

from typing import Final, NamedTuple


class Common(NamedTuple):
    """A statistic of all vendors: what it is, its unit, and the names of which it is the sum, for each vendor."""

    meaning: str
    unit: str
    names: dict[str, tuple[str, ...]]


COMMON: Final = {
    "commits": Common(
        "Transactions committed; MySQL counts what storage engines are told to commit.",
        "per_s",
        {
            "postgresql": ("pg_stat_database.xact_commit",),
            "oracle": ("v$sysstat.user commits",),
            "mysql": ("global_status.handler_commit",),
        },
    ),
    "rollbacks": Common(
        "Transactions rolled back.",
        "per_s",
        {
            "postgresql": ("pg_stat_database.xact_rollback",),
            "oracle": ("v$sysstat.user rollbacks",),
            "mysql": ("global_status.handler_rollback",),
        },
    ),
    "logical reads": Common(
        "Blocks looked at in the buffer pool, whether they were there or not.",
        "per_s",
        {
            "postgresql": ("pg_stat_database.blks_hit", "pg_stat_database.blks_read"),
            "oracle": ("v$sysstat.session logical reads",),
            "mysql": ("global_status.innodb_buffer_pool_read_requests",),
        },
    ),
    "physical reads": Common(
        "Blocks that were not in the buffer pool and were read into it; of MySQL those of InnoDB.",
        "per_s",
        {
            "postgresql": ("pg_stat_database.blks_read",),
            "oracle": ("v$sysstat.physical reads",),
            "mysql": ("global_status.innodb_pages_read",),
        },
    ),
    "log bytes": Common(
        "Redo (WAL) generated.",
        "bytes_per_s",
        {
            "postgresql": ("pg_stat_wal.wal_bytes",),
            "oracle": ("v$sysstat.redo size",),
            "mysql": ("global_status.innodb_os_log_written",),
        },
    ),
    "log writes": Common(
        "Writes of the log.",
        "per_s",
        {
            "postgresql": ("pg_stat_wal.wal_write",),
            "oracle": ("v$sysstat.redo writes",),
            "mysql": ("global_status.innodb_log_writes",),
        },
    ),
    "connections opened": Common(
        "Sessions that began.",
        "per_s",
        {
            "postgresql": ("pg_stat_database.sessions",),
            "oracle": ("v$sysstat.logons cumulative",),
            "mysql": ("global_status.connections",),
        },
    ),
    "deadlocks": Common(
        "Deadlocks that the server resolved.",
        "per_s",
        {
            "postgresql": ("pg_stat_database.deadlocks",),
            "oracle": ("v$sysstat.enqueue deadlocks",),
            "mysql": ("global_status.innodb_deadlocks",),
        },
    ),
}


def names_of(common: str) -> tuple[str, ...]:
    """All vendors' names of a common statistic.

    >>> names_of("commits")
    ('pg_stat_database.xact_commit', 'v$sysstat.user commits', 'global_status.handler_commit')
    """
    return tuple(name for names in COMMON[common].names.values() for name in names)
