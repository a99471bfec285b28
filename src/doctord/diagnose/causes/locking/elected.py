"""What is said of sessions that stand by for an advisory lock, which is no loss of service where it is meant so."""

from doctord.analyse.locking.standing_by import USER_LOCK, StandingBy
from doctord.diagnose.case import Case
from doctord.diagnose.finding import Claim, Evidence, measured
from doctord.diagnose.phrase import phrase

# What such a lock is called, what gives it back, what ends its session, and how work should take one.
POSTGRES = (
    "an advisory lock",
    "pg_advisory_unlock there, or select pg_terminate_backend({})",
    "pg_advisory_xact_lock, which goes with its transaction",
)
MYSQL = ("a user lock", "RELEASE_LOCK there, or KILL {}", "GET_LOCK with a time-out of seconds, and give it back")


def elected(case: Case, line: StandingBy) -> Claim:
    """The note on one line of them."""
    who = ", ".join(line.programs) or "unknown programs"
    lock, given_back, for_work = MYSQL if line.event == USER_LOCK else POSTGRES
    return Claim(
        phrase("{:count session stands/sessions stand} by for {} of session {}: as a leader's election",
               line.sessions, lock, line.holder),
        impact=measured(line.waited_s / case.database_time_s()),
        confidence=0.75,
        severity="note",
        for_=[
            Evidence("session", f"event = '{line.event}' and blocker_sid = {line.holder}",
                     phrase("{:count session waits/sessions wait} ({}), the first for {:time}", line.sessions, who,
                            line.longest_s), "",
                     "in a statement of its own, before the first look and at the last; they do nothing else, and "
                     "nobody came or got the lock meanwhile"),
            Evidence("session", f"sid = {line.holder}", phrase("session {} has the lock", line.holder), "",
                     "it is in no transaction as old as that: the lock is its session's, and stays until it is given "
                     "back or the session ends"),
        ],
        remedy=(
            phrase("If {} elect a leader so (one at work, the others ready to take over), there is nothing to do: the "
                   "time in {} is no loss.", who, line.event),
            phrase("If they should be at work, session {} forgot to give the lock back (a pool has its connection "
                   "again, lock and all): {}; and let work take {}.", line.holder, phrase(given_back, line.holder),
                   for_work),
        ),
        verify=("Who should be at work is; the leader changes when its session ends.",),
        database=line.db,
    )  # fmt: skip
