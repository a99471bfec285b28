"""Standbys and subscribers that do not follow: what they show is old, and a failover to them loses or waits."""

from collections.abc import Iterator
from typing import Final

from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.wal import mysql_replicas
from doctord.diagnose.causes.wal.paused_replay import paused
from doctord.diagnose.causes.wal.restoring import restoring
from doctord.diagnose.causes.wal.standbys import CONNECTED, waits_for_missing
from doctord.diagnose.causes.wal.subscription_signs import LAG_BYTES as LAG
from doctord.diagnose.causes.wal.subscription_signs import LAG_S, LOGICAL
from doctord.diagnose.common.wal.readings import held_s, looks, stays
from doctord.diagnose.common.wal.removed_wal import REBUILD, Removed, removed
from doctord.diagnose.finding import NONE_YET, Claim, Evidence
from doctord.diagnose.phrase import Words, phrase

RECEIVERS = "pg_stat_wal_receiver.count"
AHEAD = "pg_last_wal_receive_lsn.ahead_bytes"
FAILURES: Final = {
    "pg_stat_subscription_stats.apply_error_count": "changes could not be applied",
    "pg_stat_subscription_stats.sync_error_count": "a table could not be copied",
}
# Four segments: whoever lives lags so much now and then.
MUCH_BYTES = 64 * 2**20
# A minute: readers of a standby see orders of a minute ago, and a failover to it takes as long.
LATE_S = 60.0


@cause()
def standby_stands_still(case: Case) -> Iterator[Claim]:
    """A standby does not follow: replay is paused or has stopped, nothing reaches it, or what it needs was removed.

    Looks like: pg_is_wal_replay_paused() is true; or primary_conninfo is set and pg_stat_wal_receiver has no row; or
        the log, its own or that of the server that it follows, has "requested WAL segment ... has already been
        removed" again and again; or one run of restore_command does not come back (wait event RestoreCommand). In
        MySQL and MariaDB Replica_IO_Running or Replica_SQL_Running that is not Yes.
    Hurts because: who reads there sees the past; a failover to it loses or first replays all since; on the primary a
        slot keeps WAL for it, and with synchronous_commit = remote_apply commits wait.
    Speaks for it: that it is paused, or not connected, at every look, or for the last minute at the least; the setting
        that its log says is lower than the primary's; WAL that it received and has not replayed; how often it asked for
        WAL that was removed; the process below the server's startup process, its age and where it stands; the number
        of a replica's last error.
    Speaks against it: it replays from an archive meanwhile (restore_command); somebody paused it on purpose, for a
        look at one moment; it has not asked for a minute; WAL that is replayed while its restore_command runs; a
        replica without an error, which was stopped by a command.
    Remedy: Find out since when, and whether somebody did it on purpose.
        PostgreSQL: paused by itself, as a setting is lower than the primary's (max_connections, max_worker_processes,
        max_wal_senders, max_prepared_transactions, max_locks_per_transaction): raise that and restart;
        pg_wal_replay_resume() would shut it down. Paused at a recovery target: pg_wal_replay_resume() ends the
        recovery. Paused by somebody: ask who did it, then pg_wal_replay_resume(). Not connected: its log says why
        (password, pg_hba.conf, a slot that is gone). A restore_command that hangs: set right what it waits for. WAL
        that was removed: get it from the archive (restore_command), or make the standby anew; pg_rewind does not help.
        MySQL: Last_SQL_Error: mend the row or table that differs, then START REPLICA. Last_IO_Error: account, address,
        TLS; a log that the source has not any more: take the replica anew.
    Verify: The lag falls. PostgreSQL: pg_stat_wal_receiver has a row; pg_stat_replication of the primary.
        MySQL: SHOW REPLICA STATUS.
    Source: PostgreSQL documentation, "Recovery Control Functions", "Hot Standby" (Administrator's Overview),
        recovery_target_action, pg_stat_wal_receiver, "Log-Shipping Standby Servers" (Streaming Replication),
        wal_keep_size, restore_command, "IPC Wait Events" (RestoreCommand); MySQL Reference Manual, "SHOW REPLICA STATUS
        Statement"; MariaDB documentation, "SHOW REPLICA STATUS".
    """
    yield from mysql_replicas.stopped(case)
    for db in case.dbs:
        gone = removed(case, db)
        if gone is not None and not (waits_for_missing(case, db) and not gone.is_over):
            yield _removed(case, db, gone)
        ahead = next((one for one in case.figures(AHEAD) if one.db == db), None)
        behind = phrase("{:bytes} of WAL received and not replayed", ahead.last) if ahead else ""
        if (stopped := paused(case, db, behind)) is not None:
            yield stopped
        if (waits := restoring(case, db, behind)) is not None:
            yield waits
        elif (gone is None or gone.is_over) and stays(looks(case, db, None, RECEIVERS), 0.0):
            yield _not_connected(case, db, behind)


