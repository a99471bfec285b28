"""Work that hides in COMMIT: deferred triggers and foreign keys, temporary tables that are emptied."""

import re
from collections.abc import Iterator
from typing import Final

import polars as pl

from doctord.analyse.sql.dependencies import Dependencies, Trigger
from doctord.analyse.sql.statements import Statement
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.scans import per_call
from doctord.diagnose.common.slowed import is_slowed, severity
from doctord.diagnose.finding import Claim, Evidence, NotMeasured
from doctord.diagnose.phrase import phrase
from doctord.diagnose.words import shortened
from doctord.regex import regex

COMMIT: Final = regex(r"^\s*(commit|end)\b(?!\s+prepared)", re.IGNORECASE)
# A commit that writes the log waits for it; with half of its time on a CPU or in reads it does something else as well.
OWN_WORK: Final = ("CPU", "Scheduler", "User I/O")
HALF: Final = 0.5
# Fewer samples may have been chance.
FEWEST_SAMPLES: Final = 10
MOST_TOLD: Final = 3
INSIDE: Final = NotMeasured(
    "what runs within COMMIT",
    "statements of triggers are not counted by themselves",
    "auto_explain.log_nested_statements = on, or pg_stat_statements.track = all; track_functions = 'pl' for the "
    "functions' time",
)


@cause(explains=("statement_dominates", "cpu_saturated", "cpu_few_statements", "trigger_reads_table"))
def work_at_commit(case: Case) -> Iterator[Claim]:
    """COMMIT itself takes long, and not for the log: work that was put off until then is done in it.

    Looks like: sessions are active in COMMIT on a CPU, or read, for most of its time; a commit takes five milliseconds
        and more again and again; the statements before it are quick.
    Hurts because: each transaction pays for it at its end, with all of its locks held; the statement that caused it
        looks innocent, and whoever looks at commits looks at the log and its disk.
    Speaks for it: time and calls of COMMIT, how much of it is on a CPU or in reads; triggers that are deferred, of
        tables that are written.
    Speaks against it: time of COMMIT that is waiting for the log or a standby.
    Remedy: See what runs at the end of a transaction. A constraint trigger, or a foreign key, that is INITIALLY
        DEFERRED runs once for each row that was changed: what it reads needs an index, or it should fire at once, or
        once for each statement (ALTER CONSTRAINT ... NOT DEFERRABLE; SET CONSTRAINTS ... IMMEDIATE shows which it is).
        Temporary tables with ON COMMIT DELETE ROWS are truncated at each commit, each that the session has; cursors
        WITH HOLD are read to their end there.
    Verify: The mean time of COMMIT in pg_stat_statements falls to that of the log.
    Source: PostgreSQL documentation, CREATE TABLE (DEFERRABLE, INITIALLY DEFERRED, ON COMMIT), CREATE TRIGGER
        (CONSTRAINT), SET CONSTRAINTS, DECLARE (WITH HOLD).
    """
    for one in case.statements:
        part = _own_part(case, one)
        if part is None or part < HALF or not is_slowed(one, part):
            continue
        triggers = _deferred(case, one.db)
        yield Claim(
            phrase("COMMIT takes {:time}, {:share} of it work, and not the log{}", (one.elapsed_ms or 0.0) / 1000, part,
                   phrase(": deferred trigger {} of {}", triggers[0].name, triggers[0].table) if triggers else ""),
            impact=one.share * part,
            confidence=0.85 if triggers else 0.7,
            severity=severity(case, one.share * part, slowed=True),
            for_=[
                Evidence("session", f"statement_id = '{one.statement_id}'",
                         phrase("{:share} of the time in COMMIT is on a CPU or in reads", part),
                         phrase("{:share}", HALF), "its sessions work, and do not wait for the log", "at_least"),
                Evidence("statement", f"statement_id = '{one.statement_id}'", per_call(one), "",
                         shortened(one.text or "")),
                *(_trigger(each) for each in triggers[:MOST_TOLD]),
            ],
            not_measured=[INSIDE],
            database=one.db,
        )  # fmt: skip


def _own_part(case: Case, one: Statement) -> float | None:
    """The part (0 to 1) of a COMMIT's time that it works; null for other statements, and where too few samples tell."""
    if not one.db.startswith("postgresql") or COMMIT.match(one.text or "") is None:
        return None
    own = case.active.filter((pl.col("db") == one.db) & (pl.col("statement_id") == one.statement_id))
    if own.height < FEWEST_SAMPLES:
        return None
    working_s = float(own.filter(pl.col("wait_class").is_in(OWN_WORK))["interval_s"].sum())
    return working_s / float(own["interval_s"].sum())


def _deferred(case: Case, db: str) -> list[Trigger]:
    """Deferred triggers of the tables that the server's statements write, those of most calls first."""
    found = dict[tuple[str, str], Trigger]()
    databases = case.dataset.frame("statement").filter(pl.col("db") == db)["database"].drop_nulls()
    for database in databases.unique(maintain_order=True):
        depends = Dependencies(case.dataset, db, database)
        for one in sorted(case.statements, key=lambda it: -(it.calls_per_s or 0.0)):
            for trigger in depends.triggers(one.text or "") if one.db == db else ():
                if trigger.is_deferred:
                    found.setdefault((trigger.table, trigger.name), trigger)
    return [*found.values()]


def _trigger(one: Trigger) -> Evidence:
    return Evidence(
        "setting",
        f"component = 'pg_trigger' and name like '%{one.table} {one.name}'",
        phrase("{} {} for each {}, deferred: function {}", one.when, ", ".join(one.events), one.level, one.function),
        "",
        phrase("trigger {} of {} fires at COMMIT", one.name, one.table),
    )
