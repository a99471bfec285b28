"""Errors and rollbacks: work that was asked for and not done, on any vendor's server."""

from collections.abc import Iterator, Sequence

from doctord.analyse.errors import IN_ALL, LOGGED, Logged, failures, logged
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.service.met_by import met_by
from doctord.diagnose.common.failures import ERROR, POSTGRESQL, WHICH_ERRORS, failed, is_log_read, transactions
from doctord.diagnose.common.login_refusals import is_often, refusal_of
from doctord.diagnose.common.wal.removed_wal import is_about_removed
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence
from doctord.diagnose.phrase import Words, phrase
from doctord.diagnose.words import shortened

# One transaction in five undone: drivers that roll back what changed nothing stay below it where work is done.
ROLLED_BACK_SHARE = 0.2
# Most of what was begun came to nothing: whatever it is, it is not what the server is there for.
MOST = 0.5
LEAST_ROLLBACKS = 100.0
# Undo records for each rollback: fewer, and most rollbacks undo nothing.
UNDONE_EACH = 1.0
# An error of a user's own statement now and then is nothing of the server's; one a minute is an alarm.
OFTEN = 10.0
OFTEN_PER_S = 1 / 60
# A month's log may hold one bad hour.
BAD_TIME_S = 3600.0
# These are of the server whenever they come: out of a resource, an operator's or a system's error, damaged data.
SERVERS_OWN = ("53", "58", "XX001", "XX002")
MOST_TOLD = 4
DEADLOCKS = "deadlocks"

# What to do about errors, by the beginning of their SQLSTATE (PostgreSQL documentation, "PostgreSQL Error Codes").
BY_CODE = {
    "08": "connections that broke: the network, a pooler, or the other node",
    "22": "values that do not fit: the application's input",
    "23": "constraints that were violated: an insert that should be an upsert, or a key used as a test",
    "25": "statements sent into a transaction that had failed: the application goes on after its first error",
    "28": "logons that were refused: a password or pg_hba.conf, and the client that tries again",
    "40": "serialization failures and deadlocks: change rows in one order everywhere, and try again after a pause",
    "42": "statements that name what is not there, or are no SQL: a release that does not fit the schema",
    "53": "the server ran out of connections, memory or disk: see its limits, and a pool before them",
    "54": "a limit of the server's own was passed",
    "55": "objects that were in use or not ready",
    "57": "statements that were cancelled, or a server that was shut down: timeouts, and who sets them",
    "58": "the system below failed: its log, its disks",
    "P0": "errors that functions of the application raise",
    "XX": "internal errors: a fault of the server or damaged data; look the message up, and check the data",
}
# The same where no code is logged, by words of the message.
BY_WORDS = {
    "pooled connection": "the pooler, or the other nodes, gave no connection: pool sizes (max_pool_size), "
    "max_connections of each node",
    "no more connections allowed": "the pooler turns clients away: max_client_conn (and the limit of open files)",
    "query_wait_timeout": "clients waited too long at the pooler: what keeps the servers of its pool, then "
    "default_pool_size",
    "too many connections": "connections are used up: a pool before the server, then max_connections",
    "too many clients": "connections are used up: a pool before the server, then max_connections",
    "communication packets": "clients that went away in the middle: timeouts, networks, net_write_timeout",
    "deadlock": "deadlocks: change rows in one order everywhere, and try again after a pause",
    "is full": "a disk or a table is full: room first",
    "access denied": "logons that were refused: the client that tries again",
}


