"""InnoDB's purge: old row versions that it has not removed, and who keeps it from doing so."""

from collections.abc import Iterator
from math import inf

import polars as pl

from doctord.analyse.figures import Statistic
from doctord.analyse.locking.locks import IDLE_IN_TRANSACTION
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.scans import per_call
from doctord.diagnose.common.slowed import is_slowed, severity, works
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import NONE_YET, NOT_MEASURED, Claim, Evidence
from doctord.diagnose.phrase import phrase
from doctord.diagnose.words import shortened

HISTORY = "global_status.innodb_history_list_length"
EXAMINED = "events_statements_summary_by_digest.sum_rows_examined"
PAGES = "global_status.innodb_buffer_pool_read_requests"
# A few pages lead to a row, and a page has many: a hundred for each is a search through what is not found.
MANY_PAGES = 50.0
FEW_ROWS = 100.0
LARGE_PART = 0.25
# A transaction of a service is over within a second: a snapshot of ten seconds is somebody's report, or forgotten.
OPEN_S = 10.0
# A thousand or ten thousand is usual where much is written; purge that keeps up never has a million to go.
LONG_HISTORY = 1_000_000.0
# What is not long yet, and will be within the hour, behind a session that does nothing for half a minute.
NOTABLE_HISTORY, SOON_S, IDLE_FOR_S = 10_000.0, 3600.0, 30.0
# A statement of an hour is a report; older ones are those that somebody forgot.
OLD_TRANSACTION_S = 3600.0


@cause(explains=("reads_slow", "statement_dominates"))
def purge_behind(case: Case) -> Iterator[Claim]:
    """InnoDB keeps a long history: old row versions that purge has not removed.

    Looks like: a history list of a million and more, or one that will be so within the hour, while a session that does
        nothing keeps its transaction open. Or a shorter one whose rows lie where a statement begins to read:
        a queue whose head was deleted, which each look for the next job has to step over.
    Hurts because: each read of a changed row walks back through its versions, secondary indexes hold entries that are
        deleted long since, and the undo tablespace grows and is read from disk.
    Speaks for it: length of the history list; a transaction that has been open for an hour and more, as purge keeps
        what it may still see; a statement that examines few rows and takes long on a CPU, while InnoDB looks at
        hundreds of pages for each row that it finds.
    Speaks against it: no old transaction: then more is changed than the purge threads can remove.
    Remedy: Find the oldest transaction (information_schema.innodb_trx, order by trx_started) and end it: a report, a
        mysqldump --single-transaction, a client that forgot to commit; autocommit for clients that only read.
        Without one: more innodb_purge_threads (a restart), innodb_max_purge_lag as a brake, smaller batches.
    Verify: The history list shrinks within minutes after the old transaction has ended.
    Source: MySQL Reference Manual, "InnoDB Multi-Versioning" and "Purge Configuration" (innodb_max_purge_lag).
    """
    yield from _stepped_over(case)
    for history in case.figures(HISTORY):
        if history.last < LONG_HISTORY:
            yield from _held_back(case, history)
            continue
        oldest = case.dataset.frame("session").filter(pl.col("db") == history.db)["transaction_s"].max()
        for_, against = weigh(
            [
                Sign("statistic", f"name = '{HISTORY}'", history.last, LONG_HISTORY, "{:,.0f} transactions to purge",
                     "their row versions are still there"),
                Sign("session", "transaction_s is not null", oldest if isinstance(oldest, float) else None,
                     OLD_TRANSACTION_S, "the oldest transaction is open for {:.0f s}", "purge may not pass it",
                     "no old transaction holds purge back: more is changed than it removes"),
            ]
        )  # fmt: skip
        yield Claim(
            phrase("InnoDB has {:,.0f} transactions still to purge", history.last),
            impact=NOT_MEASURED,
            severity="warning",
            confidence=0.85,
            for_=for_,
            against=against,
            database=history.db,
        )


