"""Deadlocks that a server's own log or monitor tells of, one by one."""

import itertools
from collections.abc import Iterator
from datetime import datetime, timedelta

import polars as pl

from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.by_server import waited_by_server
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence, NotMeasured, at_most, measured
from doctord.diagnose.phrase import phrase
from doctord.diagnose.words import shortened

# InnoDB keeps its latest deadlock until the next one, or the next start: what is older says nothing of now.
RECENT = timedelta(hours=1)
MOST_TOLD = 4
COUNTED, COUNTED_BY_INNODB = "pg_stat_database.deadlocks", "global_status.innodb_deadlocks"
WAITS_BY_INNODB = "global_status.innodb_row_lock_waits"
ROW = "row lock"
# One is tried again and forgotten; from ten in a day on it is how the application works.
MANY_A_DAY, DAY_S = 10.0, 86_400.0
# Where so large a part of those who wait for rows is in a deadlock itself, the others mostly stand behind these.
IN_DEADLOCKS = 0.25
TWO = 2  # the fewest that are in a deadlock
ONLY_THE_LATEST = NotMeasured(
    "how often there are deadlocks",
    "InnoDB's monitor tells of the latest one alone",
    "innodb_print_all_deadlocks = on writes each to the error log; the counter lock_deadlocks of"
    " information_schema.innodb_metrics.",
)


@cause()
def deadlocks_reported(case: Case) -> Iterator[Claim]:
    """Transactions deadlock with each other.

    Looks like: ORA-00060 in the alert log, a global wait-for graph in the trace of LMD0 (RAC); `deadlock detected` in
        PostgreSQL's log; a deadlock of the last hour in InnoDB's monitor; the servers' own counters of them.
    Hurts because: one statement, or one transaction, of each deadlock fails, and its work is done again.
    Speaks for it: how many deadlocks there were; the statements; of PostgreSQL's sessions that wait for rows the part
        that is in a deadlock, each for deadlock_timeout; of the waits for rows that InnoDB counts two for each.
    Speaks against it: a single one in a long time.
    Remedy: Change rows in one order everywhere, in short transactions, and try again what failed.
        Oracle: the trace file that the alert log names holds both statements; index foreign keys, raise INITRANS
        where the mode is S (4).
        MySQL: sort the rows of bulk statements by the index that both wait for, and make them smaller; read committed
        where the locks are of gaps.
    Verify: No new ones in the log.
    Source: Oracle Database Concepts 19c, "Locks and Deadlocks"; MySQL Reference Manual, "Deadlocks in InnoDB";
        PostgreSQL documentation, "Deadlocks".
    """
    told = case.dataset.frame("event").filter(pl.col("kind") == "deadlock")
    of_oracle = told.filter(pl.col("db").str.starts_with("oracle"))
    yield from _between_instances(of_oracle.filter(pl.col("subject").str.ends_with("instances")))
    of_oracle = of_oracle.filter(~pl.col("subject").str.ends_with("instances").fill_null(value=False))
    if of_oracle.height > 1:
        yield Claim(
            phrase("{} deadlocks in the alert log", of_oracle.height),
            impact=NOT_MEASURED,
            confidence=0.9,
            for_=[
                Evidence(
                    "event", "kind = 'deadlock'", phrase("{} deadlocks", of_oracle.height), "one", "statements failed"
                )
            ],
        )
    yield from _of_postgresql(told.filter(pl.col("db").str.starts_with("postgresql")))
    of_innodb = told.filter(pl.col("db").str.starts_with("mysql"))
    # Beside a counter of all the log and the monitor have the statements alone.
    counted = [db for db in case.dbs if case.amount(COUNTED_BY_INNODB, db) >= 1]
    yield from _of_innodb(case, of_innodb.filter(~pl.col("db").is_in(counted)))
    yield from _counted(case, told, {*told["db"]} - {*counted})


def _between_instances(told: pl.DataFrame) -> Iterator[Claim]:
    """Global deadlocks of a cluster, which the lock manager's trace tells with all who were in the circle."""
    if told.is_empty():
        return
    yield Claim(
        phrase("{:count deadlock/deadlocks} between instances", told.height),
        impact=NOT_MEASURED,
        confidence=0.9,
        severity="note" if told.height == 1 else None,
        for_=[
            Evidence("event", "kind = 'deadlock'", phrase("{:%Y-%m-%d %H:%M:%S}: {}", ts, subject), "", text or "")
            for ts, subject, text in told.select("ts", "subject", "text").head(MOST_TOLD).iter_rows()
        ],
    )


