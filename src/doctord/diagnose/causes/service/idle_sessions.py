"""Idle sessions that the server ends by itself, while their clients mean to use them again."""

from collections.abc import Iterator
from typing import Final

from doctord.analyse.errors import LOGGED, failures, logged
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.service.met_by import met_by
from doctord.diagnose.common.failures import OFTEN, OFTEN_PER_S
from doctord.diagnose.common.time_limits import evidence, time_limit
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence
from doctord.diagnose.phrase import phrase

STATE: Final = "57P05"  # idle_session_timeout
# Pools keep a connection that they do not use for minutes: less is under their hands.
SHORT_S: Final = 60.0


@cause(explains=("errors_logged", "sessions_end_badly"))
def idle_sessions_ended(case: Case) -> Iterator[Claim]:
    """Sessions are ended for having been idle, again and again.

    Looks like: "terminating connection due to idle-session timeout" (57P05) in the log; `sessions_fatal` of
        pg_stat_database grows.
    Hurts because: a pool does not know that its connection is gone: the next request on it fails, and a new connection
        has to be opened for each.
    Speaks for it: how many, by whom; idle_session_timeout in force, and where it is set.
    Speaks against it: a time-out of minutes and more: then it does what it is for, and the clients leave sessions.
    Remedy: idle_session_timeout = 0 for roles whose clients are pools (ALTER ROLE ... SET), and the pool's own limit
        for idle connections below it where it has to stay; pools that test a connection before they hand it out.
    Verify: No new message; sessions of that role stay in pg_stat_activity while they are idle.
    Source: PostgreSQL documentation, idle_session_timeout ("some connection-pooling middlewares may not handle the
        unexpected closure well"), "PostgreSQL Error Codes" (57P05).
    """
    for one in failures(logged(case.dataset)):
        if one.state != STATE or one.first is None or one.count < max(OFTEN, OFTEN_PER_S * case.seconds):
            continue
        limit, who = time_limit(case, one), met_by(case, one)
        is_long = limit is not None and limit.seconds is not None and limit.seconds >= SHORT_S
        yield Claim(
            phrase("{} ended {:.0f} idle sessions{}", one.db, one.count,
                   phrase(": {}", limit.words) if limit else ""),
            impact=NOT_MEASURED,
            confidence=0.6 if is_long else 0.9,
            severity="note" if is_long else "warning",
            for_=[
                Evidence("statistic", f"name = '{LOGGED}' and entity = '{one.entity}'",
                         phrase("{:,.0f} times", one.count), "", phrase("by {}", who) if who else ""),
                *([] if is_long else evidence(case, one)),
            ],
            against=evidence(case, one) if is_long else (),
            database=one.db,
        )  # fmt: skip
