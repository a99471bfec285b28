"""What is logged of statements: a log that grows by megabytes a second, and what its writers lose by it."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import polars as pl

from doctord.analyse.sql.statements import Statement
from doctord.analyse.storage.device_paths import device_paths
from doctord.analyse.storage.filesystems import left_bytes
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.service.logging_settings import settings_in_force
from doctord.diagnose.common.failures import COMMITS, MESSAGES, ROLLBACKS
from doctord.diagnose.common.scans import per_call
from doctord.diagnose.common.slowed import is_slowed, on_cpu_ms
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence, NotMeasured
from doctord.diagnose.phrase import Words, phrase
from doctord.diagnose.words import shortened

BYTES, LINES, PLANS = "log.written_bytes", "log.written_lines", "log.plans"
# Ninety gigabytes a day: nobody reads that. A server that logs each of a hundred transactions a second writes a tenth.
HEAVY_BYTES: Final = 2**20
# Some seven of a transaction of pgbench, each statement logged; a plan has as many by itself.
MANY_LINES: Final = 50.0
# What is full before the night is over; a log is rotated and taken away once a day, if at all.
SOON_S: Final = 6 * 3600.0
# The least that the session itself spends on a CPU for what it logs, the kernel's part with it. PostgreSQL 15, a
# function of 200 look-ups: 0.4 ms of CPU a call; 2.4 ms with their plans in the log (70 kB), 2.0 ms with log_analyze
# (78 kB): 28 and 20 ns a byte; 31 with log_statement_stats, and 160 where each statement is a line of its own.
PER_BYTE_S: Final = 20e-9
# The most, by the same measurement: what a call spends beyond that outside its execution it spends on something else,
# planning say.
MOST_PER_BYTE_S: Final = 160e-9
MOST: Final = 0.5
# As much of all CPUs (0 to 1) as would leave some of them idle.
OF_CPUS: Final = 0.25
WHICH: Final = NotMeasured(
    "which settings have so much logged",
    "neither those of the server nor those of a database or role do",
    "look into the log: the application may SET them, or LOAD auto_explain, for its sessions.",
)


class Slowed(NamedTuple):
    """A statement whose callers lose time by what is logged, what part (0 to 1) of its time, and of how much."""

    statement: Statement
    part: float
    each_ms: float


@cause(explains=("statement_slower_than_before",))
def statements_logged_heavily(case: Case) -> Iterator[Claim]:
    """So much is logged of statements that their callers lose time, or the log fills its file system.

    Looks like: the server's log grows by megabytes a second, dozens of lines for each transaction; statements take
        milliseconds on a CPU, and neither blocks nor rows say for what; no wait shows it.
    Hurts because: the session itself writes each line and formats it before, plans above all; auto_explain.log_analyze
        counts and times each row of each node of all statements. All lines go through one pipe to one process, and then
        to a disk that becomes full.
    Speaks for it: bytes and lines of the log a second, and for each transaction; the settings in force; what it takes
        at the least to write as much, beside the time that sessions are on a CPU; time of calls outside the execution
        that pg_stat_statements times; the kernel's part of the CPU time; how long the room lasts. A warning where a
        statement that is executed often loses half of its time so (a quarter where there are dozens of lines for each
        transaction), or where the log's file system is full within hours.
    Speaks against it: errors that fill the log; statements that are quick all the same.
    Remedy: Log what is slow: log_min_duration_statement = 250ms, and a sample of the rest (log_min_duration_sample with
        log_statement_sample_rate); log_statement = ddl. PostgreSQL: auto_explain.log_min_duration = 1s and more,
        auto_explain.sample_rate = 0.01, log_timing = off, log_nested_statements only while one looks for something;
        log_executor_stats and its like, and debug_print_*, off. pgaudit: object auditing (pgaudit.role) of the tables
        that matter in place of all classes. What pg_stat_statements adds up of each call need not be logged.
    Verify: The log grows by kilobytes a second; the statement's time for each call falls.
    Source: PostgreSQL documentation, "Error Reporting and Logging", "When to Log", auto_explain (log_analyze,
        log_timing: "can have an extremely negative impact on performance"), "Statistics Monitoring"; pgAudit,
        "Settings".
    """
    for db in case.dbs:
        size, lines = case.total(BYTES, db), case.total(LINES, db) or 0.0
        if size is None:
            continue
        writing, on_cpu = size * PER_BYTE_S, case.time.kind_share("cpu") * case.time.seconds_per_second
        part = min(writing / on_cpu, 1.0) if on_cpu else 0.0
        are_many = lines >= MANY_LINES * (_ended(case, db) or lines)
        slowed = _slowed(case, db, part, are_many=are_many)
        if size >= HEAVY_BYTES or (slowed and are_many):
            yield _claim(case, db, (size, lines, writing), part, slowed)


def _ended(case: Case, db: str) -> float:
    """Transactions that ended a second."""
    return (case.total(COMMITS, db) or 0.0) + (case.total(ROLLBACKS, db) or 0.0)


def _claim(case: Case, db: str, written: tuple[float, float, float], part: float, slowed: Slowed | None) -> Claim:
    size, lines, writing = written
    settings, full = settings_in_force(case, db), _full(case, db, size)
    against = [*_errors(case, db, lines), *([] if slowed else _quick(case, db))]
    return Claim(
        phrase("The log grows by {:bytes/s}, {:,.0f lines/s}{}", size, lines, _title(settings, slowed)),
        impact=NOT_MEASURED if slowed else case.unfelt,
        confidence=0.85 if settings and not against else 0.6,
        severity="warning" if slowed or full else "note",
        for_=[
            Evidence("statistic", f"name = '{BYTES}' and db = '{db}'", phrase("{:bytes/s}", size),
                     phrase("{:bytes/s}", HEAVY_BYTES), phrase("{:bytes} a day", size * 86400),
                     "at_least" if size >= HEAVY_BYTES else None),
            *_each(case, db, size, lines),
            *settings,
            *_plans(case, db),
            Evidence("statistic", f"name in ('{BYTES}', '{LINES}') and db = '{db}'",
                     phrase("{:.2g s per s} at the least to write it", writing), "",
                     phrase("{:share} of the time that sessions are on a CPU; the timing of plans (log_analyze) not "
                            "counted", part)),
            *_kernel(case),
            *([_told(slowed)] if slowed else []),
            *full,
        ],
        against=against,
        not_measured=() if settings else (WHICH,),
        explains=_symptoms(case, part, writing),
        database=db,
    )  # fmt: skip


def _symptoms(case: Case, part: float, writing: float) -> tuple[str, ...]:
    """What else is said of the same time: of the host's CPUs only where writing takes a good part of these."""
    if part < MOST:
        return ()
    of_cpus = ("cpu_saturated", "cpu_few_statements") if case.cpus and writing >= OF_CPUS * case.cpus else ()
    return ("statement_dominates", *of_cpus)


