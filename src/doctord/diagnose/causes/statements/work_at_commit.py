"""Work that hides in COMMIT: deferred triggers and foreign keys, temporary tables that are emptied."""

import re
from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import Final, NamedTuple

import polars as pl

from doctord.analyse.sql.dependencies import Dependencies, Trigger
from doctord.analyse.sql.statements import Statement
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.scans import per_call
from doctord.diagnose.common.slowed import AVOIDABLE, FELT_MS, OFTEN_PER_S, is_slowed, severity
from doctord.diagnose.common.slowed import FEWEST_SAMPLES as FEWEST_CALLS_SEEN
from doctord.diagnose.finding import Claim, Evidence, NotMeasured, at_most
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
SCANS: Final = "pg_stat_user_tables.seq_scan"
# An index is made anew by a scan that finds nothing: the table is empty by then.
USES: Final = (
    "pg_stat_user_tables.n_tup_ins", "pg_stat_user_tables.n_tup_upd", "pg_stat_user_tables.n_tup_del",
    "pg_stat_user_tables.seq_tup_read",
)  # fmt: skip
TEMPORARY: Final = regex(r".+\.pg_temp_\d+(?=\.)")
# Emptying one takes some 0.2 ms: from here on a commit takes several times as long as one that writes the log.
MANY_TABLES: Final = 20
INSIDE: Final = NotMeasured(
    "what runs within COMMIT",
    "statements of triggers are not counted by themselves",
    "auto_explain.log_nested_statements = on, or pg_stat_statements.track = all; track_functions = 'pl' for the "
    "functions' time",
)


class Taken(NamedTuple):
    """Calls of statements of one text: how long they run (ms), and take with their commit; their share of time."""

    text: str
    statement_id: str
    calls_per_s: float
    run_ms: float
    each_ms: float
    share: float

    @property
    def part(self) -> float:
        """The part (0 to 1) of what a call takes that comes after the statement."""
        return max(1 - self.run_ms / self.each_ms, 0.0) if self.each_ms else 0.0

    @property
    def is_slow(self) -> bool:
        """Whether its callers wait for that, again and again."""
        return self.calls_per_s >= OFTEN_PER_S and self.each_ms >= FELT_MS and self.part >= AVOIDABLE


class Emptied(NamedTuple):
    """Temporary tables of a session (`database.pg_temp_N`): empty, and each scanned `per_s` times a second."""

    db: str
    session: str
    tables: int
    per_s: float


@cause(explains=("statement_dominates", "cpu_saturated", "cpu_few_statements", "trigger_reads_table"))
def work_at_commit(case: Case) -> Iterator[Claim]:
    """COMMIT itself takes long, and not for the log: work that was put off until then is done in it.

    Looks like: sessions are active in COMMIT on a CPU, or read, for most of its time; a commit takes five milliseconds
        and more again and again; the statements before it are quick. A statement that is a transaction of its own takes
        much longer than the server says that it runs, in sessions with many temporary tables.
    Hurts because: each transaction pays for it at its end, with all of its locks held; the statement that caused it
        looks innocent, and whoever looks at commits looks at the log and its disk.
    Speaks for it: time and calls of COMMIT, how much of it is on a CPU or in reads; triggers that are deferred, of
        tables that are written; temporary tables of a session that are empty and scanned all the time, as their
        indexes are made anew.
    Speaks against it: time of COMMIT that is waiting for the log or a standby.
    Remedy: See what runs at the end of a transaction. A constraint trigger, or a foreign key, that is INITIALLY
        DEFERRED runs once for each row that was changed: what it reads needs an index, or it should fire at once, or
        once for each statement (ALTER CONSTRAINT ... NOT DEFERRABLE; SET CONSTRAINTS ... IMMEDIATE shows which it is).
        Temporary tables with ON COMMIT DELETE ROWS are truncated, and their indexes made anew, at each commit of a
        transaction that has used any temporary table, each that the session has: make those that a transaction needs,
        when it needs them (ON COMMIT DROP), or keep rows (ON COMMIT PRESERVE ROWS) and delete what was written. Cursors
        WITH HOLD are read to their end there.
    Verify: The mean time of COMMIT in pg_stat_statements falls to that of the log; that of a call, as its client sees
        it, to the time that the statement runs.
    Source: PostgreSQL documentation, CREATE TABLE (DEFERRABLE, INITIALLY DEFERRED, ON COMMIT), CREATE TRIGGER
        (CONSTRAINT), SET CONSTRAINTS, DECLARE (WITH HOLD).
    """
    yield from _emptying(case)
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


