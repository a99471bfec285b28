"""Logins that a server refused, by the words with which it did so."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from doctord.analyse.errors import Logged, failures, logged
from doctord.diagnose.case import Case
from doctord.diagnose.common.time_limits import client_of
from doctord.regex import regex

# A client that was started once with a wrong password is no trouble; one a minute is.
OFTEN, OFTEN_PER_S = 5.0, 1 / 60


class Refusal(NamedTuple):
    """Why a server refuses a login: words of its message, what they say, and what to do about it."""

    words: str
    said: str
    remedy: str


# Messages of the server's sources (auth.c, postinit.c, miscinit.c, walsender.c), versions 13 to 18, at level FATAL.
PASSWORD: Final = Refusal(
    "authentication failed for user",
    "the password, or what stands for it, is not the one that the server has",
    "Who changed it: the server (ALTER ROLE) or the application's configuration; the DETAIL in the log names the line "
    "of pg_hba.conf, and what was wrong with it.",
)
NO_LOGIN: Final = Refusal(
    "is not permitted to log in",
    "the role may not log in (NOLOGIN)",
    "ALTER ROLE ... LOGIN, or a role that may log in at the client.",
)
NO_ROLE: Final = Refusal("role", "the role is not there", "CREATE ROLE ... LOGIN, or the right name at the client.")
NO_RULE: Final = Refusal(
    "no pg_hba.conf entry",
    "no line of pg_hba.conf fits the client's address, user, database and encryption",
    'A line in pg_hba.conf that fits, then pg_reload_conf(). With "no encryption" only hostssl or hostgssenc lines '
    "may be left: ssl = on and sslmode=require at the client, or host.",
)
REJECTED: Final = Refusal(
    "pg_hba.conf rejects",
    "a line of pg_hba.conf rejects it",
    "The line with the method reject: the first one that fits counts.",
)
ROLE_FULL: Final = Refusal(
    "too many connections for role",
    "the role has as many connections as it may (CONNECTION LIMIT)",
    "ALTER ROLE ... CONNECTION LIMIT as high as its pools need, or smaller pools.",
)
DATABASE_FULL: Final = Refusal(
    "too many connections for database",
    "the database has as many connections as it may (CONNECTION LIMIT)",
    "ALTER DATABASE ... CONNECTION LIMIT as high as the pools need, or smaller pools.",
)
CLOSED: Final = Refusal(
    "is not currently accepting connections",
    "the database takes no connections (ALLOW_CONNECTIONS false)",
    "ALTER DATABASE ... ALLOW_CONNECTIONS true, once whoever closed it is done.",
)
INVALID: Final = Refusal(
    "cannot connect to invalid database",
    "the database is invalid: DROP DATABASE was interrupted",
    "Drop it, and restore it where it was dropped by mistake: it cannot be mended.",
)
NO_DATABASE: Final = Refusal(
    "database", "the database is not there", "The right name at the client: who renamed or dropped it?"
)
NOT_GRANTED: Final = Refusal(
    "permission denied for database",
    "the role has no right to connect to the database",
    "GRANT CONNECT ON DATABASE ... TO the role, or to the group that it is in.",
)
SENDERS: Final = Refusal(
    "exceeds max_wal_senders",
    "all of max_wal_senders are in use: no standby, backup or subscriber can connect",
    "pg_stat_replication: end who is left over (a backup that hangs, a standby that is gone); max_wal_senders higher "
    "takes a restart.",
)
LIBRARY: Final = Refusal(
    "could not access file",
    "a library that sessions load is not there",
    "session_preload_libraries and local_preload_libraries (pg_settings, pg_db_role_setting) against pg_config "
    "--pkglibdir: install what is missing, or take its name out.",
)
# The first that fits counts; of `role` and `database` that they do "not exist".
REFUSALS: Final = (
    PASSWORD, NO_LOGIN, NO_RULE, REJECTED, ROLE_FULL, DATABASE_FULL, CLOSED, INVALID, NOT_GRANTED, SENDERS, LIBRARY,
)  # fmt: skip
_MISSING: Final = (NO_ROLE, NO_DATABASE)
_IS_MISSING: Final = regex(r'^(?P<what>role|database) "[^"]*" does not exist')


class Refused(NamedTuple):
    """Logins that a server refused with one message; role and database of the client that met it most, if told."""

    message: Logged
    refusal: Refusal
    role: str | None
    database: str | None


def refusal_of(one: Logged) -> Refusal | None:
    """Why a message refuses a login; null for any other message."""
    if one.severity != "FATAL":
        return None
    if missing := _IS_MISSING.search(one.message):
        return next(kind for kind in _MISSING if kind.words == missing["what"])
    text = one.message.replace('"', "")
    return next((kind for kind in REFUSALS if kind.words in text), None)


def is_often(one: Logged, seconds: float) -> bool:
    """Whether they come again and again while somebody looks; where the log tells no times, nobody knows."""
    return one.first is not None and one.count >= max(OFTEN, OFTEN_PER_S * seconds)


def refused_logins(case: Case, db: str) -> Sequence[Refused]:
    """The refused logins of a server that come again and again, most frequent message first."""
    messages = [one for one in failures(logged(case.dataset)) if one.db == db and is_often(one, case.seconds)]
    return [_refused(case, one, why) for one in messages if (why := refusal_of(one))]


def _refused(case: Case, one: Logged, why: Refusal) -> Refused:
    return Refused(one, why, *client_of(case, one))
