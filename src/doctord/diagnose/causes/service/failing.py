"""Transactions that fail, by what failed them: what a server under load, or out of something, does not do for clients.

How large a part of them has to fail, and of which class of errors: docs/decisions/0029.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import polars as pl

from doctord.analyse.errors import within
from doctord.analyse.sql.role_settings import of_server, role_settings
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.service import mysql_failing
from doctord.diagnose.causes.service.met_by import met_by
from doctord.diagnose.common import time_limits
from doctord.diagnose.common.error_context import in_the_catalogue
from doctord.diagnose.common.failures import NO_PARTITION, OTHER, Failed, failed, is_over, of_kind, severity_of
from doctord.diagnose.common.known_errors import meaning
from doctord.diagnose.common.time_limits import TimeLimit, time_limit
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import NONE_YET, Claim, Evidence, measured
from doctord.diagnose.phrase import Phrase, phrase
from doctord.diagnose.words import shortened

# What the causes of this file are behind.
SYMPTOMS = ("rollbacks_many", "errors_logged")
TRANSACTIONS = "transactions"
ISOLATION, STRICTER = "default_transaction_isolation", ("repeatable read", "serializable")
OLD_SNAPSHOTS = "old_snapshot_threshold"
# The server itself warns of its queue of notifications from half of its room on.
QUEUE, QUEUE_FULL_PCT = "pg_notification_queue.used_pct", 50.0
# A transaction that is open for so long while the queue is not emptied is no short one.
OPEN_S = 5.0
# A table of which so many rows a second are read by scans of the whole.
SCANNED, SCANNED_ROWS = "pg_stat_user_tables.seq_tup_read", 1000.0
AFTER_SAVEPOINTS = 2.0
MOST_TOLD = 3
HALF = 0.5
# Once a second: some of the statements never get to their end.
STEADY_PER_S = 1.0


@cause(explains=SYMPTOMS)
def serialization_failures(case: Case) -> Iterator[Claim]:
    """Transactions are undone because they cannot be serialized with others.

    Looks like: errors 40001, "could not serialize access due to read/write dependencies among transactions" (isolation
        level serializable) or "due to concurrent update" (repeatable read too), for a notable part of the transactions.
    Hurts because: the work of each is thrown away; the client has to do all of it again, and may fail again.
    Speaks for it: the part of the transactions that fail so; default_transaction_isolation, where the server, a role or
        a database has another than read committed; tables that are read whole, for a sequential scan locks the whole
        relation for serializable transactions.
    Speaks against it: fewer than one in twenty: an application of these levels has to try again, and expects some.
    Remedy: Have the application try the whole transaction again, with a short random pause. Where a setting brought the
        level and the application does not expect it, set it back to read committed. Then make it rarer.
        PostgreSQL: serializable: an index, so that a query locks the rows it reads and not the whole table (sequential
        scans take a lock on the relation); READ ONLY, and for long reports DEFERRABLE, where nothing is written;
        max_pred_locks_per_transaction (and _per_relation, _per_page) higher, so that locks of rows are not made locks
        of pages and relations; short transactions, no idle ones, no more connections than needed. "due to
        concurrent update": the same rows are changed by many: change them last, or by SELECT ... FOR UPDATE at read
        committed.
    Verify: Fewer than one transaction in twenty ends with 40001, and commits rise.
    Source: PostgreSQL documentation, "Serializable Isolation Level", "Serialization Failure Handling",
        max_pred_locks_per_transaction, default_transaction_isolation, "PostgreSQL Error Codes" (40001).
    """
    for one in of_kind(case, "serialization"):
        isolation = [*_isolation(case, one.db)]
        told = phrase(": {}", isolation[0].figure) if isolation else ""
        yield from _by_share(
            one,
            phrase("{:share of transactions} of {} cannot be serialized, and are undone{}", one.share, one.db, told),
            more=[*isolation, *_scanned(case, one.db)],
        )


@cause(explains=SYMPTOMS)
def notify_queue_full(case: Case) -> Iterator[Claim]:
    """The queue of notifications is full, or will be: a listener does not take them.

    Looks like: NOTIFY fails with "too many notifications in the NOTIFY queue" (54000); pg_notification_queue_usage()
        grows; the log warns that the queue is 50 % full and names the process with the oldest transaction.
    Hurts because: once it is full (8 GB by default) every transaction that calls NOTIFY fails at its commit.
    Speaks for it: how full the queue is; a session that is in a transaction all along: what was sent to it, and to all
        others after that, stays until the transaction ends.
    Speaks against it: a queue that empties again.
    Remedy: End the transaction of the listener that holds it up (the log names its process; pg_terminate_backend). A
        listener must run LISTEN outside of transactions and never sit idle in one: idle_in_transaction_session_timeout
        ends those that do. Then fewer or shorter notifications: one for many changes, an id in place of a payload.
    Verify: select pg_notification_queue_usage() falls to 0 and stays there.
    Source: PostgreSQL documentation, NOTIFY (Notes), "Session Information Functions"
        (pg_notification_queue_usage), max_notify_queue_pages.
    """
    full = {one.db: one for one in of_kind(case, "notify queue")}
    for db in case.dbs:
        fails, used_pct = full.get(db), next((one.last for one in case.figures(QUEUE) if one.db == db), None)
        for_, against = weigh(
            [
                Sign("statistic", f"name = '{QUEUE}' and db = '{db}'", used_pct, QUEUE_FULL_PCT,
                     "{:.1f %} of the queue is used", "what is sent is not taken", "it was emptied")
            ]
        )  # fmt: skip
        if not fails and not for_:
            continue
        yield Claim(
            phrase("The queue of notifications of {} is full: NOTIFY fails", db)
            if fails
            else phrase("The queue of notifications of {} fills: {:.0f %} of it is used", db, used_pct),
            impact=measured(fails.share) if fails else NONE_YET,
            confidence=0.95 if for_ else 0.85,
            severity=severity_of(fails) if fails else "warning",
            for_=[*(fails.evidence() if fails else ()), *for_, *_open_transactions(case, db)],
            against=[*against, *(is_over(fails) if fails else ())],
            time_of=TRANSACTIONS if fails else None,
            database=db,
        )


@cause(explains=SYMPTOMS)
def statements_cancelled(case: Case) -> Iterator[Claim]:
    """Statements are cancelled before they are done: a timeout, or a client that gives up.

    Looks like: errors 57014 ("canceling statement due to statement timeout", "due to user request"), 55P03 ("due to
        lock timeout"), sessions ended with 25P03 (idle in transaction for too long). In MySQL and MariaDB errors 1205,
        1317, 1969 and 3024.
    Hurts because: the time of the statement was spent for nothing, and its client has no answer.
    Speaks for it: the part of the transactions that end so, by which limit: how long it is, and whether it is set for
        the server, a role, a database, or by the session itself.
    Speaks against it: fewer than one in twenty, and fewer than one a second by a limit that the session has not set
        itself.
    Remedy: Which statements: log_min_error_statement = error writes them. Make them quicker, or wait less for
        locks (the other findings), before the limit is raised; a limit that is below what the work takes on a good day
        is wrong. "due to user request": the driver's timeout (setQueryTimeout, the pool's) cancels. "due to lock
        timeout": who holds the lock. 25P03: an application that leaves transactions open.
    Verify: Fewer than one transaction in twenty ends so.
    Source: PostgreSQL documentation, statement_timeout, lock_timeout, idle_in_transaction_session_timeout,
        "PostgreSQL Error Codes" (57014, 55P03, 25P03); MySQL Error Message Reference.
    """
    yield from mysql_failing.failing(case, of_time=True)
    for one in of_kind(case, "timeout"):
        limit = time_limit(case, one.messages[0])
        title = phrase("{:share of transactions} of {} are cancelled{}", one.share, one.db,
                       phrase(": {}", limit.words) if limit else "")  # fmt: skip
        limits = [item for each in one.messages[:MOST_TOLD] for item in time_limits.evidence(case, each)]
        for claim in _by_share(one, title, more=limits):
            yield replace(claim, severity="warning") if _is_all_of_some(one, limit) else claim


def _is_all_of_some(one: Failed, limit: TimeLimit | None) -> bool:
    """Whether an administrator's limit ends statements all the time, be they a small part of what all clients do.

    A session that has set its own means to give up.
    """
    is_set_for_it = limit is not None and limit.seconds is not None
    return is_set_for_it and one.per_s >= STEADY_PER_S and one.severity == "note" and not is_over(one)


@cause(explains=SYMPTOMS)
def snapshots_too_old(case: Case) -> Iterator[Claim]:
    """Statements fail since what they have to read of the past was removed.

    Looks like: error 72000, "snapshot too old", of statements that run for longer than old_snapshot_threshold.
    Hurts because: each report or dump that takes longer ends without a result, however often it is begun again.
    Speaks for it: how often it came, who met it, and the threshold.
    Speaks against it: a threshold that was chosen so, and reports that are meant to give up.
    Remedy: old_snapshot_threshold = -1 switches it off (0 does not: it is no minute at all); it takes a restart. Else
        longer than the longest report, or shorter reports. From version 17 on there is none.
    Verify: No new "snapshot too old" in the log.
    Source: PostgreSQL documentation, old_snapshot_threshold (to 16), "PostgreSQL Error Codes" (72000).
    """
    for one in of_kind(case, "snapshot too old"):
        limit = case.setting(OLD_SNAPSHOTS, one.db)
        yield Claim(
            phrase("Statements of {} fail, {:count time/times}: snapshot too old{}", one.db, round(one.count),
                   phrase(", {} = {}", OLD_SNAPSHOTS, limit) if limit else ""),
            impact=measured(one.share),
            confidence=0.95,
            severity="note" if is_over(one) else "warning",
            for_=[
                *one.evidence(),
                *_met(case, one),
                *([Evidence("setting", f"name = '{OLD_SNAPSHOTS}' and db = '{one.db}'",
                            phrase("{} = {}", OLD_SNAPSHOTS, limit), "", "minutes; -1 is off")] if limit else []),
            ],
            against=is_over(one),
            time_of=TRANSACTIONS,
            database=one.db,
        )  # fmt: skip


@cause(explains=SYMPTOMS)
def transactions_fail(case: Case) -> Iterator[Claim]:
    """A notable part of the transactions ends with an error, or a statement fails all the time.

    Looks like: errors of statements in the log, and rollbacks beside them: a twentieth of all transactions or more, or
        one a second of those that no application expects; of errors that it may expect (a constraint that is violated,
        an error that its own functions raise, a lock that it did not wait for) most of the transactions. In MySQL and
        MariaDB the same of statements, as performance_schema counts those that fail.
    Hurts because: what was asked for was not done, and whoever asked was told so.
    Speaks for it: the part of the transactions that fail, by SQLSTATE and message; who meets it; what the catalogue
        adds to the message: tables of that name in several schemas, the partitions that there are, triggers that call
        each other; in MySQL by the number of the error and by statement.
    Speaks against it: errors that end no transaction, after a savepoint: fewer rollbacks than errors.
    Remedy: By SQLSTATE, the most frequent first: class 42 is a statement that can never succeed (a release that does
        not fit the schema, a missing right), 22 a value that does not fit, 23 a constraint (INSERT ... ON CONFLICT in
        place of trying), 25 what follows from an earlier error or writes to a standby, 58 and XX the system below or
        the server itself: its log, its disks, damaged data. log_min_error_statement = error shows the statements.
    Verify: The error's rate falls, and commits rise by as much.
    Source: PostgreSQL documentation, "PostgreSQL Error Codes", log_min_error_statement, log_line_prefix (%e); MySQL
        Reference Manual, "Error Summary Tables", "Statement Summary Tables".
    """
    yield from mysql_failing.failing(case, of_time=False)
    for one in (each for db in case.dbs for each in failed(case, db)):
        if (one.kind in (OTHER, NO_PARTITION) or one.kind.may_be_meant) and one.is_told:
            confidence = 0.6 if one.kind.may_be_meant else 0.9
            more = [*_met(case, one), *in_the_catalogue(case, one.db, one.messages[0].message)]
            for claim in _by_share(one, _title(case, one), confidence, more):
                means = meaning(one.messages[0].message, one.messages[0].state)
                yield replace(claim, first_steps=[f"First: {means[0].lower()}{means[1:]}"] if means else [])


def _title(case: Case, one: Failed) -> Phrase:
    first = one.messages[0]
    function = next(
        (name for name, count in within(case.dataset, first) if count >= HALF * first.count and name != "others"), ""
    )
    said = shortened(first.message or first.severity, 80) + (f", in {function}" if function else "")
    if one.share < one.kind.least_share:
        return phrase("Statements of {} fail again and again, {:.3g per s}: {}{}", one.db, one.per_s, said,
                      f" ({first.state})" if first.state else "")  # fmt: skip
    return phrase("{:share of transactions} of {} fail, most with {}{}", one.share, one.db, said,
                  f" ({first.state})" if first.state else "")  # fmt: skip


def _met(case: Case, one: Failed) -> list[Evidence]:
    """Who is told so most often, and by which function, where the log says it."""
    first = one.messages[0]
    who, functions = met_by(case, first), within(case.dataset, first)[:MOST_TOLD]
    told = [Evidence("statistic", f"name = 'log.errors_from' and db = '{one.db}'", who, "", "they are told so")]
    return [
        *(told if who else []),
        *(
            Evidence("statistic", f"name = 'log.errors_in' and db = '{one.db}'",
                     phrase("function {}: {:count time/times}", function, round(count)), "", "it comes from there")
            for function, count in functions
        ),
    ]  # fmt: skip


def _by_share(one: Failed, title: Phrase, confidence: float = 0.9, more: Sequence[Evidence] = ()) -> Iterator[Claim]:
    """A claim whose severity is that of the part of the transactions, where they fail often."""
    if not one.is_told:
        return
    yield Claim(
        title,
        impact=measured(one.share),
        confidence=confidence,
        severity=one.severity,
        for_=[*one.evidence(), *more],
        against=_after_savepoints(one),
        time_of=TRANSACTIONS,
        database=one.db,
    )


def _after_savepoints(one: Failed) -> list[Evidence]:
    """That there are fewer rollbacks than errors: these ended no transaction."""
    if one.per_s < AFTER_SAVEPOINTS * one.ended_per_s:
        return []
    return [
        Evidence("statistic", f"name = 'pg_stat_database.xact_rollback' and db = '{one.db}'",
                 phrase("{:.3g rollbacks per s}", one.transactions.rollbacks), "",
                 phrase("beside {:.3g errors per s}: the others came after a savepoint", one.per_s))
    ]  # fmt: skip


def _isolation(case: Case, db: str) -> Iterator[Evidence]:
    """Where another isolation level than read committed is set for who does not ask for one."""
    set_for = [
        (one.scope.whose, one.value)
        for one in role_settings(case.dataset)
        if one.db == db and one.scope.name == ISOLATION
    ]
    server = of_server(case.dataset, ISOLATION, db)
    for whose, value in [*set_for, *([("the server", server)] if server else [])]:
        if value in STRICTER:
            yield Evidence("setting", f"name like '%{ISOLATION}' and db = '{db}'",
                           phrase("{} = {}, set for {}", ISOLATION, value, whose), "",
                           "who does not ask for a level has this one: such errors are to be expected")  # fmt: skip


def _scanned(case: Case, db: str) -> list[Evidence]:
    """The tables of which most rows are read by sequential scans."""
    tables = [one for one in case.figures(SCANNED) if one.db == db and one.mean >= SCANNED_ROWS]
    return [
        Evidence("statistic", f"name = '{SCANNED}' and entity = '{one.entity}'",
                 phrase("{}: {:.3g rows per s} by sequential scans", one.entity, one.mean),
                 "", "each scan locks the whole relation for serializable transactions")
        for one in tables[:MOST_TOLD]
    ]  # fmt: skip


def _open_transactions(case: Case, db: str) -> list[Evidence]:
    """Sessions that are in one transaction all along, the oldest first: one of them may be the listener."""
    sessions = case.dataset.frame("session").filter(
        (pl.col("db") == db) & (pl.col("kind") == "client") & (pl.col("transaction_s") >= OPEN_S)
    )
    oldest = (
        sessions.group_by("sid", "user", "program", maintain_order=True)
        .agg(pl.col("transaction_s").max(), pl.col("state").last())
        .sort("transaction_s", descending=True, maintain_order=True)
        .head(MOST_TOLD)
    )
    return [
        Evidence("session", f"sid = {sid} and db = '{db}'",
                 phrase("session {} ({}, {}): {:time} in one transaction, {}", sid, user or "?", program or "?", age_s,
                        state or "?"),
                 "", "if it listens, nothing that was sent since then can leave the queue")
        for sid, user, program, age_s, state in oldest.iter_rows()
    ]  # fmt: skip
