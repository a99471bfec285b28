"""What is logged of statements: a log that grows by megabytes a second, and what its writers lose by it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import polars as pl

from doctord.analyse.sql.statements import Statement
from doctord.analyse.storage.device_paths import device_paths
from doctord.analyse.storage.filesystems import left_bytes
from doctord.dataset.role_settings import COMPONENT, Scope, scope_of
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
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
# A statement that is quicker than this is logged for its own sake by nobody.
SMALL_MS: Final = 10.0
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
ON, DEBUG = ("on",), ("debug", "debug1", "debug2", "debug3", "debug4", "debug5")
# Settings that have statements logged whatever they take, and what of them that is.
WORDS: Final = (
    ("log_statement", ("all", "mod"), "each statement, before it is executed"),
    ("log_duration", ON, "the time of each statement"),
    ("log_min_messages", DEBUG, "what the server does, step by step"),
    ("log_statement_stats", ON, "resource usage of each statement, in a dozen lines"),
    ("log_executor_stats", ON, "resource usage of each execution, in a dozen lines"),
    ("log_planner_stats", ON, "resource usage of each planning, in a dozen lines"),
    ("log_parser_stats", ON, "resource usage of each parse, rewrite and analysis, a dozen lines for each"),
    ("debug_print_plan", ON, "the tree of each plan, in hundreds of lines"),
    ("debug_print_parse", ON, "the tree of each query, in hundreds of lines"),
    ("debug_print_rewritten", ON, "the tree of each rewritten query, in hundreds of lines"),
)
LEAST_MS: Final = (
    ("log_min_duration_statement", "each statement that takes as long"),
    ("log_min_duration_sample", "of statements that take as long the part that log_statement_sample_rate says"),
    ("auto_explain.log_min_duration", "the plan of each statement that takes as long"),
)
# They tell how much auto_explain writes, and measures of all statements, where it is at work.
OF_PLANS: Final = (
    ("auto_explain.log_nested_statements", "also of each statement within a function, each time"),
    ("auto_explain.log_analyze", "all statements are executed with instrumentation, also those that are not logged"),
    ("auto_explain.log_timing", "with log_analyze the clock is read twice for each row of each node"),
    ("auto_explain.log_buffers", "more lines for each node"),
    ("auto_explain.log_verbose", "the columns of each node"),
    ("auto_explain.log_triggers", "triggers of each statement"),
)
PLAN_MS: Final = "auto_explain.log_min_duration"
LIBRARIES: Final = ("shared_preload_libraries", "session_preload_libraries", "local_preload_libraries")
AUDIT: Final = "pgaudit"
WRITERS: Final = {"auto_explain": "plans", AUDIT: "an audit of each statement"}
_DURATION: Final = re.compile(r"(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>us|ms|s|min|h|d)?")
MS: Final = {"us": 1e-3, "ms": 1.0, "s": 1e3, "min": 6e4, "h": 3.6e6, "d": 8.64e7}
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
    settings, full = _settings(case, db), _full(case, db, size)
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


def _settings(case: Case, db: str) -> list[Evidence]:
    """The settings in force that have so much logged: of the server, then of databases and roles."""
    names = [*(it[0] for it in (*WORDS, *LEAST_MS, *OF_PLANS)), *LIBRARIES, "pgaudit.log"]
    everywhere = _that_log({name: value for name in names if (value := case.setting(name, db)) is not None})
    found = [
        Evidence("setting", f"name = '{name}' and db = '{db}'", phrase("{} = {}", name, value), "", why)
        for name, value, why in everywhere
    ]
    return [*found, *_settings_of_roles(case, db)]


def _settings_of_roles(case: Case, db: str) -> list[Evidence]:
    """Those of databases and roles, the same one once: with how many have it so."""
    scopes: dict[tuple[str, str, str], list[Scope]] = {}
    for (role, database), own in _of_roles(case, db).items():
        for told in _that_log(own):
            scopes.setdefault(told, []).append(Scope(role, database, told[0]))
    return [_of_scopes(db, told, own) for told, own in scopes.items()]


def _of_scopes(db: str, told: tuple[str, str, str], own: Sequence[Scope]) -> Evidence:
    name, value, why = told
    first, more = own[0], len(own) - 1
    where = f"name like '% {name}'" if more else f"name = '{first.text}'"
    others = phrase(" and {:,} {}", more, "other" if more == 1 else "others") if more else ""
    whose = phrase("{} = {} for {}{}", name, value, first.whose, others)
    return Evidence("setting", f"{where} and db = '{db}'", whose, "", why)


def _that_log(values: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """Those of some settings that have much logged: name, value, and what that is."""
    told = [(name, values[name], why) for name, words, why in WORDS if values.get(name) in words]
    told += [(name, values[name], why) for name, why in LEAST_MS if _is_small(values.get(name))]
    if _is_small(values.get(PLAN_MS)):
        told += [(name, "on", why) for name, why in OF_PLANS if values.get(name) == "on"]
    told += [
        (name, values[name], f"{library} writes {what}")
        for name in LIBRARIES
        for library, what in WRITERS.items()
        if library in values.get(name, "") and _is_open(library, values)
    ]
    return told


def _is_open(library: str, values: Mapping[str, str]) -> bool:
    """Whether a library that is loaded may write: its own settings do not say that it is off, or how much it writes."""
    return values.get("pgaudit.log") != "none" if library == AUDIT else PLAN_MS not in values


def _is_small(value: str | None) -> bool:
    """Whether a least duration, in milliseconds or with a unit, is so small that nearly everything is logged."""
    found = _DURATION.fullmatch(value or "")
    return found is not None and float(found["number"]) * MS[found["unit"] or "ms"] <= SMALL_MS


def _of_roles(case: Case, db: str) -> dict[tuple[str | None, str | None], dict[str, str]]:
    """Settings of roles and databases, by role and database; null: every one."""
    rows = case.dataset.frame("setting").filter((pl.col("component") == COMPONENT) & (pl.col("db") == db))
    last = rows.group_by("name", maintain_order=True).last().drop_nulls("value")
    found: dict[tuple[str | None, str | None], dict[str, str]] = {}
    for name, value in last.select("name", "value").iter_rows():
        if scope := scope_of(name):
            found.setdefault((scope.role, scope.database), {})[scope.name] = value
    return found


def _plans(case: Case, db: str) -> list[Evidence]:
    plans = case.total(PLANS, db)
    if not plans:
        return []
    return [
        Evidence("statistic", f"name = '{PLANS}' and db = '{db}'", phrase("{:rate plans}", plans), "", "auto_explain")
    ]


def _kernel(case: Case) -> list[Evidence]:
    """What part of the time of the database's processes on a CPU is the kernel's: write(2) is there."""
    rows = case.dataset.frame("process").filter(pl.col("command").str.starts_with("postgres:"))
    system, user = (float(rows[column].sum() or 0.0) for column in ("sys_pct", "usr_pct"))
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
