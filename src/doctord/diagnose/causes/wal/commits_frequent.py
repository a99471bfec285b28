"""Commits that are quick, and too many."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.by_server import waited_by_server, writing_commits
from doctord.diagnose.common.oracle import counted, per
from doctord.diagnose.common.waited import share, waited
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import CRITICAL_SHARE, SURE, Claim, Evidence
from doctord.diagnose.phrase import phrase
from doctord.diagnose.words import shortened

SYNC: Final = "log file sync"
SYNC_KIND: Final = "log sync"
# Slower ones are another cause.
SLOW_WRITE_MS: Final = 5.0
# Oracle's own rule of thumb: fewer user calls than this to a transaction is a commit in a loop.
CALLS_PER_COMMIT: Final = 30.0
# A pass of a loop that commits what it wrote; an order with its lines is more.
ROWS_PER_COMMIT: Final = 10.0
# One session writes the log, and another takes part in that write: more than these queue behind it.
QUEUED_SESSIONS: Final = 4.0
ROWS_CHANGED: Final = ("pg_stat_database.tup_inserted", "pg_stat_database.tup_updated", "pg_stat_database.tup_deleted")


@cause()
def commits_too_frequent(case: Case) -> Iterator[Claim]:
    """Each commit is quick, but there are too many of them.

    Looks like: much time in log file sync although a single one takes little; in PostgreSQL many sessions that wait for
        WALWrite and WALSync, while a commit takes a few milliseconds and changes a row or two.
    Hurts because: every commit costs a post, a write and a wake-up; a loop that commits each row pays them per row.
        The log is one stream: sessions that all commit at once stand in line for it.
    Speaks for it: commits per second, user calls and redo per commit, rows changed per commit; how many sessions
        wait for the log at a time, and in which statement.
    Speaks against it: many calls, or rows, to each transaction: then the commits are the users' own.
    Remedy: Commit once per unit of work, not per row; use array interfaces, INSERT with many rows, COPY.
        Oracle: where losing the last transactions is acceptable, COMMIT WRITE BATCH NOWAIT.
        PostgreSQL: fewer sessions that write at once (a pool); where losing the last transactions is acceptable,
        synchronous_commit = off for them; commit_delay lets more commits share a flush.
    Verify: Commits per second fall at the same work, and the share of the waits for the log with them.
    Source: Oracle Database Performance Tuning Guide 10.2, "log file sync"; Oracle Support, "Troubleshooting log file
        sync waits" (Doc ID 1376916.1: user calls per commit under 30); PostgreSQL documentation, "Populating a
        Database: Disable Autocommit", commit_delay, "Asynchronous Commit".
    """
    yield from _timed(case)
    for db, part in waited_by_server(case, SYNC_KIND).items():
        yield from _sampled(case, db, part)


def _timed(case: Case) -> Iterator[Claim]:
    """By Oracle's own count and timing."""
    sync, commits = case.waits.get(SYNC), case.total("v$sysstat.user commits")
    part = share(case, SYNC)
    if sync is None or not commits or sync.ms is None or sync.ms >= SLOW_WRITE_MS or not case.worth_saying(part):
        return
    calls = per(case, "v$sysstat.user calls", "v$sysstat.user commits")
    redo = per(case, "v$sysstat.redo size", "v$sysstat.user commits")
    for_, against = weigh(
        [
            Sign("statistic", "name = 'v$sysstat.user calls'", calls, CALLS_PER_COMMIT, "{:.1f} user calls a commit",
                 "transactions are small", "transactions are of some length", below=True),
        ]
    )  # fmt: skip
    yield Claim(
        phrase("{:share of database} goes to {:rate commits}, {:.1f ms} each", part, commits, sync.ms),
        impact=part,
        confidence=0.6 if against or calls is None else 0.85,
        for_=[
            *waited(case, SYNC),
            *counted(case, "v$sysstat.user commits", "{:.1f} commits per s"),
            *for_,
            *([Evidence("statistic", "name = 'v$sysstat.redo size'", phrase("{:bytes} of redo a commit", redo), "", "")]
              if redo is not None else []),
        ],
        against=against,
    )  # fmt: skip


def _sampled(case: Case, db: str, part: float) -> Iterator[Claim]:
    """By samples of sessions of one server that stand in line for its log, for a part (0 to 1) of the time.

    However much of the time it is, each commit is quick: nobody is to be woken for it.
    """
    commits = writing_commits(case, db)
    waiting = part * case.time.seconds_per_second
    if not commits or waiting < QUEUED_SESSIONS or not case.worth_saying(part):
        return
    each_ms = waiting / commits * 1000
    if each_ms >= SLOW_WRITE_MS:
        return
    changed = [count for name in ROWS_CHANGED if (count := case.total(name, db)) is not None]
    rows = sum(changed) / commits if changed else None
    for_, against = weigh(
        [
            Sign("statistic", f"name in {ROWS_CHANGED} and db = '{db}'", rows, ROWS_PER_COMMIT,
                 "{:.1f} rows changed a commit",
                 "transactions are small", "transactions are of some length", below=True),
        ]
    )  # fmt: skip
    yield Claim(
        phrase("{:share of database} goes to {:rate commits}, {:.1f ms} each", part, commits, each_ms),
        impact=part,
        confidence=0.6 if against or rows is None else SURE,
        severity="warning" if part >= CRITICAL_SHARE else None,
        for_=[_queued(case, db, waiting), *for_, *_statement(case, db)],
        against=against,
        database=db,
    )


def _queued(case: Case, db: str, waiting: float) -> Evidence:
    events = ", ".join(repr(event) for event in case.time.events_of(SYNC_KIND))
    return Evidence("session", f"event in ({events}) and db = '{db}'",
                    phrase("{:.1f} sessions wait for the log at a time", waiting), phrase("{:.0f}", QUEUED_SESSIONS),
                    "it is one stream: they stand in line", "at_least")  # fmt: skip


def _statement(case: Case, db: str) -> list[Evidence]:
    """The statement that most of this waiting is in."""
    is_own = (pl.col("db") == db) & pl.col("event").is_in(case.time.events_of(SYNC_KIND))
    own = case.active.filter(is_own & pl.col("statement_id").is_not_null())
    sums = own.group_by("statement_id", maintain_order=True).agg(pl.col("interval_s").sum())
    if sums.is_empty():
        return []
    worst, seconds = sums.sort("interval_s", descending=True, maintain_order=True).row(0)
    text = next((one.text for one in case.statements if (one.db, one.statement_id) == (db, worst)), None)
    return [
        Evidence("session", f"statement_id = '{worst}'",
                 phrase("statement {}: {:share} of this waiting", worst, seconds / float(own["interval_s"].sum())), "",
                 shortened(text or "")),
    ]  # fmt: skip
