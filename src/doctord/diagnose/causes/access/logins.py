"""Logins that the server refuses for who asks, or where to; and limits of roles and databases that are near."""

from collections.abc import Iterator
from typing import Final

from doctord.analyse.errors import LOGGED
from doctord.analyse.sql.role_settings import in_force, role_settings
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.access import mysql_logins
from doctord.diagnose.causes.service.met_by import met_by
from doctord.diagnose.common.connections_held import NEAR_LIMIT
from doctord.diagnose.common.login_refusals import (
    CLOSED,
    DATABASE_FULL,
    LIBRARY,
    NO_DATABASE,
    NO_LOGIN,
    NO_ROLE,
    NO_RULE,
    PASSWORD,
    ROLE_FULL,
    Refused,
    refused_logins,
)
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import CRITICAL_SHARE, NONE_YET, NOT_MEASURED, Claim, Evidence, Severity
from doctord.diagnose.phrase import Words, phrase
from doctord.regex import regex

VALID_S: Final = "pg_roles.password_valid_s"
RULES: Final = "pg_hba_file_rules.errors"
LIBRARIES: Final = ("session_preload_libraries", "local_preload_libraries")
# As whoever wrote the setting has it, without the folder where the server looks for it.
_NAMED: Final = regex(r'could not access file "(?:\$libdir/)?(?:plugins/)?(?P<name>[^"?]+)"')
# What of a role or database the refusal is held against: 1 where it is so.
FLAGS: Final = {NO_LOGIN: "pg_roles.no_login", CLOSED: "pg_database.no_connections"}
# The limit of what, and what is used of it.
LIMITS: Final = {
    ROLE_FULL: ("role", "pg_roles.connection_limit", "pg_roles.connections"),
    DATABASE_FULL: ("database", "pg_database.connection_limit", "pg_database.connections"),
}
# A password that ends within a week is to be renewed this week, within a day now.
SOON_S, NOW_S = 7 * 86400.0, 86400.0


@cause(explains=("sessions_end_badly",))
def logins_refused(case: Case) -> Iterator[Claim]:
    """Clients are turned away at their logins, again and again.

    Looks like: FATAL messages at the begin of a session in the server's log: "password authentication failed", "is not
        permitted to log in", "no pg_hba.conf entry", "too many connections for role", "is not currently accepting
        connections", "permission denied for database", a role, database or library that is not there. Sessions that are
        open go on, and no view counts who did not get in. MySQL counts errors 1045, 1130, 1203, 1226, 3118 and their
        like, MariaDB Access_denied_errors with Aborted_connects.
    Hurts because: a client that is refused does nothing at all; a pool lives on its open connections until they end,
        and then stops too.
    Speaks for it: how often, by role, database and client, and beside how many sessions that did begin; what the
        catalogue says of that role and database: VALID UNTIL, LOGIN, CONNECTION LIMIT, ALLOW_CONNECTIONS; lines of
        pg_hba.conf that the server cannot read; libraries that sessions load.
    Speaks against it: a password that is not over, a limit that is not reached: then it is what the client sends. Names
        that nobody uses here, from addresses that nobody knows, are somebody who tries.
    Remedy: By the message.
    Verify: No new refusal in the log. PostgreSQL: sessions of that role in pg_stat_activity that began after the
        change. MySQL: Aborted_connects stands still.
    Source: PostgreSQL documentation, "Client Authentication", "Authentication Problems", "Password Authentication",
        CREATE ROLE (VALID UNTIL, CONNECTION LIMIT, LOGIN), CREATE DATABASE (ALLOW_CONNECTIONS, CONNECTION LIMIT),
        session_preload_libraries, max_wal_senders; MySQL Reference Manual, "Troubleshooting Problems Connecting to
        MySQL", "Server Status Variables"; MariaDB documentation, "Server Status Variables" (Access_denied_errors).
    """
    yield from mysql_logins.refused(case)
    for db in case.dbs:
        for one in refused_logins(case, db):
            reasons, against = _reasons(case, db, one)
            yield Claim(
                phrase("{} refuses logins{}, {:count time/times}: {}", db, _of_whom(one), round(one.message.count),
                       reasons[0].why if reasons else one.refusal.said),
                impact=NOT_MEASURED,
                confidence=0.95 if reasons else 0.85,
                severity=_severity(case, db, one),
                for_=[_message(case, one), *reasons],
                against=against,
                remedy=[one.refusal.remedy],
                database=db,
            )  # fmt: skip


