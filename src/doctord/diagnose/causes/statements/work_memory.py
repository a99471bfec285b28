"""A server whose work_mem is as small as a number that somebody wrote without its unit."""

from collections.abc import Iterator
from typing import Final

from doctord.analyse.sql.statements import Statement
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.statements.worse_settings import SLIP_BYTES, SORTS, SUBPLAN, spills
from doctord.diagnose.common.scans import per_call
from doctord.diagnose.common.slowed import FELT_MS
from doctord.diagnose.finding import WARNING_SHARE, Claim, Evidence, NotMeasured, at_most
from doctord.diagnose.phrase import phrase
from doctord.diagnose.words import shortened
from doctord.units import setting_number

WORK_MEM: Final = "work_mem"
# What a bitmap needs for a page whose rows it knows one by one; for want of it, it knows the page alone.
BYTES_OF_A_PAGE: Final = 72.0
MOST_TOLD: Final = 3
THE_PLAN: Final = NotMeasured(
    "what of the statement's plan wants memory",
    "plans are not recorded",
    "explain (analyze, buffers): Heap Blocks: lossy, Rows Removed by Index Recheck, external merge, Batches above 1",
)


@cause(explains=("statement_dominates", "cpu_few_statements"))
def work_mem_slip(case: Case) -> Iterator[Claim]:
    """work_mem of the whole server is so small that bitmaps, sorts and hashes of ordinary statements do not fit.

    Looks like: work_mem below 1 MB (64 kB is the least, and 4 MB what it comes with), as `work_mem = 64` makes it: a
        number without a unit is in kB; a statement takes much of the time that looks at more pages a call than a bitmap
        of that size can tell apart, or sorts, or has a subquery that would be hashed.
    Hurts because: a bitmap that does not fit keeps pages in place of rows, and the condition is computed anew for each
        row of them; a subplan is not hashed and runs for each row; a plan is taken that can do without sorting.
    Speaks for it: the setting in force; statements of that kind, with their share of database time.
    Speaks against it: nothing that is counted: whether a bitmap was lossy, its plan alone tells.
    Remedy: Give it its unit: work_mem = '64MB' (or what connections times sorts leave room for), by ALTER SYSTEM or
        in postgresql.conf, and a reload: pg_settings.unit says what a number is in.
    Verify: show work_mem in a new session; the statement's time a call falls; explain (analyze) tells no lossy blocks,
        no external merge.
    Source: PostgreSQL documentation, work_mem, "Parameter Names and Values" (units), "Using EXPLAIN" (lossy blocks,
        Index Recheck); its source, tidbitmap.c (tbm_calculate_entries), for the memory of a page.
    """
    for db in (one for one in case.dbs if one.startswith("postgresql")):
        memory = setting_number(case.setting(WORK_MEM, db) or "", "kB")
        if memory is None or memory >= SLIP_BYTES:
            continue
        told = [one for one in case.statements if one.db == db and _wants_memory(case, one)]
        share = min(sum(one.share for one in told), 1.0)
        if not case.worth_saying(share):
            continue
        yield Claim(
            phrase("work_mem is {:bytes}: bitmaps of more than {:,.0f} pages, sorts and hashes may not fit", memory,
                   memory / BYTES_OF_A_PAGE),
            impact=at_most(share),
            confidence=0.6,
            severity="warning" if share >= WARNING_SHARE else "note",
            for_=[
                Evidence("setting", f"name = '{WORK_MEM}' and db = '{db}'", phrase("{} = {:bytes}", WORK_MEM, memory),
                         phrase("{:bytes}", SLIP_BYTES), "a number without its unit is in kB", "at_most"),
                *(Evidence("statement", f"statement_id = '{one.statement_id}'",
                           phrase("{:share of database}: {}", one.share, shortened(one.text or "")), "", per_call(one))
                  for one in told[:MOST_TOLD]),
            ],
            not_measured=[THE_PLAN],
            database=db,
        )  # fmt: skip


def _wants_memory(case: Case, one: Statement) -> bool:
    """Whether a statement that its callers wait for looks at too many pages for a bitmap of its size, or sorts.

    What goes to files is counted, and `sort_spill`'s.
    """
    memory = setting_number(case.setting_for(WORK_MEM, one.db, one.statement_id) or "", "kB")
    if memory is None or memory >= SLIP_BYTES or spills(one) or (one.elapsed_ms or 0.0) < FELT_MS:
        return False
    pages = (one.gets_per_s or 0.0) / (one.calls_per_s or 1.0)
    sorts = any(pattern.search(one.text or "") for pattern in (SORTS, SUBPLAN))
    return sorts or pages * BYTES_OF_A_PAGE > memory
