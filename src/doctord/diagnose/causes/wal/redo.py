"""PostgreSQL's redo: the buffers of the write-ahead log, and checkpoints."""

from collections.abc import Iterator, Sequence

import polars as pl

from doctord.analyse.sql.statements import Statement
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.wal.checkpoint_reasons import COMMANDED_FIRST, reasons
from doctord.diagnose.common.scans import per_call
from doctord.diagnose.common.slowed import is_slowed, severity
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import Claim, Evidence, at_most
from doctord.diagnose.phrase import phrase
from doctord.diagnose.words import shortened

# Requested checkpoints closer than this write most pages in full again and again.
CHECKPOINT_EVERY_S = 60.0
FULL_PAGES_MUCH = 0.3
FOR_BUFFERS, OF_WRITES = ("WALBufMapping", "WALInsert"), ("WALWrite", "WALWriteLock", "WALSync")
# Where most writes of the log are for want of a buffer, who waits for one waits for that.
MOST_WRITES = 0.5
FEWEST_SAMPLES = 10
LARGE_BLOCKS = 2048  # 16 MB, which wal_buffers = -1 does not go beyond
SYNCED_WRITES = ("open_sync", "open_datasync")
MOST_TOLD = 3
BLOCK_BYTES = 8192


@cause(
    explains=(
        "commits_slow",
        "log_writer_starved",
    ),
    waits=("log buffer",),
)
def wal_buffers_full(case: Case) -> Iterator[Claim]:
    """Sessions write the log themselves because its buffers are full.

    Looks like: `pg_stat_wal.wal_buffers_full` grows; sessions wait on `WALBufMapping` or `WALInsert`, and where most of
        the log's writes are such, on `WALWrite`.
    Hurts because: a session that finds no free log buffer has to write old ones out before it can go on.
    Speaks for it: how often it happened per second, and what part of all writes of the log that is; the time waited;
        statements that write much and spend half of their time so; open_sync, which syncs each of these writes.
    Speaks against it: few of these waits: the buffers fill, but it costs nothing. Buffers of 16 MB and more: then the
        log's device takes no more.
    Remedy: Raise wal_buffers (16 MB is the automatic ceiling; 64 MB serves high redo rates); it needs a restart.
        wal_sync_method = fdatasync in place of open_sync.
    Verify: wal_buffers_full per second near zero, and the share of `WALBufMapping` and `WALInsert` waits falls.
    Source: PostgreSQL documentation, pg_stat_wal, wal_buffers and wal_sync_method; K. Manoharan's redo case, 2008 (log
        buffer space).
    """
    full, writes = case.total("pg_stat_wal.wal_buffers_full") or 0.0, case.total("pg_stat_wal.wal_write")
    of_writes = full / writes if writes else 0.0
    events = (*FOR_BUFFERS, *(OF_WRITES if of_writes >= MOST_WRITES else ()))
    share = case.time.share(None, *events)
    slowed = [one for one in case.statements if full >= 1 and is_slowed(one, _waiting(case, one, events))]
    if full < 1 or not (case.worth_saying(share) or slowed):
        return
    written, blocks = case.total("pg_stat_wal.wal_bytes"), case.setting_of_any("wal_buffers")
    is_large = blocks is not None and blocks.isdecimal() and int(blocks) >= LARGE_BLOCKS
    method = case.setting_of_any("wal_sync_method")
    yield Claim(
        phrase("The log's buffers are full {:.0f} times a second", full),
        impact=at_most(share) if of_writes >= MOST_WRITES else share,  # a commit's write may be among them
        confidence=0.6 if is_large else 0.8,
        severity=severity(case, share, slowed=bool(slowed) and not is_large),
        for_=[
            Evidence(
                "statistic",
                "name = 'pg_stat_wal.wal_buffers_full'",
                phrase("{:.0f per s}", full),
                phrase("{:.0f per s}", 1),
                phrase("wal_buffers holds {} blocks", blocks or "an unknown number of"),
                "at_least",
            ),
            *(
                [Evidence("statistic", "name = 'pg_stat_wal.wal_write'", phrase("{:share} of its writes", of_writes),
                          "", "sessions write it themselves, in the middle of a statement")]
                if of_writes >= MOST_WRITES
                else []
            ),
            Evidence("session", f"event in {events}", phrase("{:share of database}", share), "", "waited for that"),
            *(
                Evidence("statement", f"statement_id = '{one.statement_id}'", per_call(one), "",
                         shortened(one.text or ""))
                for one in slowed[:MOST_TOLD]
            ),
            *(
                [Evidence("statistic", "name = 'pg_stat_wal.wal_bytes'", phrase("{:bytes/s}", written), "",
                          "redo written")]
                if written is not None
                else []
            ),
            *(
                [Evidence("setting", "name = 'wal_sync_method'", phrase("wal_sync_method = {}", method), "",
                          "each of these writes waits for the disk")]
                if method in SYNCED_WRITES
                else []
            ),
        ],
        against=[Evidence("setting", "name = 'wal_buffers'", phrase("wal_buffers = {} blocks", blocks),
                          phrase("{:,}", LARGE_BLOCKS), "large already: the log's device takes no more")]
        if is_large
        else [],
    )  # fmt: skip


