"""Whether one statement is behind a shortage of CPUs or of the disks: by what part of the samples it is.

A cause that is about one statement names the shortages that such a statement may make. A scan of what is in memory
makes no disk slow, and one that waits for the disk takes no CPU from others.
"""

from typing import Final

import polars as pl

from doctord.dataset.waits.kinds import READS
from doctord.diagnose.case import Case
from doctord.diagnose.explained import named
from doctord.diagnose.finding import Claim

OF_CPUS: Final = ("cpu", "run queue")
SHORTAGES: Final = {
    "cpu_saturated": OF_CPUS,
    "cpu_few_statements": OF_CPUS,
    "device_saturated": READS,
    "buffer_pool_small": READS,
}
# With a quarter of the demand gone a queue is plainly shorter.
PART: Final = 0.25


def may_be_behind(case: Case, name: str, claim: Claim, symptom: str) -> bool:
    """Whether the statement that a claim of the cause `name` is about may be behind a shortage.

    True where the symptom is none, where the claim is about no single statement, and where samples tell of no
    statement's part.
    """
    kinds, statements = SHORTAGES.get(symptom), named([(name, claim)]).statements
    if kinds is None or len(statements) != 1:
        return True
    rows = case.active.select("db", "event", "statement_id", "interval_s").filter(
        pl.col("event").is_in(case.time.events_of(*kinds)) & pl.col("statement_id").is_not_null()
    )
    if claim.database is not None:
        own = rows.filter((pl.col("statement_id") == next(iter(statements))) & (pl.col("db") == claim.database))
    else:
        own = rows.filter(pl.col("statement_id") == next(iter(statements)))
    whole_s = float(rows["interval_s"].sum())
    return not whole_s or float(own["interval_s"].sum()) >= PART * whole_s
