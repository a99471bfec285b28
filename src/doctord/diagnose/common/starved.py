"""Whether sessions wait for a CPU because none is left."""

from typing import Final

import polars as pl

from doctord.analyse.backends import CLIENT_BACKEND
from doctord.analyse.host.full_moments import LEAST_IDLE_PCT, FullMoments, full_moments
from doctord.analyse.time import RUN_QUEUE
from doctord.diagnose.case import WORTH_SAYING_SESSIONS, WORTH_SAYING_SHARE, Case
from doctord.diagnose.finding import WARNING_SHARE, Severity

MOST_IDLE_PCT: Final = 50.0
# Sessions that want a CPU at the same time, for each CPU: half of them then wait for the other half.
CROWDED: Final = 2.0
WANTING: Final = ("cpu", "run queue")
# A neighbour that comes every now and then: more than half of the waiting is while it is there, and half a session
# stands still then, as what lasts for moments alone has to be felt the more.
MOST_WAITED: Final = 0.5
# With less left on average the CPUs are nearly full all the time: no mean hides anything.
ROOM_PCT: Final = 25.0
FELT_SESSIONS: Final = 0.5
# Twice what a look-up by an index takes with all that is around it (see `slowed.FELT_MS`): with such a wait for a CPU
# it takes three times as long.
FELT_QUEUE_MS: Final = 1.0


def idle_pct(case: Case) -> float | None:
    """Idle time; with an I/O outstanding it is idle all the same."""
    idle = case.mean("cpu", "idle_pct")
    return None if idle is None else idle + (case.mean("cpu", "wait_io_pct") or 0.0)


def is_full(case: Case) -> bool:
    """Whether the CPUs are as good as never idle."""
    idle = idle_pct(case)
    return idle is not None and idle <= LEAST_IDLE_PCT


def is_short(case: Case) -> bool:
    """Whether little is left on average, half a session and more stands in the queue at all times, and calls feel it.

    What is idle then is idle at other moments than those in which somebody wants it. Who sends short statements one
    after the other as fast as they are answered keeps a queue at any speed, and waits for microseconds.
    """
    idle, share = idle_pct(case), case.time.share(*RUN_QUEUE)
    waiting_sessions = share * case.time.seconds_per_second
    of_statements = sum(one.calls_per_s or 0.0 for one in case.statements)
    calls_per_s = of_statements or sum(case.common("commits", db) or 0.0 for db in case.dbs)
    is_felt = waiting_sessions >= FELT_SESSIONS and waiting_sessions * 1000 >= FELT_QUEUE_MS * calls_per_s
    is_little = idle is not None and idle <= ROOM_PCT
    return case.time.of == "database" and is_little and is_felt and case.beside_locks(share) >= WARNING_SHARE


def wanting(case: Case) -> float:
    """Sessions (processes, where no database was seen) that are on a CPU or wait for one, on average."""
    return case.time.kind_share(*WANTING) * case.time.seconds_per_second


def is_crowded(case: Case) -> bool:
    """Whether so many sessions want a CPU at once that what is idle is a matter of how they are spread.

    Where most of the CPUs is idle, they are kept from it by something else: a quota, or the CPUs they are bound to.
    """
    idle = idle_pct(case)
    is_busy = idle is not None and idle <= MOST_IDLE_PCT
    return is_busy and case.cpus > 0 and wanting(case) >= CROWDED * case.cpus


def waiting(case: Case) -> float | None:
    """Processes (those of the sessions, where a database was seen) waiting for a CPU, on average."""
    ready = case.processes
    if ready.is_empty():
        return None
    if case.dbs:
        ready = ready.filter(pl.col("pid").is_in(case.session_pids.implode()) | (pl.col("command") == CLIENT_BACKEND))
    waited = ready["run_wait_s"].drop_nulls()
    return float(waited.sum()) / case.process_seconds if waited.len() and case.process_seconds else None


def is_starved(case: Case) -> bool:
    """Whether no CPU is left and the time model shows it.

    Where the kernel's count of the sessions is not known, a session that was woken and waits for a CPU is seldom
    sampled as active: so the processes' own waiting may say what is enough. Sessions in a line for a lock want no CPU,
    however many they are.
    """
    share = case.time.share(*RUN_QUEUE)
    sessions = max(share * case.time.seconds_per_second, waiting(case) or 0.0)
    felt = case.beside_locks(share) >= WORTH_SAYING_SHARE and sessions >= WORTH_SAYING_SESSIONS
    return (is_full(case) or is_crowded(case) or is_short(case)) and felt


def severity(case: Case, share: float) -> Severity | None:
    """A warning for what takes a tenth of the time in which nobody waits for a lock; null leaves it to the share.

    Those who stand in a line for a lock want no CPU: to all others the share is larger.
    """
    return "warning" if share < WARNING_SHARE <= case.beside_locks(share) else None


def starving_moments(case: Case) -> FullMoments | None:
    """The moments in which no CPU was left, where sessions waited for one just then, though on average there is room.

    Null where there are none, and where the CPUs are full on average: see `is_starved`.
    """
    share = case.time.share(*RUN_QUEUE)
    if is_starved(case) or not case.dbs or not case.worth_saying(share) or (idle_pct(case) or 0.0) < ROOM_PCT:
        return None
    moments = full_moments(case.dataset, case.session_pids.drop_nulls())
    if moments is None or (moments.waited or 0.0) < MOST_WAITED:
        return None
    waiting_then = share * case.time.seconds_per_second * (moments.waited or 0.0) / moments.part
    return moments if waiting_then >= FELT_SESSIONS else None