@cause()
def rollbacks_many(case: Case) -> Iterator[Claim]:
    """A large part of the transactions is rolled back.

    Looks like: rollbacks of a fifth of all transactions and more (PostgreSQL's xact_rollback, Oracle's user rollbacks,
        MySQL's handler_rollback).
    Hurts because: the work was done, and undone, and is mostly tried again; whoever asked for it got an error or
        nothing.
    Speaks for it: rollbacks against commits, errors in the log by message, deadlocks.
    Speaks against it: rollbacks that undo nothing: pools and drivers that roll back before they hand a connection on; a
        log that was read and tells of few errors: then the application itself asked for the rollbacks.
    Remedy: Find the errors behind them, most frequent first: the server's log by message, the application's own. Then
        what rolls back without an error: pools that test connections so (reset by something cheaper), reads in
        transactions that are never committed.
        PostgreSQL: log_min_error_statement = error shows the statements; pg_stat_database.deadlocks and .conflicts.
        Oracle: user rollbacks beside rollback changes - undo records applied; trace errors (server error trigger).
        MySQL: performance_schema.events_errors_summary_global_by_error; show engine innodb status for deadlocks.
    Verify: Rollbacks per second fall, and commits rise by as many.
    Source: PostgreSQL documentation, pg_stat_database; Oracle Database Reference 19c, "Statistics Descriptions" (user
        rollbacks); MySQL Reference Manual, "Server Status Variables" (Handler_rollback).
    """
    for db in case.dbs:
        rollbacks, commits = case.common("rollbacks", db), case.common("commits", db) or 0.0
        if not rollbacks or rollbacks * case.seconds < LEAST_ROLLBACKS:
            continue
        share = rollbacks / (rollbacks + commits)
        if share < ROLLED_BACK_SHARE:
            continue
        errors = [one for one in failures(logged(case.dataset)) if one.db.partition(":")[0] == db.partition(":")[0]]
        deadlocks = case.common(DEADLOCKS, db)
        is_read = is_log_read(case, db)
        undone = case.total("v$sysstat.rollback changes - undo records applied", db)
        for_, against = weigh(
            [
                Sign("statistic", case.rows_of("rollbacks"), rollbacks, LEAST_ROLLBACKS / case.seconds,
                     "{:.1f rollbacks per s}", phrase("beside {:rate commits}", commits)),
                Sign("statistic", case.rows_of(DEADLOCKS) if deadlocks else "", deadlocks or None, 0.0,
                     "{:.2g deadlocks per s}", "each rolls one transaction back"),
                Sign("statistic", "name = 'v$sysstat.rollback changes - undo records applied'",
                     None if undone is None else undone / rollbacks, UNDONE_EACH, "{:.1f} changes undone by each",
                     "work that was undone", "most of them undo nothing"),
                Sign("statistic", f"name = 'log.errors' and db = '{db}'", _part_by_errors(case, db), MOST,
                     "{:share} of them ended by an error", "in the server's log",
                     "the application itself asked for the others: ROLLBACK, as many pools and drivers do after reads"),
            ]
        )  # fmt: skip
        yield Claim(
            phrase("{:share} of the transactions of {} are rolled back", share, db),
            impact=NOT_MEASURED,
            confidence=0.6 if against else 0.85,
            for_=[*for_, *(_message(case, one) for one in errors[:MOST_TOLD])],
            against=against,
            not_measured=[WHICH_ERRORS] if db.startswith(POSTGRESQL) and not errors and not is_read else [],
            # Where the log was read, errors are judged by their kinds.
            severity="note" if against or is_read or (share < MOST and not errors) else None,
        )


def _part_by_errors(case: Case, db: str) -> float | None:
    """What part of the rollbacks errors in the log account for; null where it was not read."""
    counted = transactions(case, db)
    if counted is None or not counted.rollbacks or not is_log_read(case, db):
        return None
    return min(sum(one.per_s for one in failed(case, db)) / counted.rollbacks, 1.0)


