"""Sessions and statements that end badly: by counters of the server that no error message need be read for."""

from collections.abc import Iterator

import polars as pl

from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.service.aborted_clients import aborted_clients
from doctord.diagnose.finding import NONE_YET, NOT_MEASURED, Claim, Evidence
from doctord.diagnose.phrase import phrase

# How a session can end but by its own will, and what is behind it (PostgreSQL documentation, pg_stat_database).
ENDS = {
    "sessions_abandoned": "the client went away without a word: killed, timed out, or the network between",
    "sessions_fatal": "an error ended the session: the FATAL lines of the server's log",
    "sessions_killed": "somebody ended it: pg_terminate_backend, or a fast shutdown",
}
CONFLICTS = "pg_stat_database.conflicts"
# One a minute is no accident; ten are no longer one client that was stopped.
OFTEN_PER_S, MANY = 1 / 60, 10.0
# Of the sessions that begin.
PART, MOST = 0.1, 0.5
EXITS, FATAL = "exit_on_error", "pg_stat_database.sessions_fatal"
# Readings in which some ended: a client that is stopped ends all its sessions at one moment.
AT_TIMES = 2


@cause(explains=("sessions_end_badly", "connection_churn", "errors_logged", "transactions_fail", "rollbacks_many"))
def errors_end_sessions(case: Case) -> Iterator[Claim]:
    """exit_on_error is on: any error ends the session that meets it, also one that the application expects.

    Looks like: FATAL where the log of other servers has ERROR, duplicate keys say; `sessions_fatal` of pg_stat_database
        grows; clients connect again and again.
    Hurts because: the transaction, the prepared statements and the temporary tables of the session are gone, and its
        client has to log in anew for an error that it would have gone on after; one that a function catches ends it
        all the same.
    Speaks for it: the setting in force; sessions that FATAL ended.
    Speaks against it: no session that ended so: no error was met, or it is on for others.
    Remedy: exit_on_error = off, where it was set (postgresql.conf, ALTER SYSTEM, ALTER ROLE, ALTER DATABASE), and a
        reload; a script that is to end at the first error says so itself (psql -v ON_ERROR_STOP=1).
    Verify: sessions_fatal stands still; the same errors are ERROR in the log.
    Source: PostgreSQL documentation, "Error Handling" (exit_on_error), pg_stat_database (sessions_fatal).
    """
    for db in case.dbs:
        if case.setting(EXITS, db) != "on":
            continue
        ended = case.amount(FATAL, db)
        yield Claim(
            phrase("{} = on: an error ends the session{}", EXITS,
                   phrase(", {:.0f} of {} so far", ended, db) if ended >= 1 else ""),
            impact=NOT_MEASURED if ended >= 1 else NONE_YET,
            confidence=0.95,
            severity="warning" if ended >= MANY else "note",
            for_=[
                Evidence("setting", f"name = '{EXITS}' and db = '{db}'", phrase("{} = on", EXITS), "",
                         "off is what it comes with"),
                *([Evidence("statistic", f"name = '{FATAL}' and db = '{db}'",
                            phrase("{:.0f} sessions ended by FATAL", ended), phrase("{:.0f}", MANY),
                            "an error ended the session", "at_least")] if ended >= 1 else []),
            ],
            against=[] if ended >= 1 else [
                Evidence("statistic", f"name = '{FATAL}' and db = '{db}'", "no session ended so", "",
                         "no error was met"),
            ],
            database=db,
        )  # fmt: skip