def _of_postgresql(told: pl.DataFrame) -> Iterator[Claim]:
    """Those of its log; a single one, or few in a long time, are what every application has to expect."""
    if told.is_empty():
        return
    first, last = told["ts"].min(), told["ts"].max()
    assert isinstance(first, datetime) and isinstance(last, datetime)  # noqa: S101, PT018 - every row has a time
    in_order = told.sort("ts", maintain_order=True).select("ts", "subject", "text")
    days = max((last - first).total_seconds() / DAY_S, 1.0)
    yield Claim(
        phrase("{:count deadlock/deadlocks} in the log", told.height),
        impact=NOT_MEASURED,
        confidence=0.9,
        severity=None if told.height >= MANY_A_DAY * days else "note",
        for_=[
            Evidence("event", f"kind = 'deadlock' and subject = '{subject}'", phrase("{:%Y-%m-%d %H:%M:%S}", ts), "",
                     shortened(text or ""))
            for ts, subject, text in in_order.head(MOST_TOLD).iter_rows()
        ],
    )  # fmt: skip


def _counted(case: Case, events: pl.DataFrame, told: set[str]) -> Iterator[Claim]:
    """Those that a server counts, where no log tells of each: a single one is tried again and forgotten."""
    for name, db in itertools.product((COUNTED, COUNTED_BY_INNODB), case.dbs):
        count, per_s = round(case.amount(name, db)), case.total(name, db) or 0.0
        if count < 1 or db in told:
            continue
        own, row_locks = _row_locks_of(case, db), case.time.kind_share(ROW)
        part = _in_deadlocks(case, db, per_s, own)
        ends = "" if name == COUNTED_BY_INNODB else ", after deadlock_timeout in which both wait"
        yield Claim(
            phrase("{:count deadlock/deadlocks} on {}", count, db),
            impact=NOT_MEASURED
            if part is None or not case.is_time_measured
            else (at_most if name == COUNTED_BY_INNODB else measured)(part * own),
            confidence=0.9,
            explains=("row_locks",) if row_locks and (part or 0.0) * own >= IN_DEADLOCKS * row_locks else (),
            severity=None if count > 1 and per_s * DAY_S >= MANY_A_DAY else "note",
            for_=[
                Evidence("statistic", f"name = '{name}' and db = '{db}'",
                         phrase("{:.2g deadlocks per s}", per_s), "", f"each ends a transaction{ends}"),
                *_of_the_waits(case, db, part),
                *_statements(events.filter(pl.col("db") == db).tail(TWO)),
            ],
            database=db,
        )  # fmt: skip


def _row_locks_of(case: Case, db: str) -> float:
    """The share (0 to 1) of all time that sessions of one server wait for rows."""
    whole = case.time.kind_share(ROW)
    return whole if len(case.dbs) == 1 else waited_by_server(case, ROW).get(db, 0.0)


def _in_deadlocks(case: Case, db: str, per_s: float, row_locks: float) -> float | None:
    """Which part (0 to 1) of a server's waits for rows is in deadlocks; null where that is not told.

    In PostgreSQL two sessions wait for deadlock_timeout in each. InnoDB ends each at once, when the second begins to
    wait: of the waits that it counts two are in each, however long these are beside the others.
    """
    timeout_ms, waits_per_s = case.setting("deadlock_timeout", db), case.total(WAITS_BY_INNODB, db)
    waiting = row_locks * case.time.seconds_per_second
    if timeout_ms and timeout_ms.isdigit():
        return min(per_s * TWO * float(timeout_ms) / 1000 / waiting, 1.0) if waiting else 0.0
    return min(per_s * TWO / waits_per_s, 1.0) if waits_per_s else None


def _of_the_waits(case: Case, db: str, part: float | None) -> list[Evidence]:
    """What part of InnoDB's waits for rows ended so."""
    if part is None or not case.total(WAITS_BY_INNODB, db):
        return []
    whole = phrase("{:share} of the waits for rows are in one", part)
    return [Evidence("statistic", f"name = '{WAITS_BY_INNODB}' and db = '{db}'", whole,
                     phrase("{:share}", IN_DEADLOCKS), "the other waits stand behind such", "at_least")]  # fmt: skip


def _of_innodb(case: Case, told: pl.DataFrame) -> Iterator[Claim]:
    """The latest deadlock, where it is no old one; a row of `event` for each of its transactions."""
    latest = told.filter(pl.col("ts") == pl.col("ts").max())
    until = case.dataset.until
    if latest.is_empty() or (until is not None and until - latest["ts"][0] > RECENT):
        return
    yield Claim(
        phrase("{} transactions of InnoDB deadlocked", latest.height),
        impact=NOT_MEASURED,
        confidence=0.9,
        severity="note",
        for_=_statements(latest.head(MOST_TOLD)),
        not_measured=[ONLY_THE_LATEST] if told["ts"].n_unique() == 1 else [],
    )


def _statements(told: pl.DataFrame) -> list[Evidence]:
    """Each transaction with its statement."""
    return [
        Evidence("event", f"kind = 'deadlock' and subject = '{subject}'", subject, "", shortened(text or ""))
        for subject, text in told.select("subject", "text").iter_rows()
    ]