def _of_whom(one: Refused) -> Words:
    if one.refusal is DATABASE_FULL or one.refusal is CLOSED or one.role is None:
        return phrase(" to database {}", one.database) if one.database else ""
    return phrase(" of role {}", one.role)


def _severity(case: Case, db: str, one: Refused) -> Severity:
    """Critical where fewer sessions of that database began than were refused.

    Names that are not there may be anybody's who tries: what is meant by them, the server cannot know.
    """
    if one.refusal in (NO_ROLE, NO_DATABASE):
        return "warning"
    began = sum(
        rate.mean * (rate.seconds or case.seconds)
        for rate in case.figures("pg_stat_database.sessions")
        if rate.db == db and one.database in (None, rate.entity)
    )
    refused = one.message.count
    return "critical" if refused / (refused + began) >= CRITICAL_SHARE else "warning"


def _message(case: Case, one: Refused) -> Evidence:
    who = met_by(case, one.message)
    return Evidence("statistic", f"name = '{LOGGED}' and entity = '{one.message.entity}'",
                    phrase("{:,.0f} logins refused", one.message.count), "",
                    phrase("{}{}", one.message.message, phrase("; {}", who) if who else ""))  # fmt: skip


def _reasons(case: Case, db: str, one: Refused) -> tuple[list[Evidence], list[Evidence]]:
    """What the catalogue and the files say to it: for the refusal as it is told, and against."""
    signs = [*_password(case, db, one), *_flag(case, db, one), *_limit(case, db, one)]
    for_, against = weigh(signs)
    return [*for_, *_rules(case, db, one), *_libraries(case, db, one)], against


def _value(case: Case, name: str, db: str, entity: str | None) -> float | None:
    one = case.figure(name, db, entity)
    return one and one.last


def _password(case: Case, db: str, one: Refused) -> Iterator[Sign]:
    left_s = _value(case, VALID_S, db, one.role) if one.refusal is PASSWORD and one.role else None
    if left_s is not None:
        yield Sign("statistic", f"name = '{VALID_S}' and entity = '{one.role}'", left_s, 0.0,
                   "{:.0f s} left of its password", "its password is over (VALID UNTIL): a new date by ALTER ROLE",
                   "VALID UNTIL is not over: the password itself is another one", below=True)  # fmt: skip


def _flag(case: Case, db: str, one: Refused) -> Iterator[Sign]:
    name = FLAGS.get(one.refusal)
    whom = one.role if one.refusal is NO_LOGIN else one.database
    if name and whom:
        yield Sign("statistic", f"name = '{name}' and entity = '{whom}'", _value(case, name, db, whom), 1.0,
                   "{:.0f}: as the catalogue has it", one.refusal.said)  # fmt: skip


def _limit(case: Case, db: str, one: Refused) -> Iterator[Sign]:
    what, name, used_name = LIMITS.get(one.refusal, ("", "", ""))
    whom = {"role": one.role, "database": one.database}.get(what)
    limit = _value(case, name, db, whom) if whom else None
    used = max((f.largest for f in case.figures(used_name) if f.db == db and f.entity == whom), default=None)
    if limit is not None:
        yield Sign("statistic", f"name = '{used_name}' and entity = '{whom}'", used, NEAR_LIMIT * limit,
                   "{:.0f} connections", phrase("{} {} has a CONNECTION LIMIT of {:.0f}", what, whom, limit),
                   phrase("{:.0f} are allowed: it was full at other moments", limit))  # fmt: skip


def _rules(case: Case, db: str, one: Refused) -> list[Evidence]:
    if one.refusal is not NO_RULE:
        return []
    return [
        Evidence("statistic", f"name = '{RULES}' and db = '{db}'", figure.entity or "", "",
                 phrase("pg_hba.conf has a line that fits nobody: {}", figure.entity))
        for figure in case.figures(RULES) if figure.db == db and figure.entity
    ]  # fmt: skip


