"""Clocks that do not agree: a server's with this host's, a primary's with its standby's."""

from collections.abc import Iterator
from typing import Final

from doctord.analyse.server_clocks import LEAST_S, MAX_ERROR, OFFSET, TIMES_ROUND_TRIP, UNSYNCHRONISED, Clock, clocks
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence, Severity
from doctord.diagnose.phrase import Words, phrase

# A step of one-time passwords (RFC 6238, section 5.2): from here on what is checked by the clock fails.
REFUSES_S: Final = 30.0
# Servers whose clocks agree so well share a clock, or are both kept right.
AGREE_S: Final = 1.0
IS_STANDBY: Final = "pg_is_in_recovery"


@cause()
def clock_differs(case: Case) -> Iterator[Claim]:
    """A server's clock and this host's do not show the same time.

    Looks like: clock_timestamp() of the server is another instant than this host's clock shows, by far more than the
        question was under way; statements are quick and nothing fails in the server.
    Hurts because: what is compared with now() is wrong: codes and tokens expire at once or never, jobs run at the wrong
        time, certificates do not hold yet or any more, logins by Kerberos and one-time passwords fail; rows get times
        out of order; replay lag, ages of transactions and the times in logs are wrong by as much.
    Speaks for it: the difference against the round trip of the question, look for look; other servers whose clock
        agrees with this host's; whether the kernel says that somebody keeps this host's clock (adjtimex).
    Speaks against it: a clock that was off and no longer is; servers that agree with each other and not with this host:
        then this host's clock is the wrong one. Another TimeZone is no difference, nor is what a standby has replayed
        last: instants are compared.
    Remedy: Find out which of the two is wrong: date -u on both, beside a third. Mend what keeps the wrong one: chronyc
        tracking and chronyc sources, timedatectl timesync-status, the hypervisor's clock of a machine that was
        suspended or moved; of a server that alone is wrong on its host look for LD_PRELOAD with libfaketime in
        /proc/PID/environ of the postmaster. Let chrony slew a clock that a database uses, and step it only while the
        database is stopped: after a step back rows of the future stay.
    Verify: The difference stays below a tenth of a second, and chronyc tracking shows the clock synchronised.
    Source: RFC 5905, section 8 (offset and round trip); RFC 6238, section 5.2; RFC 4120, section 1.6 (Kerberos wants
        clocks within five minutes); adjtimex(2), TIME_ERROR; PostgreSQL documentation, "Current Date/Time".
    """
    told = clocks(case.dataset)
    off = [one for one in told if one.differs]
    if len(off) > 1 and len(off) == len(told) and _agree(off) and not any(one.is_here for one in off):
        yield _of_this_host(case, off)
        return
    for one in told:
        if one.differed:
            yield _of_server(case, one, told)


def _agree(those: list[Clock]) -> bool:
    offsets = [one.offset_s for one in those]
    return max(offsets) - min(offsets) <= AGREE_S


def _of_server(case: Case, one: Clock, told: list[Clock]) -> Claim:
    where = "its host" if one.is_here else "this host"
    others = [other for other in told if other.db != one.db]
    agreeing = [other for other in others if not other.differed]
    return Claim(
        phrase("The clock of {} {} {:duration} {} {}", one.db, "is" if one.differs else "was", abs(one.worst_s),
               _way(one.worst_s), where),
        impact=NOT_MEASURED,
        confidence=0.95 if one.is_here or agreeing or one.looks > 1 else 0.85,
        severity=_severity(one),
        for_=[
            _evidence(one),
            *(Evidence("statistic", f"name = '{OFFSET}' and db = '{other.db}'",
                       phrase("{:.3g s} is {} off", abs(other.offset_s), other.db), "",
                       "that server's clock agrees with this host's") for other in agreeing[:2]),
            *(Evidence("statistic", f"name = '{OFFSET}' and db = '{other.db}'",
                       phrase("{:.3g s} between {} and {}", abs(one.offset_s - other.offset_s), one.db, other.db), "",
                       _roles(case, one, other))
              for other in others[:2] if abs(one.offset_s - other.offset_s) > LEAST_S),
        ],
        against=[*_is_over(one), *_of_kernel(case, one)],
        first_steps=[_first_step(one)],
        database=one.db,
    )  # fmt: skip


def _of_this_host(case: Case, off: list[Clock]) -> Claim:
    worst = max(off, key=lambda one: abs(one.offset_s))
    return Claim(
        phrase("The clock of this host is {:duration} {} that of all {} servers", abs(worst.offset_s),
               _way(-worst.offset_s), len(off)),
        impact=NOT_MEASURED,
        confidence=0.85,
        severity=_severity(worst),
        for_=[*map(_evidence, off), *_unsynchronised(case)],
    )  # fmt: skip


def _first_step(one: Clock) -> Words:
    if one.is_here:
        return phrase("{} runs on this host, whose clock is another: look at how it was started (LD_PRELOAD of "
                      "libfaketime in /proc/PID/environ, a time namespace).", one.db)  # fmt: skip
    return phrase("Compare date -u on the host of {} with this host's and with a third.", one.db)


def _severity(one: Clock) -> Severity:
    if not one.differs:
        return "note"
    return "critical" if abs(one.offset_s) >= REFUSES_S else "warning"


def _way(offset_s: float) -> str:
    return "ahead of" if offset_s > 0 else "behind"


def _evidence(one: Clock) -> Evidence:
    limit_s = max(LEAST_S, TIMES_ROUND_TRIP * one.round_trip_s)
    return Evidence("statistic", f"name = '{OFFSET}' and db = '{one.db}'", phrase("{:.3f s} apart", abs(one.worst_s)),
                    phrase("{:.3f s}", limit_s),
                    phrase("the question took {:time} there and back, in {:count look/looks}", one.round_trip_s,
                           one.looks), "at_least")  # fmt: skip


def _roles(case: Case, one: Clock, other: Clock) -> str:
    standbys = {figure.db for figure in case.figures(IS_STANDBY) if figure.last > 0}
    if len({one.db, other.db} & standbys) == 1:
        return "one is a standby: its lag in seconds is wrong by as much"
    return "the two do not share one time"


def _is_over(one: Clock) -> list[Evidence]:
    if one.differs:
        return []
    return [Evidence("statistic", f"name = '{OFFSET}' and db = '{one.db}'",
                     phrase("{:.3f s} apart at the last look", abs(one.offset_s)), phrase("{:.3f s}", LEAST_S),
                     "it was set right, or went by itself", "at_least")]  # fmt: skip


def _unsynchronised(case: Case) -> list[Evidence]:
    state = next((figure.last for figure in case.figures(UNSYNCHRONISED) if figure.db is None), None)
    error_s = next((figure.last for figure in case.figures(MAX_ERROR) if figure.db is None), None)
    if not state:
        return []
    bound: Words = "" if error_s is None else phrase("it may be wrong by {:.1f s} and more", error_s)
    return [Evidence("statistic", f"name = '{UNSYNCHRONISED}'", "nobody keeps this host's clock (adjtimex)", "", bound)]


def _of_kernel(case: Case, one: Clock) -> list[Evidence]:
    """A host whose own clock nobody keeps may be the one that is wrong; of a server on it that says nothing."""
    return [] if one.is_here else _unsynchronised(case)
