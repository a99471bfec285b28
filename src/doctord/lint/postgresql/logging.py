"""Settings of PostgreSQL about what it logs and what it lets us see."""

from collections.abc import Iterator
from typing import Final

from doctord.diagnose.phrase import Words, phrase
from doctord.lint.postgresql.figures import commits_per_s, counted, is_felt, waited_in
from doctord.lint.rule import rule
from doctord.lint.subject import Subject
from doctord.lint.violation import CANNOT_JUDGE, Severity, Violation

MANY_LINES_PER_S: Final = 1000.0
A_DAY_S: Final = 86400.0
# Of a hundred statements one is timed: that is what sample_rate is for.
SAMPLED: Final = 0.01
OTHERS: Final = 0o007
VIEW: Final = "pg_stat_statements"
DEBUG: Final = ("debug", "debug1", "debug2", "debug3", "debug4", "debug5")


@rule("postgresql")
def every_statement_logged(subject: Subject) -> Iterator[Violation]:
    """Every statement is written to the log, with its constants.

    Why: one process takes all lines of the log; sessions wait for it when it is behind, the disk fills, and what
        customers typed lies in a file.
    Evidence: log_statement, log_min_duration_statement, log_duration, log_min_messages; transactions a second.
    Fix: log_min_duration_statement = 1s or so; log_min_duration_sample with log_statement_sample_rate for the rest.
    Verify: Growth of the log in an hour.
    Source: PostgreSQL documentation, When to Log.
    """
    said = [f"log_statement = {subject.text('log_statement')}"] if subject.text("log_statement") == "all" else []
    said += ["log_min_duration_statement = 0"] if subject.number("log_min_duration_statement") == 0 else []
    said += ["log_duration = on"] if subject.flag("log_duration") else []
    level = subject.text("log_min_messages")
    said += [f"log_min_messages = {level}"] if level in DEBUG else []
    if not said:
        return
    rate = commits_per_s(subject)
    cost: Words = f"{CANNOT_JUDGE}: collect the transactions of a busy time"
    if rate:
        cost = phrase("{:,.0f} transactions a second: {:,.0f} lines a day at the least", rate, rate * A_DAY_S)
    yield subject.violation(
        f"{', '.join(said)}: every statement is logged",
        *(one.partition(" ")[0] for one in said),
        cost=cost,
        severity=Severity.WARNING if rate and rate >= MANY_LINES_PER_S else Severity.NOTE,
        evidence=[counted("pg_stat_database.xact_commit", phrase("{:,.0f per s}", rate))] if rate else [],
    )


@rule("postgresql")
def plans_timed(subject: Subject) -> Iterator[Violation]:
    """Each row of each node of every plan is timed for the log: auto_explain.log_analyze with log_timing.

    Why: the instrumentation is switched on before anybody knows how long a statement will take: all statements pay for
        it, also those too quick to be logged.
    Evidence: auto_explain.log_min_duration, log_analyze, log_timing, sample_rate; transactions a second.
    Fix: auto_explain.log_timing = off keeps the counts of rows; sample_rate = 0.01 spares ninety-nine statements of a
        hundred.
    Verify: EXPLAIN (ANALYZE, TIMING off) beside EXPLAIN ANALYZE; pg_test_timing says what one look at the clock takes.
    Source: PostgreSQL documentation, auto_explain: log_analyze "can have an extremely negative impact on performance".
    """
    least = subject.number("auto_explain.log_min_duration")
    is_off = subject.text("auto_explain.log_min_duration") in (None, "-1") or least is None
    if is_off or not subject.flag("auto_explain.log_analyze") or subject.flag("auto_explain.log_timing") is False:
        return
    part = subject.number("auto_explain.sample_rate")
    if part is not None and part <= SAMPLED:
        return
    rate = commits_per_s(subject)
    yield subject.violation(
        "auto_explain.log_analyze with log_timing: every statement is timed row by row",
        "auto_explain.log_analyze",
        "auto_explain.log_timing",
        "auto_explain.log_min_duration",
        cost=phrase("{:,.0f} transactions a second pay for two looks at the clock for each row of each node", rate)
        if rate
        else f"{CANNOT_JUDGE}: collect the transactions of a busy time",
        severity=Severity.WARNING if rate and rate >= MANY_LINES_PER_S else Severity.NOTE,
        evidence=[counted("pg_stat_database.xact_commit", phrase("{:,.0f per s}", rate))] if rate else [],
        changes=[subject.change("auto_explain.log_timing", "off", "reload")],
    )