def _libraries(case: Case, db: str, one: Refused) -> list[Evidence]:
    """Who is given the library: by what holds for that client; for anybody, where nobody says whose login it was."""
    if one.refusal is not LIBRARY:
        return []
    named = _NAMED.search(one.message.message)
    if one.role is None and named:
        own = [each for each in role_settings(case.dataset) if each.db == db and each.scope.name in LIBRARIES]
    else:
        own = [each for name, each in in_force(case.dataset, db, one.role, one.database).items() if name in LIBRARIES]
    held = {name: value for name in LIBRARIES if (value := case.setting(name, db))}
    told = [(each.scope.name, each.value, each.scope.whose) for each in own]
    known = {name for name, _, _ in told} if one.role else set[str]()
    told += [(name, value, "the server") for name, value in held.items() if name not in known]
    return [
        Evidence("setting", f"name like '%{name}' and db = '{db}'", phrase("{} = {}", name, value), "",
                 phrase("{} = {}, set for {}, is not there", name, value, whose))
        for name, value, whose in told
        if named is None or named["name"].removesuffix(".so") in _libraries_in(value)
    ]  # fmt: skip


def _libraries_in(value: str) -> set[str]:
    """The names in a list of libraries, without folder and ending."""
    names = (part.strip().strip('"') for part in value.split(","))
    return {name for part in names for name in (part, part.rpartition("/")[2].removesuffix(".so"))}


@cause()
def login_limit_near(case: Case) -> Iterator[Claim]:
    """The password of a role ends soon, or a role or database has almost all connections that it may have.

    Looks like: VALID UNTIL of a role that may log in is days away; connections of a role or database close to its
        CONNECTION LIMIT, while max_connections is far.
    Hurts because: from that moment on each new login is refused, and pools end with their last connection.
    Speaks for it: the time that is left; connections beside the limit.
    Speaks against it: a role that logs in without a password: VALID UNTIL is of passwords alone.
    Remedy: ALTER ROLE ... PASSWORD ... VALID UNTIL, and the new one at its clients, before that day; CONNECTION LIMIT
        as high as the pools that use it are together, or smaller pools.
    Verify: pg_roles.rolvaliduntil is weeks away; connections stay below 80 % of the limit at the busiest hour.
    Source: PostgreSQL documentation, CREATE ROLE (VALID UNTIL, CONNECTION LIMIT), CREATE DATABASE (CONNECTION LIMIT),
        "Password Authentication".
    """
    for db in case.dbs:
        told = {name for one in refused_logins(case, db) for name in (one.role, one.database)}
        yield from (_ending(db, figure.entity, figure.last) for figure in case.figures(VALID_S)
                    if figure.db == db and figure.entity and 0 < figure.last < SOON_S)  # fmt: skip
        yield from (claim for what in LIMITS.values() for whom, claim in _near(case, db, *what) if whom not in told)


def _ending(db: str, role: str, left_s: float) -> Claim:
    return Claim(
        phrase("The password of role {} ends in {:duration}", role, left_s),
        impact=NONE_YET,
        confidence=0.85,
        severity="warning" if left_s < NOW_S else "note",
        for_=[
            Evidence("statistic", f"name = '{VALID_S}' and entity = '{role}'", phrase("{:duration} left", left_s),
                     phrase("{:duration}", SOON_S), "logins with a password are refused from then on", "at_most")
        ],
        database=db,
    )  # fmt: skip


def _near(case: Case, db: str, what: str, limit_name: str, used_name: str) -> Iterator[tuple[str, Claim]]:
    """Roles, or databases, that have almost all connections that they may have."""
    used = {one.entity: one.largest for one in case.figures(used_name) if one.db == db and one.entity}
    limits = {one.entity: one.last for one in case.figures(limit_name) if one.db == db and one.entity in used}
    near = [(whom, limit) for whom, limit in limits.items() if whom and used[whom] >= NEAR_LIMIT * limit > 0]
    for whom, limit in near:
        yield whom, Claim(
            phrase("{:.0f} of {:.0f} connections that {} {} may have are taken", used[whom], limit, what, whom),
            impact=NONE_YET,
            confidence=0.95,
            severity="warning",
            for_=[
                Evidence("statistic", f"name = '{used_name}' and entity = '{whom}'",
                         phrase("{:.0f} connections", used[whom]), phrase("{:.0f}", NEAR_LIMIT * limit),
                         "the next login is refused", "at_least")
            ],
            database=db,
        )  # fmt: skip