def _removed(case: Case, db: str, gone: Removed) -> Claim:
    """A standby that asks for what is not there any more; who follows whom, its own log or the other's tells."""
    asks = phrase("Standby {} asks for WAL that was removed: it cannot follow any more", db)
    is_asked = phrase("{} is asked by a standby for WAL that was removed: it cannot follow any more", db)
    over = Evidence("statistic", gone.evidence.filter, "not within the last minute", "",
                    "it got it from an archive, was made anew, or was given up")  # fmt: skip
    return Claim(
        asks if gone.is_told_by_standby else is_asked,
        impact=NONE_YET,
        confidence=0.6 if gone.is_over else 0.9,
        severity="note" if gone.is_over else "warning",
        for_=[gone.evidence, *_connected(case, db)],
        against=[over] if gone.is_over else [],
        remedy=REBUILD,
        database=db,
    )


def _connected(case: Case, db: str) -> list[Evidence]:
    """How many standbys do stream from this server: the one that asks is none of them."""
    return [
        Evidence("statistic", f"name = '{one.name}' and db = '{db}'",
                 phrase("{:count standby/standbys} connected", one.last), "", "others than the one that asks")
        for one in case.figures(CONNECTED) if one.db == db and not _is_standby(case, db)
    ]  # fmt: skip


def _is_standby(case: Case, db: str) -> bool:
    return any(one.db == db and one.last for one in case.figures("pg_is_in_recovery"))


def _not_connected(case: Case, db: str, behind: Words) -> Claim:
    seconds = held_s(looks(case, db, None, RECEIVERS), 0.0)
    seen = phrase("so at every look, for {:duration}", seconds) if seconds else "so at every look"
    return Claim(
        phrase("Standby {} is not connected to its primary", db),
        impact=NONE_YET,
        confidence=0.9,
        severity="warning",
        for_=[Evidence("statistic", f"name = '{RECEIVERS}' and db = '{db}'", seen, "", behind)],
        remedy=["Its log says why: the primary is not reached, the password, pg_hba.conf, a slot that is gone, WAL "
                "that was removed. primary_conninfo takes a reload from version 13 on."],
        database=db,
    )  # fmt: skip


