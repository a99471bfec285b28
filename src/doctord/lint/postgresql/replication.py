"""Settings of PostgreSQL about standbys."""

from collections.abc import Iterator
from typing import Final

from doctord.diagnose.phrase import phrase
from doctord.lint.postgresql.figures import counted, total
from doctord.lint.rule import rule
from doctord.lint.subject import Subject
from doctord.lint.violation import Severity, Violation

NOT_WAITING: Final = ("local", "off")


@rule("postgresql")
def standbys_not_waited_for(subject: Subject) -> Iterator[Violation]:
    """Synchronous standbys are named, and no commit waits for them.

    Why: who named them counts on losing nothing at a failover; synchronous_commit takes that back.
    Evidence: synchronous_standby_names and synchronous_commit.
    Fix: synchronous_commit = on; off or local only for roles whose loss is accepted.
    Verify: pg_stat_replication.sync_state, and waits for SyncRep.
    Source: PostgreSQL documentation, Synchronous Replication.
    """
    names, commit = subject.text("synchronous_standby_names"), subject.text("synchronous_commit")
    if names and commit in NOT_WAITING:
        yield subject.violation(
            f"synchronous_commit = {commit}: the standbys in synchronous_standby_names are not waited for",
            "synchronous_commit",
            "synchronous_standby_names",
            cost="data: at a failover, all commits that no standby had yet",
            severity=Severity.WARNING,
            changes=[subject.change("synchronous_commit", "on", "reload")],
        )


@rule("postgresql")
def dead_standby_unnoticed(subject: Subject) -> Iterator[Violation]:
    """A synchronous standby that vanishes holds every commit, for as long as the kernel takes to notice.

    Why: wal_sender_timeout = 0 never gives a connection up.
    Evidence: wal_sender_timeout with synchronous_standby_names.
    Fix: wal_sender_timeout = 60s, the default.
    Verify: Cut a standby off in a test: commits go on with another one, or the sender ends.
    Source: PostgreSQL documentation, Sending Servers, wal_sender_timeout.
    """
    if subject.number("wal_sender_timeout") == 0 and subject.text("synchronous_standby_names"):
        yield subject.violation(
            "wal_sender_timeout = 0 with synchronous standbys",
            "wal_sender_timeout",
            "synchronous_standby_names",
            cost="when a standby vanishes, commits stand still until TCP gives it up: about 15 min while data is sent, "
            "2 h while nothing is",
            severity=Severity.WARNING,
            changes=[subject.change("wal_sender_timeout", "60s", "reload")],
        )


@rule("postgresql")
def standby_queries_cancelled(subject: Subject) -> Iterator[Violation]:
    """Queries on the standby are ended because the primary removed what they read.

    Why: replay waits max_standby_streaming_delay at the most, then it ends the query.
    Evidence: conflicts a second, and the settings.
    Fix: hot_standby_feedback = on (the primary keeps the rows), or a longer max_standby_streaming_delay (the standby
        lags).
    Verify: pg_stat_database_conflicts stands still; lag, and dead rows on the primary.
    Source: PostgreSQL documentation, Handling Query Conflicts.
    """
    kinds = ("confl_snapshot", "confl_lock", "confl_bufferpin", "confl_tablespace")
    ended = sum(total(subject, f"pg_stat_database_conflicts.{kind}") or 0.0 for kind in kinds)
    if not ended:
        return
    delay_s = subject.number("max_standby_streaming_delay")
    longest = phrase(" after {:time}", delay_s) if delay_s and delay_s > 0 else ""
    yield subject.violation(
        phrase("{:.2g} queries a second are ended on this standby", ended),
        "hot_standby_feedback",
        "max_standby_streaming_delay",
        cost=phrase("{:,.0f} queries an hour fail{}", ended * 3600, longest),
        severity=Severity.WARNING,
        evidence=[counted("pg_stat_database_conflicts.confl_snapshot", phrase("{:.2g per s}", ended), "0")],
    )


@rule("postgresql")
def senders_all_taken(subject: Subject) -> Iterator[Violation]:
    """Every WAL sender is taken: the next standby or backup is refused.

    Why: pg_basebackup needs two, and a standby that comes back may find its old sender not yet gone.
    Evidence: standbys that were seen against max_wal_senders.
    Fix: max_wal_senders two above the standbys at the least (10 is the default).
    Verify: pg_basebackup runs.
    Source: PostgreSQL documentation, Sending Servers, max_wal_senders.
    """
    senders = subject.number("max_wal_senders")
    standbys = len(subject.case.figures("pg_stat_replication.sent_lag_bytes"))
    if senders and standbys and standbys >= senders:
        yield subject.violation(
            phrase("max_wal_senders = {:.0f}, all taken", senders),
            "max_wal_senders",
            cost="the next standby, or a backup by pg_basebackup, is refused",
            severity=Severity.WARNING,
            evidence=[
                counted(
                    "pg_stat_replication.sent_lag_bytes",
                    phrase("{} standbys", standbys),
                    phrase("below {:.0f}", senders),
                )
            ],
            changes=[subject.change("max_wal_senders", f"{standbys + 2}", "restart")],
        )
