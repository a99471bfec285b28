"""Statements that take many times as long as they could: their callers lose that, however idle the server is.

docs/decisions/0028 argues the rule.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import polars as pl

from doctord.analyse.sql.statements import Statement
from doctord.dataset.tables import CLIENT
from doctord.diagnose.case import Case
from doctord.diagnose.finding import WARNING_SHARE, Severity

# Ten calls in the shortest check-up: what is called less often is a report or a job, and of these nobody can tell.
OFTEN_PER_S: Final = 0.5
# Ten times what a look-up by an index takes with all that is around it: less is felt by nobody.
FELT_MS: Final = 5.0
# At half its time a call is twice as long as it need be.
AVOIDABLE: Final = 0.5
# A statement that was seen at fewer looks may have been so by chance.
FEWEST_SAMPLES: Final = 20
ON_CPU: Final = ("cpu", "run queue")
OWN_WORK: Final = ("CPU", "Scheduler", "User I/O")
HALF: Final = 0.5


def is_slowed(one: Statement, avoidable: float, each_ms: float | None = None) -> bool:
    """Whether the callers of a statement lose time by it: it runs often, takes long, and need not for most of it.

    Args:
        one: the statement.
        avoidable: the part (0 to 1) of its time that something makes which could be mended.
        each_ms: how long a call takes, where that is more than the server times.
    """
    each = one.elapsed_ms if each_ms is None else each_ms
    return (one.calls_per_s or 0.0) >= OFTEN_PER_S and (each or 0.0) >= FELT_MS and avoidable >= AVOIDABLE


def severity(case: Case, share: float, *, slowed: bool) -> Severity | None:
    """A warning for what slows a statement down where its share would be less; null leaves it to the share.

    A share of next to no time at all is no reason to say more.
    """
    if case.worth_saying(share) and share >= WARNING_SHARE:
        return None
    return "warning" if slowed else "note"


def works(case: Case, one: Statement) -> bool:
    """Whether a statement works for most of its time: what waits for a lock is slow for another reason."""
    own = case.samples_of(one)
    working_s = float(own.filter(pl.col("wait_class").is_in(OWN_WORK))["interval_s"].sum())
    return working_s >= HALF * float(own["interval_s"].sum())


def on_cpu_ms(case: Case, one: Statement) -> float | None:
    """How long a call is on a CPU, planning included, by samples; null where they are too few.

    The server times the execution alone, unless pg_stat_statements.track_planning is on. A session that waits for
    nothing that has a name may sleep (commit_delay), or queue for a CPU: of its samples the part counts that the kernel
    had it on one, where that is known.
    """
    own = case.dataset.derived("session", _sampled_on_cpu).get((one.db, one.statement_id))
    calls = (one.calls_per_s or 0.0) * case.time.seconds
    if own is None or not calls or own.samples < FEWEST_SAMPLES:
        return None
    return own.seconds * _computing(case, own.pids) * 1000 / calls


def _computing(case: Case, pids: Sequence[int]) -> float:
    """The part (0 to 1) of the samples on a CPU in which the kernel counts them there; 1 where nobody tells."""
    counted = case.processes.filter(pl.col("pid").is_in([*pids]) & pl.col("cpu_s").is_not_null())
    is_theirs = pl.col("pid").is_in(counted["pid"].implode()) & pl.col("wait_kind").is_in(ON_CPU)
    sampled_s = float(case.active.filter(is_theirs)["interval_s"].sum())
    return min(float(counted["cpu_s"].sum()) / sampled_s, 1.0) if sampled_s else 1.0


class _OnCpu(NamedTuple):
    """Samples of a statement that waits for nothing: the seconds that they stand for, how many, and whose."""

    seconds: float
    samples: int
    pids: Sequence[int]


def _sampled_on_cpu(sessions: pl.DataFrame) -> dict[tuple[str | None, str], _OnCpu]:
    """The samples of each statement by server and number, without parallel workers: the leader's time is the call's."""
    rows = sessions.filter(
        (pl.col("kind") == CLIENT)
        & (pl.col("state") == "active")
        & pl.col("wait_kind").is_in(ON_CPU)
        & pl.col("statement_id").is_not_null()
    )
    by = rows.group_by("db", "statement_id", maintain_order=True)
    sums = by.agg(pl.col("interval_s").sum(), pl.len(), pl.col("pid").drop_nulls().unique(maintain_order=True))
    return {(db, number): _OnCpu(*own) for db, number, *own in sums.iter_rows()}
