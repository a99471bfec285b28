"""Settings of PostgreSQL's write-ahead log: how much of it, how often checkpoints come, and where it goes."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from doctord.diagnose.finding import Evidence, NotMeasured
from doctord.diagnose.phrase import phrase
from doctord.lint.postgresql.figures import (
    FOR_THE_LOG,
    as_setting,
    checkpoint_bytes,
    counted,
    data_directory_free_bytes,
    full_page_share,
    in_waits,
    is_felt,
    last,
    total,
    waited,
    waited_in,
)
from doctord.lint.rule import rule
from doctord.lint.subject import Subject
from doctord.lint.violation import CANNOT_JUDGE, Change, Severity, Violation

STOCK_BYTES: Final = 1 << 30
STORM_S: Final = 60.0
MUCH_FULL_PAGES: Final = 0.3
BUFFER_WAITS: Final = ("WALBufMapping", "WALInsert")
EARLY_TARGET: Final = 0.5
SOON_S: Final = 86400.0
SETTLED_S: Final = 60.0  # a rate of less than a minute may be that of one statement
ROOM_TIMES: Final = 2.0  # max_wal_size is a soft limit: as much again is kept free


@rule("postgresql")
def max_wal_size_small(subject: Subject) -> Iterator[Violation]:
    """Checkpoints come because the WAL reaches its size, not because it is time.

    Why: the first change of a page after each checkpoint writes the whole page to the WAL; the checkpoint itself writes
        and flushes every changed page.
    Evidence: checkpoints requested while the load was measured, the WAL's rate against max_wal_size, full pages in it;
        without measurements the rate from which on it happens.
    Fix: WAL rate x checkpoint_timeout x (1 + checkpoint_completion_target), and no more than half of the room on the
        disk: it may be passed.
    Verify: pg_stat_checkpointer: num_timed grows, num_requested stands still; WAL per transaction falls.
    Source: PostgreSQL documentation, WAL Configuration; CalculateCheckpointSegments in xlog.c.
    """
    trigger, timeout = checkpoint_bytes(subject), subject.number("checkpoint_timeout")
    if trigger is None or not timeout:
        return
    size, rate = subject.number("max_wal_size") or 0.0, total(subject, "pg_stat_wal.wal_bytes")
    requested = total(subject, "pg_stat_checkpointer.num_requested")
    several = subject.case.amount("pg_stat_checkpointer.num_requested") >= 2
    every_s = 1 / requested if requested and several else _lasts_s(subject, trigger)
    if rate and every_s is not None and every_s < timeout:
        yield _too_small(subject, rate, every_s)
    elif not rate and size < STOCK_BYTES and trigger < (subject.number("shared_buffers") or 0.0):
        yield subject.violation(
            phrase("max_wal_size = {:bytes}: a checkpoint for every {:bytes} of WAL", size, trigger),
            "max_wal_size",
            "checkpoint_timeout",
            cost=phrase(
                "{}: from {:bytes/s} of WAL on, checkpoints come before their time", CANNOT_JUDGE, trigger / timeout
            ),
            severity=Severity.NOTE,
        )


def _lasts_s(subject: Subject, trigger: float) -> float | None:
    """For how long so much WAL lasts at this load; null where it was not measured, or nothing is written.

    Each page is written whole once between two checkpoints: full pages make up no more than the databases.
    """
    rate, full = total(subject, "pg_stat_wal.wal_bytes"), full_page_share(subject)
    if not rate or full is None:
        return None
    space = subject.case.dataset.frame("space").filter(pl.col("kind") == "database")
    pages = float(
        space.group_by("name", maintain_order=True).agg(pl.col("used_bytes").last())["used_bytes"].sum() or 0.0
    )
    if not pages or trigger * full <= pages:
        return trigger / rate
    return (trigger - pages) / (rate * (1 - full)) if full < 1 else None


def _too_small(subject: Subject, rate: float, every_s: float) -> Violation:
    size, timeout = subject.number("max_wal_size") or 0.0, subject.number("checkpoint_timeout") or 0.0
    full, share = full_page_share(subject), waited_in(subject, *FOR_THE_LOG)
    impact = share * (1.0 if full is None else full) if share is not None and is_felt(subject, share) else None
    pages = phrase("; {:share} of it is full pages", full) if full is not None else ""
    waits = phrase("; at most {:share of database} waits for these", impact) if impact else ""
    return subject.violation(
        phrase("max_wal_size = {:bytes} lasts for {:.0f} s of this load, not for checkpoint_timeout", size, every_s),
        "max_wal_size",
        "checkpoint_timeout",
        cost=phrase(
            "{:bytes/s} of WAL{}: a checkpoint every {:.0f} s in place of {:.0f} s{}",
            rate,
            pages,
            every_s,
            timeout,
            waits,
        ),
        impact=impact,
        severity=max(Severity.WARNING if every_s <= STORM_S else Severity.NOTE, Severity.of(impact)),
        evidence=[
            counted("pg_stat_wal.wal_bytes", phrase("{:bytes/s}", rate), phrase("{:bytes} in all", size)),
            *_requested(subject),
        ],
        not_measured=[] if subject.case.seconds >= SETTLED_S else [_longer(subject)],
        changes=_larger(subject, size, rate * timeout * _factor(subject)),
    )


def _longer(subject: Subject) -> NotMeasured:
    return NotMeasured(
        "the usual rate of the WAL",
        phrase("{:.0f} s may be one large statement", subject.case.seconds),
        phrase("How large it is to be, a measurement of {:.0f} s or longer under the usual load tells", SETTLED_S),
    )


def _larger(subject: Subject, size: float, wanted: float) -> list[Change]:
    """The change, where the rate was measured for long enough, and the disk has room for more than there is."""
    free = data_directory_free_bytes(subject)
    if free is not None:
        wanted = min(wanted, (free + (last(subject, "pg_ls_waldir.size_bytes") or 0.0)) / ROOM_TIMES)
    is_sound = subject.case.seconds >= SETTLED_S and wanted > size
    return [subject.change("max_wal_size", as_setting(wanted), "reload")] if is_sound else []


def _factor(subject: Subject) -> float:
    target = subject.number("checkpoint_completion_target")
    return 1 + (0.9 if target is None else target)


def _requested(subject: Subject) -> list[Evidence]:
    rate, often = (of("pg_stat_checkpointer.num_requested") for of in (subject.case.total, subject.case.amount))
    if not rate or not often:
        return []
    seen = phrase("{:.0f} requested in {:.0f} s", often, often / rate)
    return [counted("pg_stat_checkpointer.num_requested", seen, "none", "the size, not the time, asked for them")]


@rule("postgresql")
def checkpoint_timeout_short(subject: Subject) -> Iterator[Violation]:
    """Checkpoints come so often by time that the WAL is mostly full pages.

    Why: the first change of a page after each checkpoint writes the whole page.
    Evidence: share of full pages in the WAL, with no checkpoint requested by size; time waited for the log.
    Fix: Raise checkpoint_timeout (15 to 30 min), with max_wal_size to match; recovery after a crash takes longer.
    Verify: Full pages a second at the same load.
    Source: PostgreSQL documentation, WAL Configuration.
    """
    timeout, full, share = subject.number("checkpoint_timeout"), full_page_share(subject), waited_in(subject, "Commit")
    timed = subject.case.amount("pg_stat_checkpointer.num_timed")
    if not timeout or full is None or share is None or timed < 2 or full < MUCH_FULL_PAGES:
        return
    if is_felt(subject, share) and not total(subject, "pg_stat_checkpointer.num_requested"):
        yield subject.violation(
            phrase("checkpoint_timeout = {:.0f} s: {:share} of the WAL is full pages", timeout, full),
            "checkpoint_timeout",
            cost=phrase("{:share} of what commits wait for, which is {:share of database}", full, share),
            impact=share * full,
            evidence=[
                counted(
                    "pg_stat_wal.wal_fpi", phrase("{:share}", full), phrase("{:share}", MUCH_FULL_PAGES), "of the WAL"
                )
            ],
            changes=[subject.change("checkpoint_timeout", "15min", "reload")],
        )


@rule("postgresql")
def checkpoint_completion_target_low(subject: Subject) -> Iterator[Violation]:
    """A checkpoint writes its pages in a burst, and commits wait meanwhile.

    Why: the target is the part of the interval over which the writes are spread.
    Evidence: the target, checkpoints that were seen, and the time waited for the log and writes.
    Fix: checkpoint_completion_target = 0.9, the default from version 14 on.
    Verify: Time waited for commits while a checkpoint runs.
    Source: PostgreSQL documentation, Checkpoints, checkpoint_completion_target.
    """
    target, share = subject.number("checkpoint_completion_target"), waited_in(subject, *FOR_THE_LOG)
    written = total(subject, "pg_stat_checkpointer.buffers_written")
    if target is not None and target < EARLY_TARGET and written and share is not None and is_felt(subject, share):
        yield subject.violation(
            phrase(
                "checkpoint_completion_target = {:g}: checkpoints write {:.1f} times as fast as they need to",
                target,
                0.9 / max(target, 0.01),
            ),
            "checkpoint_completion_target",
            cost=phrase(
                "{}: which part of the {:share} that waits for the log falls into checkpoints", CANNOT_JUDGE, share
            ),
            severity=Severity.NOTE,
            changes=[subject.change("checkpoint_completion_target", "0.9", "reload")],
        )


@rule("postgresql")
def wal_buffers_small(subject: Subject) -> Iterator[Violation]:
    """Sessions write the WAL themselves because its buffers are full.

    Why: a session that finds no free buffer writes old ones out before it can go on.
    Evidence: pg_stat_wal.wal_buffers_full, and the time waited for WAL buffers.
    Fix: Raise wal_buffers (16 MB is the automatic ceiling, 64 MB serves high rates).
    Verify: wal_buffers_full stands still at the same load.
    Source: PostgreSQL documentation, Settings, wal_buffers; WAL Configuration.
    """
    full, share = total(subject, "pg_stat_wal.wal_buffers_full") or 0.0, waited(subject, *BUFFER_WAITS)
    size = subject.number("wal_buffers")
    if full >= 1 and share is not None and is_felt(subject, share):
        yield subject.violation(
            phrase(
                "wal_buffers = {}: full {:.0f} times a second",
                phrase("{:bytes}", size) if size and size > 0 else "automatic",
                full,
            ),
            "wal_buffers",
            cost=phrase("{:share of database} waits for WAL buffers", share),
            impact=share,
            evidence=[
                counted("pg_stat_wal.wal_buffers_full", phrase("{:.0f per s}", full), "1 per s"),
                in_waits(share, *BUFFER_WAITS),
            ],
            changes=[subject.change("wal_buffers", "64MB", "restart")],
        )


@rule("postgresql")
def wal_compression_off(subject: Subject) -> Iterator[Violation]:
    """Commits wait for a WAL that consists largely of full pages, written as they are.

    Why: full pages compress to a half or less, for little CPU with lz4.
    Evidence: share of full pages in the WAL, and the time waited for commits.
    Fix: wal_compression = lz4 (15 and later), else on; first see to it that checkpoints come by time.
    Verify: WAL bytes per transaction at the same load, and CPU.
    Source: PostgreSQL documentation, Settings, wal_compression.
    """
    full, share = full_page_share(subject), waited_in(subject, "Commit")
    rate = total(subject, "pg_stat_wal.wal_bytes")
    if (
        subject.flag("wal_compression") is False
        and full
        and rate
        and full >= MUCH_FULL_PAGES
        and is_felt(subject, share)
    ):
        yield subject.violation(
            phrase("wal_compression = off, with {:share} of {:bytes/s} of WAL in full pages", full, rate),
            "wal_compression",
            cost=phrase(
                "{}: how far these pages compress; commits wait {:share} of the time", CANNOT_JUDGE, share or 0.0
            ),
            severity=Severity.NOTE,
            changes=[subject.change("wal_compression", "on", "reload")],
        )


@rule("postgresql")
def commit_delayed(subject: Subject) -> Iterator[Violation]:
    """Commits wait on purpose, for others that might join them.

    Why: commit_delay holds a commit back whenever commit_siblings other transactions are open.
    Evidence: the delay, commits a second, and the time that this is of all database time.
    Fix: commit_delay = 0, unless the flush takes longer than the delay and many commit at once.
    Verify: Transactions a second before and after.
    Source: PostgreSQL documentation, WAL Configuration: half of the time of a flush, as pg_test_fsync tells it.
    """
    delay_us, syncs = subject.number("commit_delay"), total(subject, "pg_stat_wal.wal_sync")
    if not delay_us or not syncs or not subject.is_measured:
        return
    delay_s = delay_us / 1e6  # a bare number, which counts microseconds
    share = min(delay_s * syncs / subject.case.time.seconds_per_second, 1.0)
    yield subject.violation(
        phrase("commit_delay = {:time} before each flush", delay_s),
        "commit_delay",
        "commit_siblings",
        cost=phrase("{:,.0f} flushes a second x {:time} = at most {:share of database}", syncs, delay_s, share),
        impact=share,
        changes=[subject.change("commit_delay", "0", "reload")],
    )