def _emptying(case: Case) -> Iterator[Claim]:
    """Statements that run for a small part of what they take, where commits empty temporary tables.

    Each session's tables are its own, and so is then what the server counts as a statement: the same texts are one.
    """
    for emptied in _emptied(case):
        texts = dict[str, list[Statement]]()
        for one in (each for each in case.statements if each.db == emptied.db and each.text):
            texts.setdefault(one.text or "", []).append(one)
        slow = [each for each in (_taken(case, text, same) for text, same in texts.items()) if each and each.is_slow]
        for taken in slow[:1]:
            yield Claim(
                phrase("A statement runs for {:.3g ms} and takes {:.3g ms}: its commit empties {:,} and more temporary "
                       "tables: {}", taken.run_ms, taken.each_ms, emptied.tables, shortened(taken.text)),
                impact=at_most(taken.share * taken.part),
                confidence=0.8,
                severity=severity(case, taken.share * taken.part, slowed=True),
                for_=[
                    Evidence("session", f"statement_id = '{taken.statement_id}'",
                             phrase("{:.1f ms} each call, by samples", taken.each_ms),
                             phrase("{:.1f ms}", taken.run_ms), "it runs for less: the rest comes after it",
                             "at_least"),
                    Evidence("statistic", f"name = '{SCANS}' and entity like '{emptied.session}.%'",
                             phrase("{:,} temporary tables of one session", emptied.tables),
                             phrase("{:,}", MANY_TABLES),
                             phrase("nothing is in them, and each is scanned {:.2g} times a second: as its index is "
                                    "made anew (ON COMMIT DELETE ROWS)", emptied.per_s), "at_least"),
                ],
                first_steps=(
                    "Make the temporary tables that a transaction needs, when it needs them, ON COMMIT DROP; or, of "
                    "those that are kept, ON COMMIT PRESERVE ROWS, and a DELETE or TRUNCATE of what was written.",
                ),
                explains=["planning_slow"],
                database=emptied.db,
            )  # fmt: skip


def _taken(case: Case, text: str, same: Sequence[Statement]) -> Taken | None:
    """How long calls take with their commit, by samples, whatever they wait for; null where they are too few."""
    calls_per_s = sum(one.calls_per_s or 0.0 for one in same)
    samples = [case.samples_of(one) for one in same]
    if COMMIT.match(text) or not calls_per_s or sum(each.height for each in samples) < FEWEST_CALLS_SEEN:
        return None
    sampled_s = sum(float(each["interval_s"].sum()) for each in samples)
    run_ms = sum((one.elapsed_ms or 0.0) * (one.calls_per_s or 0.0) for one in same) / calls_per_s
    each_ms = sampled_s * 1000 / (calls_per_s * case.time.seconds)
    return Taken(text, same[0].statement_id, calls_per_s, run_ms, each_ms, sum(one.share for one in same))


def _emptied(case: Case) -> Iterator[Emptied]:
    """Of each server the session with most temporary tables that are emptied at its commits, if it has many."""
    used = {(one.db, one.entity) for name in USES for one in case.figures(name) if one.mean > 0}
    sessions = dict[tuple[str, str], list[float]]()
    for one in case.figures(SCANS):
        temporary = TEMPORARY.match(one.entity or "")
        if temporary and one.db and one.mean > 0 and (one.db, one.entity) not in used:
            sessions.setdefault((one.db, temporary[0]), []).append(one.mean)
    for db in case.dbs:
        own = [(len(scans), session, fmean(scans)) for (of, session), scans in sessions.items() if of == db]
        tables, session, per_s = max(own, default=(0, "", 0.0))
        if tables >= MANY_TABLES:
            yield Emptied(db, session, tables, per_s)


def _own_part(case: Case, one: Statement) -> float | None:
    """The part (0 to 1) of a COMMIT's time that it works; null for other statements, and where too few samples tell."""
    if not one.db.startswith("postgresql") or COMMIT.match(one.text or "") is None:
        return None
    own = case.samples_of(one)
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
