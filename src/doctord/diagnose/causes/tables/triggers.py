"""Triggers: what a write does besides what its statement says."""

from collections.abc import Iterator
from typing import NamedTuple

from doctord.analyse.sql.dependencies import EXECUTES, Trigger, bare
from doctord.analyse.sql.statements import Statement
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.scans import asks_for, per_call
from doctord.diagnose.common.slowed import is_slowed, severity
from doctord.diagnose.common.whole_reads import MOST, WholeRead, dependencies, in_its_blocks, scanned, whole_reads
from doctord.diagnose.finding import Claim, Evidence, NotMeasured, measured
from doctord.diagnose.phrase import phrase
from doctord.diagnose.words import shortened

WRITES = {
    "insert": "pg_stat_user_tables.n_tup_ins",
    "update": "pg_stat_user_tables.n_tup_upd",
    "delete": "pg_stat_user_tables.n_tup_del",
}
FUNCTION_TIME = "pg_stat_user_functions.total_time"
NO_TIMES = NotMeasured(
    "how long the trigger's function takes",
    "track_functions is none",
    "ALTER SYSTEM SET track_functions = 'pl' and reload; then pg_stat_user_functions tells",
)


class Fired(NamedTuple):
    """A statement that fires a trigger whose function reads a table whole; `is_known`: its source names the table."""

    statement: Statement
    trigger: Trigger
    is_known: bool


@cause(
    explains=(
        "missing_index",
        "index_not_used",
        "statement_dominates",
        "few_rows_of_many_blocks",
        "cpu_saturated",
        "cpu_few_statements",
        "buffer_pool_small",
        "device_saturated",
    )
)
def trigger_reads_table(case: Case) -> Iterator[Claim]:
    """A trigger reads a whole large table each time that it fires.

    Looks like: a plain INSERT, UPDATE or DELETE that takes milliseconds and looks at thousands of blocks; its table has
        a trigger, and a large table is read by sequential scans as often as rows are written.
    Hurts because: what the trigger's function does is part of every such statement, and holds its locks as long; where
        it counts what was written, each write is slower than the one before.
    Speaks for it: the trigger, and the table among what its function names; rows read for each row written; how much of
        what the statement looks at is of that table; the function's own time.
    Speaks against it: a function that does not name the table (it makes up its statements); a statement that has a
        condition on the table itself.
    Remedy: PostgreSQL: let the function add what changed to a total instead of counting anew; an index on what it
        looks for; a trigger for each statement with transition tables in place of one for each row; or no trigger.
        auto_explain.log_nested_statements shows the plans within, track_functions the time.
    Verify: The scans of the table stop; the statement's time per call falls.
    Source: PostgreSQL documentation, "Overview of Trigger Behavior", pg_trigger, pg_stat_user_functions, auto_explain.
    """
    for read in whole_reads(case):
        fired = next(_fired(case, read), None)
        if fired is None:
            continue
        part = read.part_of(fired.statement)
        share = fired.statement.share * (1.0 if part is None else part)
        slowed = is_slowed(fired.statement, 1.0 if part is None else part)
        if slowed or case.worth_saying(share):
            yield _claim(case, read, fired, share, slowed=slowed)


def _claim(case: Case, read: WholeRead, fired: Fired, share: float, *, slowed: bool) -> Claim:
    trigger, statement = fired.trigger, fired.statement
    return Claim(
        phrase("Trigger {} of {} reads all of table {} for each {}",
               trigger.name, trigger.table, read.table, "row written" if trigger.level == "row" else "statement"),
        impact=measured(share),
        confidence=_confidence(read, fired),
        severity=severity(case, share, slowed=slowed),
        for_=[
            Evidence("setting", f"component = 'pg_trigger' and name = '{read.database}.{trigger.table} {trigger.name}'",
                     phrase("{} {} for each {}: function {}", trigger.when, ", ".join(trigger.events), trigger.level,
                            trigger.function),
                     "", "its source names the table" if fired.is_known else "what it reads, its source does not tell"),
            scanned(read),
            *_for_each_row(case, read, trigger),
            Evidence("statement", f"statement_id = '{statement.statement_id}'", per_call(statement), "",
                     shortened(statement.text or "")),
            *in_its_blocks(read, statement),
            *_function(case, read, trigger),
        ],
        against=_against(read, fired),
        not_measured=[] if _function(case, read, trigger) else [NO_TIMES],
        database=read.figure.db,
    )  # fmt: skip