@rule("postgresql")
def log_readable_by_all(subject: Subject) -> Iterator[Violation]:
    """Every user of the host may read the log.

    Why: it holds the text of statements, constants and passwords among them.
    Evidence: log_file_mode with logging_collector.
    Fix: log_file_mode = 0640 with a group for those who read it.
    Verify: ls -l of the log's folder.
    Source: PostgreSQL documentation, Where to Log, log_file_mode.
    """
    mode = subject.text("log_file_mode") or ""
    if subject.flag("logging_collector") and mode.isdigit() and int(mode, 8) & OTHERS:
        yield subject.violation(
            f"log_file_mode = {mode}: every user of the host may read the log",
            "log_file_mode",
            "logging_collector",
            cost="data: statements with their constants are open to all users of the host",
            severity=Severity.WARNING,
            changes=[subject.change("log_file_mode", "0640", "reload")],
        )


@rule("postgresql")
def lock_waits_unlogged(subject: Subject) -> Iterator[Violation]:
    """Sessions wait for locks, and the log does not say for whose.

    Why: after the fact nobody can tell which statement held the lock.
    Evidence: share of the time in waits for locks.
    Fix: log_lock_waits = on: a line for each wait longer than deadlock_timeout.
    Verify: "still waiting for" in the log.
    Source: PostgreSQL documentation, What to Log, log_lock_waits.
    """
    share = waited_in(subject, "Application")
    if subject.flag("log_lock_waits") is False and share is not None and is_felt(subject, share):
        yield subject.violation(
            phrase("log_lock_waits = off, and {:share} of the time waits for locks", share),
            "log_lock_waits",
            "deadlock_timeout",
            cost=f"{CANNOT_JUDGE}: who held the locks, after the fact",
            severity=Severity.NOTE,
            changes=[subject.change("log_lock_waits", "on", "reload")],
        )


@rule("postgresql")
def statements_not_measured(subject: Subject) -> Iterator[Violation]:
    """Nobody can say which statements took the time.

    Why: without pg_stat_statements, or without identifiers of queries, time cannot be told apart by statement.
    Evidence: database time was measured, and no statement was seen.
    Fix: shared_preload_libraries = 'pg_stat_statements', restart, CREATE EXTENSION; compute_query_id = auto.
    Verify: doctord diagnose names statements.
    Source: PostgreSQL documentation, pg_stat_statements; compute_query_id.
    """
    counted = subject.case.dataset.frame("statement")["interval_s"].drop_nulls()  # others were seen to run, no more
    if not subject.is_measured or not subject.is_running or counted.len():
        return
    libraries = subject.text("shared_preload_libraries")
    loaded = libraries is None or VIEW in libraries
    if loaded and subject.flag("compute_query_id") is not False:
        return
    if is_felt(subject, 1.0):
        yield subject.violation(
            "compute_query_id = off" if loaded else "pg_stat_statements is not loaded",
            "shared_preload_libraries",
            "compute_query_id",
            cost=f"{CANNOT_JUDGE}: which statements take the time",
            severity=Severity.NOTE,
            changes=[subject.change("compute_query_id", "auto", "reload")] if loaded else [],
        )


@rule("postgresql")
def activity_not_measured(subject: Subject) -> Iterator[Violation]:
    """The server does not say what its sessions do: track_activities is off.

    Why: no wait, statement or lock can be told to a session, and no time to a cause.
    Evidence: the setting alone.
    Fix: track_activities = on, the default.
    Verify: pg_stat_activity.state is filled.
    Source: PostgreSQL documentation, Cumulative Query and Index Statistics, track_activities.
    """
    if subject.flag("track_activities") is False:
        yield subject.violation(
            "track_activities = off: nobody can see what sessions do",
            "track_activities",
            cost=f"{CANNOT_JUDGE}: sessions cannot be sampled",
            severity=Severity.NOTE,
            changes=[subject.change("track_activities", "on", "reload")],
        )


@rule("postgresql")
def passwords_in_md5(subject: Subject) -> Iterator[Violation]:
    """New passwords are kept as MD5.

    Why: who sees such a hash can log in with it; version 18 calls it deprecated, a later one takes it out.
    Evidence: password_encryption.
    Fix: password_encryption = scram-sha-256, then set each password again; md5 in pg_hba.conf takes both meanwhile.
    Verify: SELECT rolname FROM pg_authid WHERE rolpassword LIKE 'md5%' is empty.
    Source: PostgreSQL documentation, Password Authentication; release notes of 18, migration.
    """
    if subject.text("password_encryption") in ("md5", "on"):
        yield subject.violation(
            "password_encryption = md5 is deprecated",
            "password_encryption",
            cost="nothing before the version that takes it out; until then a stolen hash is as good as the password",
            severity=Severity.NOTE,
            changes=[subject.change("password_encryption", "scram-sha-256", "reload")],
        )
