"""Event triggers: what each statement that defines something does besides."""

from collections import defaultdict
from collections.abc import Iterator

import polars as pl

from doctord.analyse.sql.dependencies import EVENT_TRIGGERS, Dependencies, EventTrigger
from doctord.analyse.sql.statements import Statement
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.tables.triggers import FUNCTION_TIME, NO_TIMES
from doctord.diagnose.common.slowed import FELT_MS, OFTEN_PER_S, severity
from doctord.diagnose.finding import Claim, Evidence, at_most, measured
from doctord.diagnose.phrase import phrase
from doctord.diagnose.words import shortened

MOST_TOLD = 3
# Half of what these statements take: without the trigger they would take half as long.
AVOIDABLE = 0.5


@cause(explains=("statement_dominates", "cpu_few_statements", "cpu_saturated", "work_at_commit", "planning_slow"))
def event_trigger_slow(case: Case) -> Iterator[Claim]:
    """An event trigger makes each CREATE, ALTER or DROP slow, and a service defines things all the time.

    Looks like: statements that define something, as CREATE TEMP TABLE, several times a second and at many milliseconds
        each; an event trigger is there for them.
    Hurts because: its function is part of each such statement, be it for a temporary table that lives for a moment.
    Speaks for it: the trigger, its event, commands and function; how often such statements run and how long they take;
        the function's own time where functions are tracked.
    Speaks against it: a function that is known to take little of that.
    Remedy: Let the function leave early for what it is not there for: pg_event_trigger_ddl_commands() tells schema_name
        (pg_temp) and object_type; or WHEN TAG IN (...) of CREATE EVENT TRIGGER; ALTER EVENT TRIGGER ... DISABLE for
        now. A service that makes a temporary table for each request may do without: TRUNCATE, or a CTE.
        PostgreSQL: auto_explain.log_nested_statements shows the plans within, track_functions the time.
    Verify: The time per call of CREATE TEMP TABLE falls to a millisecond or two.
    Source: PostgreSQL documentation, "Event Triggers", CREATE EVENT TRIGGER, "Event Trigger Functions",
        pg_stat_user_functions.
    """
    for db, database in _databases(case):
        known = Dependencies(case.dataset, db, database)
        fired = defaultdict[EventTrigger, list[Statement]](list)
        for one in case.statements:
            for trigger in known.event_triggers(one.text or "") if one.db == db else ():
                fired[trigger].append(one)
        for trigger, statements in fired.items():
            yield from _claim(case, db, database, trigger, statements)


def _databases(case: Case) -> list[tuple[str, str]]:
    """The databases that have event triggers, with their servers."""
    told = case.dataset.frame("setting").filter(pl.col("component") == EVENT_TRIGGERS)
    return sorted({(db, name.partition(".")[0]) for db, name in told.select("db", "name").iter_rows()})


def _claim(case: Case, db: str, database: str, trigger: EventTrigger, statements: list[Statement]) -> Iterator[Claim]:
    calls = sum(one.calls_per_s or 0.0 for one in statements)
    spent_ms = sum((one.calls_per_s or 0.0) * (one.elapsed_ms or 0.0) for one in statements)
    share = sum(one.share for one in statements)
    if calls < OFTEN_PER_S or spent_ms < FELT_MS * calls:
        return
    own = _in_function(case, db, database, trigger)
    part = None if own is None else min(own / spent_ms, 1.0)
    if part is not None and part < AVOIDABLE:
        return
    yield Claim(
        phrase("Event trigger {} runs for each statement that defines something: {:.3g ms a call}, {:.3g calls/s}",
               trigger.name, spent_ms / calls, calls),
        impact=at_most(share) if part is None else measured(share * part),
        confidence=0.6 if part is None else 0.9,
        severity=severity(case, share, slowed=True),
        for_=[
            Evidence("setting", f"component = 'pg_event_trigger' and name = '{database}.{trigger.name}'",
                     phrase("{}{}: function {}", trigger.event,
                            f" ({', '.join(trigger.commands)})" if trigger.commands else "", trigger.function),
                     "", "it is enabled"),
            Evidence("statement", f"db = '{db}'", phrase("{:.3g ms a call}", spent_ms / calls),
                     phrase("{:.3g ms}", FELT_MS), phrase("{:.3g calls/s}", calls), "at_least"),
            *(Evidence("statement", f"statement_id = '{one.statement_id}'", phrase("{:share of database}", one.share),
                       "", shortened(one.text or "")) for one in statements[:MOST_TOLD]),
            *([] if part is None else [
                Evidence("statistic", f"name = '{FUNCTION_TIME}'", phrase("{:share} of that in its function", part), "",
                         "")
            ]),
        ],
        not_measured=[NO_TIMES] if part is None else [],
        database=db,
    )  # fmt: skip


def _in_function(case: Case, db: str, database: str, trigger: EventTrigger) -> float | None:
    """Milliseconds a second that its function takes; null where functions are not tracked."""
    one = case.figure(FUNCTION_TIME, db, f"{database}.{trigger.function}")
    return one and one.mean