def _held_back(case: Case, history: Statistic) -> Iterator[Claim]:
    """A history that is not long yet, and will be within the hour: a session that does nothing keeps purge."""
    oldest = None if history.db is None else _oldest(case, history.db, IDLE_FOR_S, idle_s=IDLE_FOR_S)
    if oldest is None or history.last < NOTABLE_HISTORY:
        return
    is_its = (pl.col("name") == HISTORY) & (pl.col("db") == history.db) & pl.col("ts").is_not_null()
    readings = case.dataset.rows("statistic", is_its, "ts", "value").sort("ts", maintain_order=True).rows()
    seconds = (readings[-1][0] - readings[0][0]).total_seconds() if readings else 0.0
    per_s = (readings[-1][1] - readings[0][1]) / seconds if seconds else 0.0
    if per_s * SOON_S < LONG_HISTORY - history.last:
        return
    sid, state, age_s = oldest
    yield Claim(
        phrase("Purge is held back by session {}, whose transaction has been open for {:duration}: {:,.0f} more to "
               "purge each second", sid, age_s, per_s),
        impact=NONE_YET,
        severity="warning",
        confidence=0.8,
        for_=[
            Evidence("statistic", f"name = '{HISTORY}' and db = '{history.db}'",
                     phrase("{:,.0f} transactions to purge", history.last), phrase("{:,.0f}", NOTABLE_HISTORY),
                     phrase("a million in {:duration}", (LONG_HISTORY - history.last) / per_s), "at_least"),
            _keeps_open(sid, state, age_s, IDLE_FOR_S),
        ],
        database=history.db,
    )  # fmt: skip


def _stepped_over(case: Case) -> Iterator[Claim]:
    """The statement that steps over rows which an open transaction keeps from purge, where one does."""
    examined = {(one.db, one.entity): one.mean for one in case.figures(EXAMINED)}
    for one in case.statements:
        each_rows = examined.get((one.db, one.statement_id), inf) / (one.calls_per_s or inf)
        if one.share < LARGE_PART or not is_slowed(one, 1.0) or not each_rows <= FEW_ROWS or not works(case, one):
            continue
        pages, oldest = _pages_per_row(case, one.db), _oldest(case, one.db, OPEN_S)
        if oldest is None or pages is None or pages < MANY_PAGES:
            continue
        sid, state, age_s = oldest
        where = f"statement_id = '{one.statement_id}'"
        yield Claim(
            phrase("A transaction that is open for {:duration} (session {}) keeps deleted rows from purge, and a "
                   "statement steps over them: {}", age_s, sid, shortened(one.text or "")),
            impact=one.share,
            confidence=0.75,
            severity=severity(case, one.share, slowed=True),
            for_=[
                Evidence("statement", where, phrase("{:share of database}", one.share), "", per_call(one)),
                Evidence("statistic", f"name = '{EXAMINED}' and entity = '{one.statement_id}'",
                         phrase("{:,.1f} rows examined in each call", each_rows), phrase("{:,.0f}", FEW_ROWS),
                         "rows that are deleted are not counted", "at_most"),
                Evidence("statistic", f"name = '{PAGES}' and db = '{one.db}'",
                         phrase("{:,.0f} pages looked at for each row that is found", pages),
                         phrase("{:,.0f}", MANY_PAGES), "an index leads to a row in three or four", "at_least"),
                _keeps_open(sid, state, age_s, OPEN_S),
            ],
            database=one.db,
            explains=("statement_dominates",),
        )  # fmt: skip
        return


def _keeps_open(sid: int, state: str, age_s: float, least_s: float) -> Evidence:
    told = phrase("session {} is {}, its transaction {:.0f} s old", sid, state, age_s)
    return Evidence("session", f"sid = {sid}", told, phrase("{:.0f} s", least_s),
                    "purge may not pass what it could still see", "at_least")  # fmt: skip


def _pages_per_row(case: Case, db: str) -> float | None:
    """Pages that InnoDB looks at for each row that it reads or changes; null where it does not tell."""
    pages = case.total(PAGES, db)
    rows = [case.total(f"global_status.innodb_rows_{what}", db) for what in ("read", "inserted", "updated", "deleted")]
    found = sum(one for one in rows if one)
    return pages / found if pages and found else None


def _oldest(case: Case, db: str, least_s: float, *, idle_s: float = 0.0) -> tuple[int, str, float] | None:
    """The session whose transaction has been open longest, and what it does; null where none is so old, or so idle."""
    rows = case.dataset.frame("session").filter((pl.col("db") == db) & (pl.col("transaction_s") >= least_s))
    if idle_s:
        rows = rows.filter((pl.col("state") == IDLE_IN_TRANSACTION) & (pl.col("in_state_s") >= idle_s))
    if rows.is_empty():
        return None
    last = rows.sort("transaction_s", maintain_order=True).tail(1)
    return last["sid"].item(), last["state"].item() or "open", last["transaction_s"].item()
