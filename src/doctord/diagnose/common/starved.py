"""Whether sessions wait for a CPU because none is left."""

from typing import Final

import polars as pl

from doctord.analyse.backends import CLIENT_BACKEND
from doctord.analyse.time import RUN_QUEUE
from doctord.diagnose.case import WORTH_SAYING_SESSIONS, WORTH_SAYING_SHARE, Case

# A tenth left is what bursts within a second use up: with less, somebody waits at most moments.
LEAST_IDLE_PCT: Final = 10.0
MOST_IDLE_PCT: Final = 50.0
# Sessions that want a CPU at the same time, for each CPU: half of them then wait for the other half.
CROWDED: Final = 2.0
WANTING: Final = ("cpu", "run queue")


def idle_pct(case: Case) -> float | None:
    """Idle time; with an I/O outstanding it is idle all the same."""
    idle = case.mean("cpu", "idle_pct")
    return None if idle is None else idle + (case.mean("cpu", "wait_io_pct") or 0.0)


def is_full(case: Case) -> bool:
    """Whether the CPUs are as good as never idle."""
    idle = idle_pct(case)
    return idle is not None and idle <= LEAST_IDLE_PCT


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
    if case.dbs:
        sampled = case.dataset.frame("session")["pid"].unique(maintain_order=True).implode()
        ready = ready.filter(pl.col("pid").is_in(sampled) | (pl.col("command") == CLIENT_BACKEND))
    waited = ready["run_wait_s"].drop_nulls()
    return float(waited.sum()) / case.process_seconds if waited.len() and case.process_seconds else None


def is_starved(case: Case) -> bool:
    """Whether no CPU is left and the time model shows it.

    Where the kernel's count of the sessions is not known, a session that was woken and waits for a CPU is seldom
    sampled as active: so the processes' own waiting may say what is enough.
    """
    share = case.time.share(*RUN_QUEUE)
    felt = case.worth_saying(share) or (waiting(case) or 0.0) >= WORTH_SAYING_SESSIONS
    return (is_full(case) or is_crowded(case)) and share >= WORTH_SAYING_SHARE and felt
