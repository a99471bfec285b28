"""Logins that MySQL or MariaDB refuses, by the numbers that it counts: no view shows who did not get in."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from doctord.dataset.mysql_names import STATUS
from doctord.diagnose.case import Case
from doctord.diagnose.common.login_refusals import OFTEN, OFTEN_PER_S
from doctord.diagnose.common.mysql_errors import raised
from doctord.diagnose.finding import CRITICAL_SHARE, NOT_MEASURED, Claim, Evidence
from doctord.diagnose.phrase import phrase

ATTEMPTS: Final = f"{STATUS}connections"
DENIED: Final = f"{STATUS}access_denied_errors"  # MariaDB's
ABORTED: Final = f"{STATUS}aborted_connects"
_WHO: Final = (
    "The server's error log names user and host at log_error_verbosity = 3 (MariaDB: log_warnings = 2); MySQL's "
    "performance_schema.host_cache has COUNT_AUTHENTICATION_ERRORS by host."
)
_ACCOUNT: Final = (
    "Who changed it: the account (ALTER USER), or the application's configuration. An account is a user at a host: the "
    "address that the client comes from may be a new one."
)


class Refusal(NamedTuple):
    """Why a login is refused, and what to do about it."""

    said: str
    remedy: str


# MySQL Error Message Reference, "Server Error Message Reference".
REFUSALS: Final = {
    1045: Refusal("user, host or password is wrong", _ACCOUNT),
    1698: Refusal("the account logs in by its operating-system user alone", _ACCOUNT),
    1130: Refusal("no account fits the client's host", _ACCOUNT),
    1129: Refusal("the client's host is blocked after too many broken handshakes",
                  "TRUNCATE performance_schema.host_cache (FLUSH HOSTS) lets it in; max_connect_errors; and what "
                  "breaks its handshakes: a health check that hangs up, TLS that does not fit."),
    1203: Refusal("the account has as many connections as it may", "max_user_connections, or smaller pools."),
    1226: Refusal("the account has used up what it may within an hour, or its connections",
                  "ALTER USER ... WITH MAX_USER_CONNECTIONS and the like, or smaller pools."),
    1862: Refusal("the password is over", "ALTER USER ... IDENTIFIED BY; default_password_lifetime."),
    3118: Refusal("the account is locked", "ALTER USER ... ACCOUNT UNLOCK: who locked it, and why?"),
    3955: Refusal("the account is locked after failed logins", "ALTER USER ... ACCOUNT UNLOCK, and who tried."),
}  # fmt: skip
_DENIED: Final = Refusal("access is denied: user, host or password", _ACCOUNT)


def refused(case: Case) -> Iterator[Claim]:
    """A claim for each server that refuses logins again and again, by the most frequent reason."""
    for attempts in case.figures(ATTEMPTS):
        told = _told(case, attempts.db)
        per_s = sum(rate for rate, _, _ in told)
        if not told or per_s * attempts.seconds < OFTEN or per_s < OFTEN_PER_S:
            continue
        first = told[0][1]
        share = per_s / attempts.mean if attempts.mean else 0.0
        count = round(per_s * attempts.seconds)
        yield Claim(
            phrase("{} refuses logins, {:count time/times}: {}", attempts.db, count, first.said),
            impact=NOT_MEASURED,
            confidence=0.85,
            severity="critical" if share >= CRITICAL_SHARE else "warning",
            for_=[
                *(Evidence("statistic", where, phrase("{:.3g logins per s} refused", rate), "", refusal.said)
                  for rate, refusal, where in told),
                Evidence("statistic", f"name = '{ATTEMPTS}' and db = '{attempts.db}'",
                         phrase("{:.3g attempts per s}", attempts.mean), "", "in all, those that got in among them"),
            ],
            remedy=(first.remedy, _WHO),
            verify=("Aborted_connects stands still, and the account's sessions are in the process list.",),
            database=attempts.db,
        )  # fmt: skip


def _told(case: Case, db: str | None) -> list[tuple[float, Refusal, str]]:
    """How often a second, why, and which rows say it; the most frequent first."""
    by_number = [(one.per_s, REFUSALS[one.number], one.filter) for one in raised(case, db) if one.number in REFUSALS]
    if by_number:
        return by_number
    # MariaDB counts statements among them that were denied, and health checks among the others.
    denied, aborted = case.total(DENIED, db) or 0.0, case.total(ABORTED, db) or 0.0
    per_s = min(denied, aborted)
    return [(per_s, _DENIED, f"name in ('{DENIED}', '{ABORTED}') and db = '{db}'")] if per_s else []