@cause()
def sessions_end_badly(case: Case) -> Iterator[Claim]:
    """Sessions end in other ways than by their clients' will, again and again.

    Looks like: `sessions_abandoned`, `sessions_fatal` or `sessions_killed` of pg_stat_database grow (version 14 on);
        MySQL's Aborted_clients, with each new connection where init_connect fails.
    Hurts because: what the session was doing is undone, and its client has to begin anew, or has gone.
    Speaks for it: how many a second end so, of how many that begin.
    Speaks against it: a single moment at which many ended: a client, or a pool, that was stopped.
    Remedy: By the way in which they end: the server's log says why (FATAL; "unexpected EOF on client connection" with
        log_disconnections); timeouts of pools, balancers and firewalls that are shorter than the pauses of sessions
        (tcp_keepalives_idle); health checks that connect and leave.
        MySQL: the error log says why (log_error_verbosity = 3, MariaDB log_warnings = 2): wait_timeout, a packet beyond
        max_allowed_packet, a client that leaves without a word. Where init_connect is set: run its statement as such a
        user; users with CONNECTION_ADMIN (SUPER) skip it.
    Verify: The counters stand still, or grow by less than one in ten sessions.
    Source: PostgreSQL documentation, pg_stat_database (sessions_abandoned, sessions_fatal, sessions_killed); MySQL
        Reference Manual, "Communication Errors and Aborted Connections" and init_connect.
    """
    yield from aborted_clients(case)
    for db in case.dbs:
        ended = {name: count for name in ENDS if (count := case.amount(f"pg_stat_database.{name}", db)) >= 1}
        count, began = sum(ended.values()), case.amount("pg_stat_database.sessions", db)
        if count < MANY or count < PART * began:
            continue
        often = _times(case, db)
        yield Claim(
            phrase("{:.0f} sessions of {} did not end by their clients' will", count, db),
            impact=NOT_MEASURED,
            confidence=0.9 if often >= AT_TIMES else 0.6,
            severity=None if often >= AT_TIMES else "note",
            for_=[
                Evidence("statistic", f"name = 'pg_stat_database.{name}' and db = '{db}'",
                         phrase("{:.0f} {}", number, name), phrase("{:share} of {:.0f} that began", PART, began),
                         ENDS[name])
                for name, number in ended.items()
            ],
            # Whoever is put out has to come in again.
            explains=("connection_churn",) if count >= MOST * began else (),
            against=[] if often >= AT_TIMES else [
                Evidence("statistic", "", "all in one reading", "", "one client, or a pool, that was stopped"),
            ],
            database=db,
        )  # fmt: skip


def _times(case: Case, db: str) -> int:
    """In how many readings sessions ended so."""
    rows = case.dataset.frame("statistic").filter((pl.col("db") == db) & (pl.col("value") > 0))
    return rows.filter(pl.col("name").is_in([f"pg_stat_database.{name}" for name in ENDS]))["ts"].n_unique()


@cause()
def standby_conflicts(case: Case) -> Iterator[Claim]:
    """A standby cancels its queries because they stand in the way of the replay.

    Looks like: `conflicts` of pg_stat_database grows on a standby; "canceling statement due to conflict with recovery".
    Hurts because: the query fails, mostly a long one, and is begun anew; what it waited for was waited in vain.
    Speaks for it: how many, and of which kind (pg_stat_database_conflicts).
    Speaks against it: one now and then.
    Remedy: By kind. snapshot: hot_standby_feedback = on (the primary keeps the rows), or max_standby_streaming_delay
        as long as the longest query may be (the replay waits). lock: exclusive locks on the primary (DDL, VACUUM's
        truncation: vacuum_truncate = off) at another time. deadlock, bufferpin: shorter queries. A standby for reports
        beside one for failing over.
    Verify: pg_stat_database.conflicts stands still.
    Source: PostgreSQL documentation, "Hot Standby: Handling Query Conflicts", pg_stat_database_conflicts.
    """
    for db in case.dbs:
        count, per_s = case.amount(CONFLICTS, db), case.total(CONFLICTS, db) or 0.0
        if round(count) < 1:
            continue
        kinds = [f"pg_stat_database_conflicts.confl_{kind}" for kind in
                 ("snapshot", "lock", "deadlock", "bufferpin", "tablespace", "active_logicalslot")]  # fmt: skip
        yield Claim(
            phrase("{} cancelled {:count query/queries} that stood in the way of its replay", db, count),
            impact=NOT_MEASURED,
            confidence=0.95,
            severity=None if count >= MANY and per_s >= OFTEN_PER_S else "note",
            for_=[
                Evidence("statistic", f"name = '{CONFLICTS}' and db = '{db}'", phrase("{:rate queries}", per_s),
                         "", ""),
                *(Evidence("statistic", f"name = '{kind}' and db = '{db}'", phrase("{:.0f}", number), "",
                           kind.rpartition("confl_")[2])
                  for kind in kinds if (number := case.amount(kind, db)) >= 1),
            ],
            database=db,
        )  # fmt: skip