def _confidence(read: WholeRead, fired: Fired) -> float:
    if asks_for(fired.statement, read.table):
        return 0.6
    measured_part = read.part_of(fired.statement) is not None
    return (0.95 if measured_part else 0.75) if fired.is_known else 0.6


def _fired(case: Case, read: WholeRead) -> Iterator[Fired]:
    """What may be behind the scans, the statement with most time first; those with a trigger known to read it first."""
    depends = dependencies(case, read)
    own = [one for one in case.statements if one.db == read.figure.db and one.calls_per_s and _may_read(read, one)]
    found = [
        Fired(one, trigger, read.table in depends.reads(trigger.function))
        for one in own
        for trigger in depends.triggers(one.text or "")
    ]
    yield from (fired for fired in found if fired.is_known)
    # a function that makes up its statements does not name the table: then its statement's own work has to show it
    yield from (
        fired
        for fired in found
        if _may_read_any(depends.reads(fired.trigger.function))
        and (read.part_of(fired.statement) or 0.0) >= MOST
        and not asks_for(fired.statement, read.table)
    )


def _may_read_any(reads: frozenset[str]) -> bool:
    return not reads or EXECUTES in reads


def _may_read(read: WholeRead, statement: Statement) -> bool:
    part = read.part_of(statement)
    return part is None or part > 0


def _for_each_row(case: Case, read: WholeRead, trigger: Trigger) -> list[Evidence]:
    """Rows read by scans for each row that is written."""
    entity = f"{read.database}.{trigger.table}"
    names = [WRITES[event] for event in trigger.events if event in WRITES]
    written = sum(
        it.mean for name in names for it in case.figures(name) if (it.db, it.entity) == (read.figure.db, entity)
    )
    if not written:
        return []
    told = ", ".join(f"'{name}'" for name in names)
    return [
        Evidence("statistic", f"name in ({told}) and entity = '{entity}'",
                 phrase("{:,.0f} rows of {} are read for each row that is written to {}", read.figure.mean / written,
                        bare(read.table), bare(trigger.table)),
                 "", phrase("{:.1f rows/s} are written", written))
    ]  # fmt: skip


def _function(case: Case, read: WholeRead, trigger: Trigger) -> list[Evidence]:
    """The time in the trigger's function, where the server counts it."""
    entity = f"{read.database}.{trigger.function}"
    return [
        Evidence("statistic", f"name = '{FUNCTION_TIME}' and entity = '{entity}'",
                 phrase("{:.2g s per s} in function {}", it.mean / 1000, trigger.function), "",
                 "with all that it calls")
        for it in case.figures(FUNCTION_TIME)
        if (it.db, it.entity) == (read.figure.db, entity)
    ]  # fmt: skip


def _against(read: WholeRead, fired: Fired) -> list[Evidence]:
    found = []
    if asks_for(fired.statement, read.table):
        found.append(
            Evidence("statement", f"statement_id = '{fired.statement.statement_id}'",
                     phrase("it has a condition on {} itself", read.table), "",
                     "the scan may be its own: look at its plan")
        )  # fmt: skip
    if not fired.is_known:
        found.append(
            Evidence("setting", f"component = 'pg_proc' and name = '{read.database}.{fired.trigger.function}'",
                     "its source does not name the table", "", "another way may lead to the table")
        )  # fmt: skip
    return found