def _title(settings: Sequence[Evidence], slowed: Slowed | None) -> Words:
    first = phrase(", by {}", settings[0].figure) if settings else ""
    told = phrase("; a statement that takes {:.1f ms} pays for it", slowed.each_ms) if slowed else ""
    return phrase("{}{}", first, told)


def _slowed(case: Case, db: str, part: float, *, are_many: bool) -> Slowed | None:
    """The statement with most time whose callers lose by it: what is written, or what it does outside its execution.

    Plans are written when the execution is over and pg_stat_statements has timed it; those of statements within a
    function are part of the execution of the one that calls it. What is known of the time is the least: where dozens of
    lines are written for each transaction (`are_many`) half as large a part is enough. Elsewhere what is outside the
    execution may be anything, planning above all: it counts as far as so many bytes can take it.
    """
    most = 1.0 if are_many else part * MOST_PER_BYTE_S / PER_BYTE_S
    for one in (one for one in case.statements if one.db == db and one.elapsed_ms is not None):
        execution = one.elapsed_ms or 0.0
        each = max(execution, on_cpu_ms(case, one) or 0.0)
        lost = max(part, min(1 - execution / each if each else 0.0, most))
        if is_slowed(one, 2 * lost if are_many else lost, each):
            return Slowed(one, lost, each)
    return None


def _told(slowed: Slowed) -> Evidence:
    one = slowed.statement
    return Evidence("statement", f"statement_id = '{one.statement_id}'",
                    phrase("{:.1f ms} a call, {:share} of it for the log, or outside the execution", slowed.each_ms,
                           slowed.part),
                    "", phrase("{}: {}", per_call(one), shortened(one.text or "")))  # fmt: skip


def _each(case: Case, db: str, size: float, lines: float) -> list[Evidence]:
    ended = _ended(case, db)
    if not ended:
        return []
    return [
        Evidence("statistic", f"name in ('{LINES}', '{COMMITS}') and db = '{db}'",
                 phrase("{:,.1f lines for each transaction}", lines / ended), "",
                 phrase("{:bytes} each, of {:.0f transactions/s}", size / ended, ended))
    ]  # fmt: skip


def _plans(case: Case, db: str) -> list[Evidence]:
    plans = case.total(PLANS, db)
    if not plans:
        return []
    return [
        Evidence("statistic", f"name = '{PLANS}' and db = '{db}'", phrase("{:rate plans}", plans), "", "auto_explain")
    ]


def _kernel(case: Case) -> list[Evidence]:
    """What part of the time of the database's processes on a CPU is the kernel's: write(2) is there."""
    rows = case.dataset.rows("process", pl.col("command").str.starts_with("postgres:"), "sys_pct", "usr_pct")
    system, user = (float(rows[column].sum() or 0.0) for column in rows.columns)
    if not system + user:
        return []
    return [
        Evidence("process", "command like 'postgres:%'",
                 phrase("{:share} of the CPU time of its processes is in the kernel", system / (system + user)), "",
                 "where each line is written")
    ]  # fmt: skip


def _full(case: Case, db: str, size: float) -> list[Evidence]:
    """That the room of the log's file system lasts for hours only."""
    ways = [way for way in device_paths(case.dataset) if way.holds == "log" and way.db in (None, db)]
    left = left_bytes(case.dataset, ways[0].folder) if len(ways) == 1 else None
    if left is None or not size or left / size > SOON_S:
        return []
    return [
        Evidence("filesystem", f"mount = '{ways[0].mount}'",
                 phrase("{:duration} until its file system is full", left / size), phrase("{:duration}", SOON_S),
                 phrase("{:bytes} are left for {}", left, ways[0].folder), "at_most")
    ]  # fmt: skip


def _errors(case: Case, db: str, lines: float) -> list[Evidence]:
    """That most of the lines may be of errors."""
    errors = sum(it.mean for it in case.figures(MESSAGES) if it.db == db)
    if not lines or errors < MOST * lines / 2:  # an error has its statement in a line of its own
        return []
    return [Evidence("statistic", f"name = '{MESSAGES}' and db = '{db}'", phrase("{:rate errors}", errors), "",
                     "they write most of it")]  # fmt: skip


def _quick(case: Case, db: str) -> list[Evidence]:
    """That no statement is seen to lose by it."""
    calls = sum(one.calls_per_s or 0.0 for one in case.statements if one.db == db)
    if not calls:
        return []
    return [Evidence("statement", f"db = '{db}'", phrase("{:rate executions}", calls), "",
                     "none of which is seen to lose half of its time by it, and 5 ms")]  # fmt: skip
