"""Settings of MariaDB and MySQL for what is written down: binary log, slow log, general log, statistics."""

from collections.abc import Iterator
from typing import Final

from doctord.analyse.storage import filesystems
from doctord.diagnose.phrase import Words, phrase
from doctord.lint.mysql.measured import evidence, figure, writes_binlog
from doctord.lint.rule import rule
from doctord.lint.subject import Subject
from doctord.lint.violation import CANNOT_JUDGE, Severity, Violation

DAY_S: Final = 86400.0
LONG_ENOUGH_S: Final = 600.0  # what was written in less is a burst, and tells nothing of days
_ENTRY_BYTES: Final = 300.0  # the least that an entry of the slow log has: five lines of head
_MUCH_BYTES: Final = float(1 << 20)


@rule("mysql")
def binlogs_never_expire(subject: Subject) -> Iterator[Violation]:
    """Binary logs are kept for ever: one day they fill the disk.

    Why: with neither an age nor a size as a limit nothing deletes them but PURGE BINARY LOGS; a full disk stops the
        server.
    Evidence: expire_logs_days, binlog_expire_logs_seconds, max_binlog_total_size; Binlog_bytes_written a second.
    Fix: Set binlog_expire_logs_seconds (older: expire_logs_days) to what backups and the slowest replica need.
    Verify: SHOW BINARY LOGS lists none that is older.
    Source: MySQL Reference Manual, 19.1.6.4 Binary Logging Options and Variables; MariaDB documentation, Using and
        Maintaining the Binary Log.
    """
    limits = [subject.number(name) for name in ("expire_logs_days", "binlog_expire_logs_seconds")]
    told = [limit for limit in limits if limit is not None]
    if not writes_binlog(subject) or not told or any(told) or subject.number("max_binlog_total_size"):
        return
    name = "expire_logs_days" if subject.get("binlog_expire_logs_seconds") is None else "binlog_expire_logs_seconds"
    yield subject.violation(
        "binary logs are never deleted",
        "expire_logs_days",
        "binlog_expire_logs_seconds",
        "log_bin",
        cost=_until_full(subject)
        or "the disk fills, at a date that the rate of writing decides; then the server stops",
        severity=Severity.WARNING,
        changes=[subject.change(name, "7" if name == "expire_logs_days" else "604800")],
    )


@rule("mysql")
def binlogs_exceed_space(subject: Subject) -> Iterator[Violation]:
    """Binary logs will fill the file system before the first of them expires.

    Why: they are kept for a time, whatever their size; a full disk stops the server.
    Evidence: Binlog_bytes_written a second x the time they are kept, against the space that is left.
    Fix: Shorten binlog_expire_logs_seconds (expire_logs_days), set max_binlog_total_size (MariaDB 11.4), or give them
        space.
    Verify: df of their folder after a day.
    Source: MySQL Reference Manual, 19.1.6.4, binlog_expire_logs_seconds.
    """
    kept_s, rate, left = _kept_s(subject), figure(subject, "binlog_bytes_written"), _space_left(subject)
    if not writes_binlog(subject) or not kept_s or not rate or left is None or rate * kept_s <= left:
        return
    seconds = subject.case.seconds
    enough = Severity.ERROR if left / rate < DAY_S else Severity.WARNING
    yield subject.violation(
        phrase("binary logs are kept for {:g days}, and the disk is full sooner", kept_s / DAY_S),
        "binlog_expire_logs_seconds",
        "expire_logs_days",
        cost=phrase(
            "{:bytes} a second x {:g days} = {:bytes}; {:bytes} are left: full in {:.1f days} (measured for {:,.0f} s)",
            rate,
            kept_s / DAY_S,
            rate * kept_s,
            left,
            left / rate / DAY_S,
            seconds,
        ),
        severity=enough if seconds >= LONG_ENOUGH_S else Severity.NOTE,
        evidence=[
            evidence("binlog_bytes_written", phrase("{:bytes/s}", rate), phrase("{:bytes}", left), "it does not fit")
        ],
    )


@rule("mysql")
def transactions_outgrow_cache(subject: Subject) -> Iterator[Violation]:
    """Transactions go through a temporary file before they reach the binary log.

    Why: a transaction gathers its changes in binlog_cache_size; a larger one writes them to a file, which is read again
        at the commit.
    Evidence: Binlog_cache_disk_use against Binlog_cache_use, and Binlog_bytes_written a second.
    Fix: Raise binlog_cache_size above the usual transaction; every session that writes takes as much memory.
    Verify: Binlog_cache_disk_use no longer grows.
    Source: MySQL Reference Manual, 19.1.6.4, binlog_cache_size; MariaDB documentation, Replication and Binary Log
        System Variables.
    """
    used, on_disk = figure(subject, "binlog_cache_use"), figure(subject, "binlog_cache_disk_use")
    size, written = subject.number("binlog_cache_size"), figure(subject, "binlog_bytes_written")
    if size is None or not used or not on_disk or not written:
        return
    twice = written * min(on_disk / used, 1.0)
    if twice >= _MUCH_BYTES:
        why = "these did not fit"
        yield subject.violation(
            phrase("binlog_cache_size = {:bytes}: {:rate transactions} go through a file", size, on_disk),
            "binlog_cache_size",
            cost=phrase(
                "up to {:bytes} a second are written and read once more; how long that takes is not told", twice
            ),
            severity=Severity.NOTE,
            evidence=[
                evidence("binlog_cache_disk_use", phrase("{:rate}", on_disk), phrase("{:rate} in all", used), why)
            ],
        )