@cause()
def standby_behind(case: Case) -> Iterator[Claim]:
    """A standby is far behind its primary.

    Looks like: replay_lag of pg_stat_replication of a minute and more, with more WAL not replayed than a few
        segments. In MySQL and MariaDB Seconds_Behind_Source of a minute more than SOURCE_DELAY asks for.
    Hurts because: who reads there sees the past; a failover to it loses what it has not received, and replays for
        long before it opens.
    Speaks for it: seconds and bytes of the lag; where they lie: not sent, not flushed, not replayed; what the applier
        of a replica waits for, and which session has locked its rows; one applier for what many sessions did.
    Speaks against it: an old lag beside few bytes: an idle primary, whose last change was replayed late; a replica that
        catches up.
    Remedy: See where it is late: on the way, on the standby's disk, or in what replays.
        PostgreSQL: not sent: network or primary (wal_compression, the slot's other readers). Not flushed: the
        standby's disk. Not replayed: replay is one process: a conflict with a query that holds it up
        (max_standby_streaming_delay, hot_standby_feedback), a CPU of its own, recovery_prefetch; a large DROP or many
        small transactions on the primary.
        MySQL: end the transaction on the replica that holds the rows; replica_parallel_workers (MariaDB:
        slave_parallel_threads) of 4 and more, with dependencies by write sets (binlog_transaction_dependency_tracking,
        to 8.4; MariaDB: slave_parallel_mode = optimistic); a primary key for every table; smaller transactions at the
        source; innodb_flush_log_at_trx_commit = 2 on the replica where commits are what it waits for.
    Verify: The lag falls. PostgreSQL: replay_lag of pg_stat_replication. MySQL: Seconds_Behind_Source of SHOW REPLICA
        STATUS.
    Source: PostgreSQL documentation, pg_stat_replication, "Handling Query Conflicts", recovery_prefetch; MySQL
        Reference Manual, "SHOW REPLICA STATUS Statement", "Replication SQL Thread States", replica_parallel_workers;
        MariaDB documentation, "Parallel Replication".
    """
    yield from mysql_replicas.behind(case, LATE_S)
    behind = {(one.db, one.entity): one for one in case.figures(LAG)}
    subscribers = {(one.db, one.entity) for one in case.figures(LOGICAL) if one.last}
    for late in case.figures(LAG_S):
        lag = None if (late.db, late.entity) in subscribers else behind.get((late.db, late.entity))
        if late.last < LATE_S or lag is None or lag.last < MUCH_BYTES:
            continue
        where = f"entity = '{late.entity}'"
        yield Claim(
            phrase("Standby {} is {:duration} behind", late.entity, late.last),
            impact=NONE_YET,
            confidence=0.9,
            severity="warning",
            for_=[
                Evidence("statistic", f"name = '{LAG_S}' and {where}", phrase("{:.0f s} of replay lag", late.last),
                         phrase("{:.0f s}", LATE_S), "", "at_least"),
                Evidence("statistic", f"name = '{LAG}' and {where}", phrase("{:bytes} not replayed", lag.last),
                         phrase("{:bytes}", MUCH_BYTES), "more than is in flight now and then", "at_least"),
            ],
            database=late.db,
        )  # fmt: skip


@cause()
def subscription_fails(case: Case) -> Iterator[Claim]:
    """A subscription fails and begins again: logical replication stands still.

    Looks like: apply_error_count or sync_error_count of pg_stat_subscription_stats grows (version 15 and later).
    Hurts because: the same change is tried again and again (a duplicate key, a missing table, row or column), and
        nothing after it arrives; the publisher keeps all WAL since then for its slot.
    Speaks for it: failures a second; the server's log says of which relation and transaction.
    Speaks against it: it failed once while the network was gone, and goes on.
    Remedy: Read the error in the subscriber's log. Remove the row that is in the way, or add what is missing; else
        skip the transaction: ALTER SUBSCRIPTION ... SKIP (lsn = '...' of the log's line). disable_on_error = true
        stops the loop.
    Verify: The counts stand still and the slot's lag on the publisher falls.
    Source: PostgreSQL documentation, "Logical Replication", Conflicts; pg_stat_subscription_stats.
    """
    for name, what in FAILURES.items():
        for one in case.figures(name):
            times = one.mean * one.seconds
            if times < 1:
                continue
            yield Claim(
                phrase("Subscription {} fails: {}", one.entity, what),
                impact=NONE_YET,
                confidence=0.9 if times > 1 else 0.7,
                severity="warning",
                for_=[Evidence("statistic", f"name = '{name}' and entity = '{one.entity}'",
                               phrase("{:count failure/failures}", times), phrase("{:.0f}", 1.0), "while it was looked",
                               "at_least")],
                database=one.db,
            )  # fmt: skip
