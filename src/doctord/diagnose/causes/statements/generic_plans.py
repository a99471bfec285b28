"""Plans for no value: a server that plans prepared statements once, whatever they are then called with."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from doctord.analyse.sql.role_settings import of_server
from doctord.analyse.sql.statements import Statement
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.statements.worse_settings import ON_TABLES, PARAMETER
from doctord.diagnose.common.scans import AGGREGATES, per_call, scans
from doctord.diagnose.common.slowed import FELT_MS, is_slowed, works
from doctord.diagnose.finding import Claim, Evidence, NotMeasured, at_most
from doctord.diagnose.phrase import phrase
from doctord.diagnose.words import shortened

MODE: Final = "plan_cache_mode"
FORCED: Final = "force_generic_plan"
# A look-up, or a page of a list: for so few rows an index is the way, whatever the plan.
FEW_ROWS: Final = 100.0
# An index leads to a row by four or five blocks; ten times as many are looked at for rows that are thrown away.
BLOCKS_PER_ROW: Final = 50.0
# A worker is started for a plan that is thought dear (parallel_setup_cost is 1000): one sample may be of a rare value.
LEAST_WORKERS: Final = 3
MOST_TOLD: Final = 3


@cause(
    explains=(
        "few_rows_of_many_blocks",
        "jit_compiles_much",
        "cpu_saturated",
        "cpu_few_statements",
        "statement_dominates",
    )
)
def generic_plan_forced(case: Case) -> Iterator[Claim]:
    """A statement is slow on a server that plans prepared statements for no value (force_generic_plan).

    Looks like: plan_cache_mode = force_generic_plan for the whole server, and a statement with parameters that takes
        milliseconds and more for a handful of rows, mostly on a CPU; EXPLAIN with the values written out shows a quick
        plan.
    Hurts because: without the values the planner counts with as many rows as a value has on average: where values
        differ much, that is wrong for most of them. It then reads far more than it finds, joins in the wrong order, or
        starts workers and compiles (JIT) for rows that are not there.
    Speaks for it: the setting; time, blocks and rows of a call; parallel workers for a statement of few rows.
    Speaks against it: few blocks for each row, and no workers: then the plan may well be right, and the time go
        elsewhere. A statement that is not prepared, nor within a function, is planned with its values all the same.
    Remedy: SET plan_cache_mode = auto for the role (ALTER ROLE ... SET), or for all (ALTER SYSTEM RESET and a reload,
        which sessions follow at their next execution): the server then plans for no value only where that seems no
        dearer. Where the setting is there to spare planning (very many partitions, very large joins), leave it to the
        roles or functions that gain by it.
    Verify: The statement's time and blocks per call fall; planning (pg_stat_statements.track_planning) does not take up
        what is won.
    Source: PostgreSQL documentation, plan_cache_mode, PREPARE (Notes), "Plan Caching" in PL/pgSQL, EXPLAIN
        (GENERIC_PLAN, from version 16 on), pg_prepared_statements.
    """
    forced = {db for db in case.dbs if of_server(case.dataset, MODE, db) == FORCED}
    told = [one for one in case.statements if one.db in forced and _may_suffer(case, one)] if forced else []
    named = {(scan.statement.db, scan.statement.statement_id) for scan in scans(case)} if told else set()
    slow = [one for one in told if (one.db, one.statement_id) not in named]
    for one in sorted(slow, key=lambda one: -len(_signs(case, one)))[:MOST_TOLD]:
        signs = _signs(case, one)
        yield Claim(
            phrase("A statement is planned for no value (plan_cache_mode = force_generic_plan) and takes {:.3g ms}: {}",
                   one.elapsed_ms, shortened(one.text or "")),
            impact=at_most(one.share),
            confidence=0.75 if signs else 0.4,
            severity="warning" if signs else "note",
            for_=[_setting(), _time(one), *signs],
            against=[] if signs else [_few_blocks(one)],
            not_measured=[_plan(one)],
            first_steps=[phrase("First: SET plan_cache_mode = auto in one session, prepare and execute the statement "
                                "with values of the application, and compare its time.")],
            database=one.db,
        )  # fmt: skip


def _may_suffer(case: Case, one: Statement) -> bool:
    """Whether a statement has parameters, takes long for few rows, works meanwhile, and is under that setting."""
    text = one.text or ""
    is_planned = ON_TABLES.search(text) is not None and PARAMETER.search(text) is not None
    is_few = one.rows_per_call is not None and one.rows_per_call <= FEW_ROWS
    if not is_planned or not is_few or not is_slowed(one, 1.0) or not works(case, one):
        return False
    return case.setting_for(MODE, one.db, one.statement_id) == FORCED


def _signs(case: Case, one: Statement) -> list[Evidence]:
    """What shows that a call does more than its rows need."""
    where, found = f"statement_id = '{one.statement_id}'", list[Evidence]()
    rows, is_sum = max(one.rows_per_call or 0.0, 1.0), AGGREGATES.search(one.text or "") is not None
    if one.blocks_per_call is not None and not is_sum and one.blocks_per_call >= BLOCKS_PER_ROW * rows:
        found.append(
            Evidence("statement", where, phrase("{:,.0f} blocks for each row", one.blocks_per_call / rows),
                     phrase("{:.0f}", BLOCKS_PER_ROW), phrase("{:,.0f} blocks a call", one.blocks_per_call), "at_least")
        )  # fmt: skip
    workers = _workers(case, one)
    if workers >= LEAST_WORKERS:
        found.append(
            Evidence("session", f"kind = 'parallel worker' and {where}",
                     phrase("{} samples of parallel workers", workers), phrase("{}", LEAST_WORKERS),
                     phrase("for {:,.1f} rows a call", one.rows_per_call), "at_least")
        )  # fmt: skip
    return found


def _workers(case: Case, one: Statement) -> int:
    sessions = case.dataset.frame("session")
    return sessions.filter(
        (pl.col("kind") == "parallel worker") & (pl.col("db") == one.db) & (pl.col("statement_id") == one.statement_id)
    ).height


def _setting() -> Evidence:
    return Evidence("setting", f"name = '{MODE}'", phrase("{} = {}", MODE, FORCED), "auto",
                    "one plan for whatever values it is called with")  # fmt: skip


def _time(one: Statement) -> Evidence:
    return Evidence("statement", f"statement_id = '{one.statement_id}'", phrase("{:.1f ms} a call", one.elapsed_ms),
                    phrase("{:.1f ms}", FELT_MS), per_call(one), "at_least")  # fmt: skip


def _few_blocks(one: Statement) -> Evidence:
    figure = "" if one.blocks_per_call is None else phrase("{:,.0f} blocks a call", one.blocks_per_call)
    return Evidence("statement", f"statement_id = '{one.statement_id}'", figure or "no blocks are told",
                    phrase("{:.0f} for each row", BLOCKS_PER_ROW),
                    "no workers were seen either: the plan may be right, and the time go elsewhere")  # fmt: skip


def _plan(one: Statement) -> NotMeasured:
    return NotMeasured(
        phrase("the plan of {} for no value, and for those that it is called with", one.statement_id),
        "plans are not recorded, and pg_prepared_statements shows a session its own alone",
        "EXPLAIN (GENERIC_PLAN) from version 16 on; PREPARE it, then EXPLAIN (ANALYZE, BUFFERS) EXECUTE with its "
        "values, under SET plan_cache_mode = force_generic_plan and force_custom_plan",
    )