@rule("mysql")
def statements_not_measured(subject: Subject) -> Iterator[Violation]:
    """Nothing tells which statements take the time.

    Why: with the performance schema and the slow log both off, a slow server shows its totals, and nobody can say whose
        they are.
    Evidence: performance_schema and slow_query_log.
    Fix: Set performance_schema = ON (it needs memory and a restart), or slow_query_log = ON with long_query_time = 1.
    Verify: performance_schema.events_statements_summary_by_digest has rows; or the slow log has.
    Source: MySQL Reference Manual, 29 MySQL Performance Schema, 7.4.5 The Slow Query Log.
    """
    if subject.flag("performance_schema") is False and _slow_log(subject) is False:
        yield subject.violation(
            "performance_schema and slow_query_log are both off",
            "performance_schema",
            "slow_query_log",
            cost=f"{CANNOT_JUDGE}: statements, waits and file times are not counted",
            severity=Severity.NOTE,
            changes=[subject.change("slow_query_log", "ON"), subject.change("long_query_time", "1")],
        )


@rule("mysql")
def slow_log_floods(subject: Subject) -> Iterator[Violation]:
    """The slow log holds every statement.

    Why: with long_query_time = 0 each statement is written to one file, under one lock.
    Evidence: long_query_time, and Questions a second x the least size of an entry.
    Fix: Set long_query_time above 0, or log_slow_rate_limit (MariaDB) to one of many.
    Verify: the slow log's file grows slowly.
    Source: MySQL Reference Manual, 7.4.5 The Slow Query Log; MariaDB documentation, log_slow_rate_limit.
    """
    asked = figure(subject, "questions")
    if _slow_log(subject) is not True or subject.number("long_query_time") != 0 or asked is None:
        return
    written = asked * _ENTRY_BYTES / (subject.number("log_slow_rate_limit") or 1.0)
    if written >= _MUCH_BYTES:
        yield subject.violation(
            phrase("long_query_time = 0: {:rate statements} go to the slow log", asked),
            "long_query_time",
            "slow_query_log",
            cost=phrase("at least {:bytes} a second, {:bytes} a day, under one lock", written, written * DAY_S),
            severity=Severity.WARNING,
            changes=[subject.change("long_query_time", "1")],
        )


@rule("mysql")
def general_log_on(subject: Subject) -> Iterator[Violation]:
    """Every statement is written to the general log, literals and all.

    Why: it has no limit: it fills the disk, all sessions write it under one lock, and it holds what tables hold.
    Evidence: general_log and Questions a second.
    Fix: Set general_log = OFF.
    Verify: its file no longer grows.
    Source: MySQL Reference Manual, 7.4.3 The General Query Log.
    """
    if subject.flag("general_log") is True:
        asked = figure(subject, "questions")
        rate = phrase("{:rate statements} are written", asked) if asked is not None else "every statement is written"
        yield subject.violation(
            "general_log = ON: all statements are logged",
            "general_log",
            cost=phrase("{}, with their data in the clear, until the disk is full", rate),
            severity=Severity.WARNING,
            changes=[subject.change("general_log", "OFF")],
        )


def _slow_log(subject: Subject) -> bool | None:
    """Whether the slow log is on; MariaDB calls it log_slow_query too."""
    told = [subject.flag(name) for name in ("slow_query_log", "log_slow_query")]
    known = [flag for flag in told if flag is not None]
    return any(known) if known else None


def _kept_s(subject: Subject) -> float | None:
    """For how long binary logs are kept: the seconds count where they are set, else the days."""
    days = subject.number("expire_logs_days")
    return subject.number("binlog_expire_logs_seconds") or (days * DAY_S if days else None)


def _until_full(subject: Subject) -> Words | None:
    """When the disk will be full, where rate and space are known."""
    rate, left = figure(subject, "binlog_bytes_written"), _space_left(subject)
    if not rate or left is None:
        return None
    return phrase("{:bytes} a second, {:bytes} are left: full in {:.1f days}", rate, left, left / rate / DAY_S)


def _space_left(subject: Subject) -> float | None:
    """Bytes left on the file system of the binary logs: of the mount that is nearest above their folder."""
    return filesystems.left_bytes(subject.case.dataset, subject.text("log_bin_basename") or subject.text("datadir"))
