"""Writes that are refused because their transaction is read-only: a standby, a setting, or the session's own."""

from collections.abc import Iterator, Sequence
from typing import Final

from doctord.analyse.sql.role_settings import RoleSetting, of_server, role_settings
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.service.met_by import met_by
from doctord.diagnose.common.failures import Failed, of_kind
from doctord.diagnose.finding import Claim, Evidence, measured
from doctord.diagnose.phrase import Words, phrase
from doctord.diagnose.words import shortened

SETTING: Final = "default_transaction_read_only"
IN_RECOVERY: Final = "pg_is_in_recovery"
WRITTEN: Final = ("tup_inserted", "tup_updated", "tup_deleted")
POOLED: Final = ("pgbouncer", "odyssey", "pgpool")
MOST_NAMED: Final = 4


@cause(explains=("rollbacks_many", "errors_logged"))
def writes_in_read_only_transactions(case: Case) -> Iterator[Claim]:
    """Statements that write fail because their transaction is read-only.

    Looks like: errors 25006, "cannot execute UPDATE in a read-only transaction".
    Hurts because: each such write is refused, of some sessions only or of all; reads go on, so that the service looks
        alive.
    Speaks for it: how often, and what is known of why: a server in recovery (a standby);
        default_transaction_read_only of the server, a database or a role; where none of these is, the session's own.
    Speaks against it: rows are written meanwhile: then it is no matter of the whole server.
    Remedy: A standby: send writers to the primary (target_session_attrs = read-write, the pooler's or proxy's target).
        The server's setting: ALTER SYSTEM RESET default_transaction_read_only, and ask who set it (a full disk, a
        switch-over). A role's or database's: ALTER ROLE ... RESET. The session's own: SET SESSION CHARACTERISTICS, SET
        default_transaction_read_only, the options of a connection string, or a driver's setReadOnly(true). On a
        connection that a pool hands to others it stays: begin such a transaction READ ONLY, or SET LOCAL; have the pool
        reset what it takes back (DISCARD ALL; PgBouncer runs server_reset_query in transaction mode only with
        server_reset_query_always = 1), and close the connections that have it now (PgBouncer: RECONNECT).
    Verify: No new error 25006, and rows are written at the usual rate.
    Source: PostgreSQL documentation, SET TRANSACTION (SET SESSION CHARACTERISTICS), default_transaction_read_only,
        "Hot Standby", "PostgreSQL Error Codes" (25006); PgBouncer documentation, "Config"
        (server_reset_query_always) and "Features" (what transaction pooling breaks).
    """
    for one in of_kind(case, "read-only"):
        if one.is_told:
            yield _claim(case, one)


def _claim(case: Case, one: Failed) -> Claim:
    set_for = [each for each in role_settings(case.dataset) if each.db == one.db and _is_on(each)]
    server = of_server(case.dataset, SETTING, one.db)
    is_standby = any(each.db == one.db and each.last for each in case.figures(IN_RECOVERY))
    is_own = not is_standby and not set_for and server == "off"
    return Claim(
        phrase("Writes of {} fail in read-only transactions{}: {:count time/times}, {}", one.db,
               _why(is_standby=is_standby, server=server, set_for=set_for, is_own=is_own), round(one.count),
               shortened(one.messages[0].message, 60)),
        impact=measured(one.share),
        confidence=0.9 if is_own or is_standby or set_for or server == "on" else 0.75,
        severity=one.severity,
        for_=[
            *one.evidence(),
            *_who(case, one),
            *_settings(one.db, server, set_for, is_standby=is_standby),
        ],
        against=_written(case, one.db),
        first_steps=_steps(case, one, is_own=is_own),
        time_of="transactions",
        database=one.db,
    )  # fmt: skip


def _is_on(one: RoleSetting) -> bool:
    return one.scope.name == SETTING and one.value == "on"


def _why(*, is_standby: bool, server: str | None, set_for: Sequence[RoleSetting], is_own: bool) -> Words:
    """The reason as far as it is known, the one that holds for most at first."""
    if is_standby:
        return ", on a standby"
    if server == "on":
        return phrase(", {} = on for all", SETTING)
    if set_for:
        return phrase(", set for {}", set_for[0].scope.whose)
    return ", which their own sessions set" if is_own else ""


def _settings(db: str, server: str | None, set_for: Sequence[RoleSetting], *, is_standby: bool) -> list[Evidence]:
    told = [
        Evidence("setting", f"name = '{one.scope.text}' and db = '{db}'",
                 phrase("{} {} = on", one.scope.whose, SETTING), "", "its sessions begin read-only")
        for one in set_for[:MOST_NAMED]
    ]  # fmt: skip
    if is_standby:
        told.append(Evidence("statistic", f"name = '{IN_RECOVERY}' and db = '{db}'", "it is in recovery", "",
                             "a standby takes no writes: they were sent to the wrong server"))  # fmt: skip
    if server is not None:
        why = "all sessions begin read-only" if server == "on" else "not the server's: a role's, or the session's own"
        told.append(Evidence("setting", f"name = '{SETTING}' and db = '{db}'", phrase("{} = {}", SETTING, server), "",
                             why))  # fmt: skip
    return told


def _who(case: Case, one: Failed) -> list[Evidence]:
    """Users, databases, applications and clients, where the log tells them."""
    who = met_by(case, one.messages[0])
    return [
        Evidence("statistic", f"name = 'log.errors_from' and db = '{one.db}'", who, "", "whose sessions are read-only")
    ] if who else []  # fmt: skip


def _written(case: Case, db: str) -> list[Evidence]:
    """That others write meanwhile."""
    per_s = sum(case.total(f"pg_stat_database.{name}", db) or 0.0 for name in WRITTEN)
    return [
        Evidence("statistic", f"name like 'pg_stat_database.tup_%' and db = '{db}'",
                 phrase("{:.3g rows per s} written", per_s), "", "not all sessions are read-only")
    ] if per_s > 0 else []  # fmt: skip


def _steps(case: Case, one: Failed, *, is_own: bool) -> list[Words]:
    """Which sessions to look for, where it is their own setting; a pool hands them to everybody."""
    if not is_own:
        return []
    pooled = any(
        db.startswith(POOLED) for db in case.dataset.frame("statistic")["db"].drop_nulls().unique(maintain_order=True)
    )
    by = phrase("a pool is before {}: ", one.db) if pooled else ""
    return [
        phrase("No setting of the server, a database or a role makes them read-only; {}who ran SET SESSION "
               "CHARACTERISTICS or SET {} is told by the statements of the log (log_statement = 'all' for a moment, or "
               "pg_stat_statements: query ilike 'set %'). Close the sessions of those users that are older than the "
               "first error (pg_stat_activity.backend_start).", by, SETTING)
    ]  # fmt: skip