@cause()
def errors_logged(case: Case) -> Iterator[Claim]:
    """The server's log reports errors, again and again.

    Looks like: errors of PostgreSQL or MySQL in the log, ten and more of one message, or one that is the server's own
        (no connection, memory or disk left, damaged data).
    Hurts because: each is a statement, a session or a job that failed, and its user was told so.
    Speaks for it: how often each message came, and from when to when.
    Speaks against it: messages that ended long ago; errors that the application expects (a key used as a test): fewer
        than one a minute, also in the hour in which they came, are a note. Where a live server counts its transactions,
        those that errors of statements end are judged by their part of all (`transactions_fail` and its like).
    Remedy: By message, the most frequent first.
    Verify: No new ones after the change.
    Source: PostgreSQL documentation, "PostgreSQL Error Codes" and "Error Reporting and Logging"; MySQL Reference
        Manual, "The Error Log".
    """
    messages = failures(logged(case.dataset))
    for db in sorted({one.db for one in messages}):
        # WAL that a standby misses has a cause of its own (`standby_stands_still`), and so have refused logins.
        judged = {each.entity for one in failed(case, db) if one.is_told for each in one.messages}
        told = [
            one
            for one in messages
            if one.db == db
            and one.entity not in judged
            and not is_about_removed(one)
            and not (refusal_of(one) and is_often(one, case.seconds))
            and (one.count >= OFTEN or _is_servers_own(one))
        ]
        if not told:
            continue
        # Of errors of statements their part of the transactions tells more than how often they come.
        by_rate = told if transactions(case, db) is None else [one for one in told if one.severity != ERROR]
        yield Claim(
            _title(db, told),
            impact=NOT_MEASURED,
            confidence=0.95,
            for_=[_message(case, one) for one in told[:MOST_TOLD]],
            remedy=_remedies(told),
            severity=None if any(map(_is_servers_own, told)) or _is_often(by_rate, case.seconds) else "note",
        )


def _title(db: str, told: Sequence[Logged]) -> Words:
    first = shortened(told[0].message, 80)
    if len(told) == 1:
        return phrase("An error in the log of {}, {}: {}", db, _times(told[0].count), first)
    total = sum(one.count for one in told)
    return phrase("{:,.0f} errors in the log of {}, most of all {} ({})", total, db, first, _times(told[0].count))


def _times(count: float) -> Words:
    return "once" if round(count) == 1 else phrase("{:,.0f} times", count)


def _is_often(told: Sequence[Logged], seconds: float) -> bool:
    """Whether they come at a rate that nobody expects: in all, or in a bad hour."""
    spans = [(one.count, (one.last - one.first).total_seconds()) for one in told if one.first and one.last]
    rate = sum(count for count, _ in spans) / seconds if seconds else 0.0
    bursts = (count / max(length_s, min(seconds, BAD_TIME_S)) for count, length_s in spans)
    return rate >= OFTEN_PER_S or (seconds > 0 and max(bursts, default=0.0) >= OFTEN_PER_S)


def _is_servers_own(one: Logged) -> bool:
    return one.severity == "PANIC" or (one.state or "").startswith(SERVERS_OWN)


def _message(case: Case, one: Logged) -> Evidence:
    """How often a message came, in all and, where the log tells times, a second and from when to when; and to whom."""
    meaning, name, seconds = _meaning(one), LOGGED if one.first else IN_ALL, case.seconds
    who = met_by(case, one)
    often = phrase(", {:rate}", one.count / seconds) if seconds and one.first else ""
    times = phrase("{:%Y-%m-%d %H:%M} to {:%Y-%m-%d %H:%M}{}{}", one.first, one.last, _said(meaning),
                   phrase("; by {}", who) if who else "")  # fmt: skip
    return Evidence(
        "statistic",
        f"name = '{name}' and entity = '{one.entity}'",
        phrase("{}: {}{}", shortened(one.entity), _times(one.count), often),
        "",
        times if one.first else meaning or "",
    )


def _said(meaning: str | None) -> Words:
    return f": {meaning}" if meaning else ""


def _meaning(one: Logged) -> str | None:
    """What is behind a message, by its words or its code; null where that is not known."""
    by_words = (meaning for words, meaning in BY_WORDS.items() if words in one.message.lower())
    return next(by_words, BY_CODE.get((one.state or "")[:2]))


def _remedies(told: Sequence[Logged]) -> list[Words]:
    """What to do, once for each kind of error."""
    known = dict.fromkeys(meaning for one in told if (meaning := _meaning(one)))
    return [f"{meaning[0].upper()}{meaning[1:]}." for meaning in list(known)[:MOST_TOLD]]