def _waiting(case: Case, one: Statement, events: Sequence[str]) -> float:
    """The part (0 to 1) of the samples of a statement that wait so."""
    own = case.samples_of(one)
    return own.filter(pl.col("event").is_in(events)).height / own.height if own.height >= FEWEST_SAMPLES else 0.0


@cause(
    explains=("commits_slow", "log_writer_starved", "wal_buffers_full", "device_saturated", "log_writer_preempted"),
    waits=("log sync", "log switch", "log buffer", "checkpoint", "data write"),
)
def checkpoints_too_frequent(case: Case) -> Iterator[Claim]:
    """Checkpoints follow each other too closely.

    Looks like: requested checkpoints (`num_requested`) every few seconds; much of the redo is full-page images. They
        come as max_wal_size is reached, or as somebody asks for each (CHECKPOINT): the server counts both alike.
    Hurts because: the first change of a page after each checkpoint writes the whole page to the log, and the checkpoint
        itself writes and flushes every changed page; both compete with the sessions' own commits.
    Speaks for it: seconds between checkpoints; share of full pages in the redo; why they began, by the log
        (log_checkpoints) or by how much was written between two; who was seen waiting for one.
    Speaks against it: checkpoints that come by time (checkpoint_timeout) and few full pages.
    Remedy: By size: raise max_wal_size so that checkpoints come by time: redo rate x checkpoint_timeout x 3 (a
        checkpoint starts well before the limit), and check that the log's file system has the room. By command: find
        who asks for them, and have it done more rarely.
    Verify: num_requested stays still while num_timed grows; redo per transaction falls.
    Source: PostgreSQL documentation, "WAL Configuration", CHECKPOINT, log_checkpoints; the rule of redo log sizes from
        the redo rate, K. Manoharan 2008.
    """
    for db in case.dbs:
        requested = case.total("pg_stat_checkpointer.num_requested", db) or 0.0
        if case.amount("pg_stat_checkpointer.num_requested", db) >= 2 and 1 / requested <= CHECKPOINT_EVERY_S:
            yield _storm(case, db, requested)


def _storm(case: Case, db: str, requested: float) -> Claim:
    waits, often = ("Commit", "System I/O", "Configuration"), case.amount("pg_stat_checkpointer.num_requested", db)
    share = case.waited(db, *waits)
    redo, full_pages = case.total("pg_stat_wal.wal_bytes", db), _full_page_share(case, db)
    why = reasons(case, db, requested)
    for_, against = weigh(
        [
            Sign("statistic", f"name = 'pg_stat_wal.wal_fpi' and db = '{db}'",
                 None if full_pages is None else full_pages * 100, FULL_PAGES_MUCH * 100,
                 "up to {:.0f %} of the redo is full pages", "pages are written whole after every checkpoint",
                 "the checkpoints cost little redo"),
        ]
    )  # fmt: skip
    return Claim(
        phrase(_title(is_commanded=why.is_commanded), 1 / requested, db),
        impact=case.felt(share),
        confidence=0.6 if against else 0.9,
        severity="note" if why.is_commanded and not case.worth_saying(share) else None,
        for_=[
            Evidence(
                "statistic",
                f"name = 'pg_stat_checkpointer.num_requested' and db = '{db}'",
                phrase("{:.0f} requested checkpoints in {:.0f s}", often, often / requested),
                phrase("one in {:.0f s}", CHECKPOINT_EVERY_S),
                phrase("max_wal_size is {} MB", case.setting("max_wal_size", db) or "unknown"),
            ),
            Evidence(
                "session",
                f"wait_class in {waits} and db = '{db}'",
                phrase("{:share of database}", share),
                "",
                "waited for the log and for writes",
            ),
            *why.evidence,
            *for_,
            *([_room(db, redo)] if redo and not why.is_commanded else []),
        ],
        against=against,
        remedy=COMMANDED_FIRST if why.is_commanded else (),
        database=db,
    )


def _title(*, is_commanded: bool | None) -> str:
    if is_commanded is None:
        return "A checkpoint every {:.2g s} at {}, before its time"
    if is_commanded:
        return "A checkpoint every {:.2g s} at {}: each is asked for by a command"
    return "A checkpoint every {:.2g s} because the log of {} reaches its size limit"


def _room(db: str, redo: float) -> Evidence:
    return Evidence(
        "statistic",
        f"name = 'pg_stat_wal.wal_bytes' and db = '{db}'",
        phrase("{:bytes/s} of redo", redo),
        "",
        phrase(
            "{:bytes} of max_wal_size would do for 5 minutes (rate x 300 s x 3); less once full pages are rare",
            redo * 300 * 3,
        ),
    )


def _full_page_share(case: Case, db: str) -> float | None:
    pages, redo = case.total("pg_stat_wal.wal_fpi", db), case.total("pg_stat_wal.wal_bytes", db)
    return None if pages is None or not redo else min(pages * BLOCK_BYTES / redo, 1.0)
