"""Microstates: what single processes of a database spend their time on, where the database itself was not asked."""

import re
from collections.abc import Iterator
from typing import Any

import polars as pl

from doctord.analyse.host.processes import COMMANDS, DATABASE_COMMAND
from doctord.analyse.spells import held
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.holders import cpu_users
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence, NotMeasured
from doctord.diagnose.phrase import Words, listed, phrase

# Next to nothing of the interval is left for waiting.
WHOLE_CPU_PCT = 95.0
# Half of the time waiting: whoever asks it for something waits longer than it works.
WAITING_PCT = 50.0
LOCK_PCT = 20.0
# A tenth of the time: whoever waits for the process waits a tenth longer.
CPU_WAIT_PCT = 10.0
MOST_TOLD = 3
STATES = {
    "usr_pct": "user",
    "sys_pct": "kernel",
    "run_wait_pct": "waiting for a CPU",
    "memory_wait_pct": "waiting for memory",
    "lock_pct": "waiting for a lock",
    "sleep_pct": "asleep",
}
# More than one CPU is more than one thread: what a single one of them does, the process does not tell.
ONE_CPU_PCT = 105.0
# Of the interval in which it begins a part is lost.
BEGINNING_PCT = 90.0
# A process that did little, and then what one CPU can do and no more: threads that share a load add up to other sums.
LITTLE_PCT = 50.0
# Two reports of five seconds; a statement that takes a CPU for less is none to look for.
SPELL_S = 10.0
# Where a tool tells both as one sum, as top does, its first screen is of the time since each process began.
SUM_OF_INTERVAL = pl.when(pl.col("interval_s") > 0).then("cpu_pct")
ON_CPU = pl.coalesce(pl.col("usr_pct").fill_null(0.0) + pl.col("sys_pct"), "usr_pct", SUM_OF_INTERVAL)
OF_PROCESS = ("pid", "started")
# How each vendor's server says what a process, or a thread of it, works on.
NAMED_BY = {
    "oracle": "v$process.spid to v$session and its sql_id.",
    "postgresql": "pid of pg_stat_activity.",
    "mysql": "performance_schema.threads, THREAD_OS_ID to PROCESSLIST_ID; pidstat -t or top -H for its threads.",
}
THREADS = Evidence(
    "process", "", "it has several threads", "", "they may share that one CPU, though its use never goes beyond it"
)


@cause()
def process_on_one_cpu(case: Case) -> Iterator[Claim]:
    """A process of the database has a whole CPU and would need more.

    Looks like: user and kernel time together near 100 % of one CPU, no time asleep, hardly an involuntary switch. Of a
        process with several threads (MySQL's) that is told only where it did little before, or does little after.
    Hurts because: it does one thing after the other, so that it is as quick as one CPU is; more CPUs change nothing.
    Speaks for it: its microstates over the interval, or over the part of it in which that was so.
    Speaks against it: time waiting for a CPU: then there are too few of them; threads that may share that CPU.
    Remedy: Find its session and statement, and make that do less: its plan, its functions, the rows it looks at. Work
        that has to be done goes faster in parallel, or on faster CPUs.
    Verify: The same statement takes less time, and the process sleeps between two of them.
    Source: K. Manoharan, notes on Oracle on Solaris, 2008: 100 % USR in prstat -m is CPU-bound; R. McDougall, J. Mauro,
        B. Gregg, "Solaris Performance and Tools", 2006 (microstates).
    """
    bound = _bound(case).sort("on_cpu", descending=True, maintain_order=True)
    if bound.is_empty():
        return
    first = bound.row(0, named=True)
    waiting = _means(_own(case)).filter(pl.col("sleep_pct") >= WAITING_PCT).head(MOST_TOLD)
    alone = phrase("{} uses the whole of one CPU{}", _name(first), _how_long(first))
    together = phrase("{} and {} more use the whole of a CPU each{}", _name(first), bound.height - 1, _how_long(first))
    threads = [THREADS] if bound["has_threads"].any() else []
    yield Claim(
        alone if bound.height == 1 else together,
        impact=NOT_MEASURED,
        confidence=0.6 if threads else 0.85,
        for_=[_state(case, row, "it waits for nothing: it is bound by its CPU") for row in _told(bound)],
        against=[*(_state(case, row, "this one waits, and not for a CPU") for row in _told(waiting)), *threads],
        not_measured=[_whose(first)],
    )


@cause()
def process_waits_for_cpu(case: Case) -> Iterator[Claim]:
    """A process of the database is ready to run and waits for a CPU.

    Looks like: a tenth of the time and more in LAT of prstat -m, or %wait of pidstat; many involuntary switches.
    Hurts because: whoever asked it for something waits longer than it works, and longer still for what it has locked.
    Speaks for it: its microstates over the interval, and who uses the CPUs meanwhile.
    Speaks against it: nothing that microstates tell: they count this time itself.
    Remedy: Find what else uses the CPUs (prstat -a by user, top), and move or limit it; fewer sessions at work at once,
        by a pool; then more CPUs. A limit on the zone, project or control group looks the same: check that first.
    Verify: LAT of the same processes falls below a tenth at the same work.
    Source: K. Manoharan, notes on Oracle on Solaris, 2008: run queues with many involuntary switches are a CPU
        bottleneck; R. McDougall, J. Mauro, B. Gregg, "Solaris Performance and Tools", 2006 (LAT).
    """
    so = pl.col("run_wait_pct") >= CPU_WAIT_PCT
    waiting = _lasting(_own(case), so).sort("run_wait_pct", descending=True, maintain_order=True)
    if waiting.is_empty():
        return
    first = waiting.row(0, named=True)
    yield Claim(
        phrase("{} waits for a CPU {:share} of the time{}", _name(first), first["run_wait_pct"] / 100, _within(first))
        if first["run_wait_pct"] <= ONE_CPU_PCT
        else phrase(
            "{:.1f} threads of {} wait for a CPU on average{}",
            first["run_wait_pct"] / 100,
            _name(first),
            _within(first),
        ),
        impact=NOT_MEASURED,
        confidence=0.85,
        for_=[*(_state(case, row, "it is ready, and does not run") for row in _told(waiting)), *cpu_users(case)],
        not_measured=[_whose(first)],
    )


@cause()
def process_waits_for_locks(case: Case) -> Iterator[Claim]:
    """A process of the database waits for locks between its threads.

    Looks like: a fifth of the time and more in LCK of prstat -mL.
    Hurts because: threads that wait for each other use no CPU and do no I/O: nothing but microstates shows it.
    Speaks for it: its microstates over the interval.
    Speaks against it: nothing that microstates tell.
    Remedy: Find the lock: plockstat -A -p PID, lockstat for the kernel's. Fewer threads at once, a memory allocator for
        many threads (libumem, mtmalloc), a newer version of the program.
    Verify: LCK of the same threads falls at the same work.
    Source: R. McDougall, J. Mauro, B. Gregg, "Solaris Performance and Tools", 2006 (LCK, plockstat).
    """
    waiting = _lasting(_own(case), pl.col("lock_pct") >= LOCK_PCT)
    waiting = waiting.sort("lock_pct", descending=True, maintain_order=True)
    if waiting.is_empty():
        return
    first = waiting.row(0, named=True)
    yield Claim(
        phrase("{} waits for locks {:share} of the time{}", _name(first), first["lock_pct"] / 100, _within(first)),
        impact=NOT_MEASURED,
        confidence=0.85,
        for_=[_state(case, row, "its threads wait for each other") for row in _told(waiting)],
        not_measured=[_whose(first)],
    )


def _own(case: Case) -> pl.DataFrame:
    """Rows of the databases' processes, where no database tells its time better itself."""
    process = case.dataset.frame("process")
    is_told = case.time.of == "database"
    own = process.clear() if is_told else process.filter(pl.col("command").str.contains(DATABASE_COMMAND))
    return own.with_columns(on_cpu=ON_CPU)


def _means(rows: pl.DataFrame) -> pl.DataFrame:
    """Processes by their mean microstates, in order of their numbers."""
    last, most = pl.col("command").last(), pl.col("threads").max()
    means = rows.group_by(OF_PROCESS, maintain_order=True).agg(last, most, pl.col(*STATES, "on_cpu").mean())
    return means.with_columns(has_threads=_has_threads()).sort("pid", maintain_order=True)


def _lasting(rows: pl.DataFrame, so: pl.Expr, within: pl.Expr | None = None) -> pl.DataFrame:
    """Processes of which something is so over the whole of their time, else in a part of it that is more than a burst.

    Their means are those of that part, whose share of their time (0 to 1) is `part`, and `longest_s` the longest of it
    on end. `within` is what has to be so in each interval of such a part, where that is another condition.
    """
    in_part = so if within is None else within
    whole = _means(rows).filter(so).with_columns(part=pl.lit(1.0), longest_s=pl.lit(None, pl.Float64))
    if rows.is_empty():
        return whole
    times = held(rows, in_part, *OF_PROCESS).filter(pl.col("is_lasting") & (pl.col("longest_s") >= SPELL_S))
    spells = _means(rows.filter(in_part)).join(
        times.drop("is_lasting"), on=OF_PROCESS, nulls_equal=True, maintain_order="left"
    )
    later = spells.join(whole, on=OF_PROCESS, how="anti", nulls_equal=True, maintain_order="left")
    return pl.concat([whole, later.select(whole.columns)])


def _bound(case: Case) -> pl.DataFrame:
    """Processes with a whole CPU; those with threads, where they had little of one for the rest of the time."""
    rows = _own(case)
    one_cpu = pl.col("on_cpu").is_between(WHOLE_CPU_PCT, ONE_CPU_PCT)
    full = _lasting(rows, one_cpu, pl.col("on_cpu").is_between(BEGINNING_PCT, ONE_CPU_PCT))
    others = rows.filter(~pl.col("on_cpu").is_between(BEGINNING_PCT, ONE_CPU_PCT))
    little = others.group_by(OF_PROCESS, maintain_order=True).agg(
        (pl.col("on_cpu") <= LITTLE_PCT).all().alias("little")
    )
    known = full.join(little, on=OF_PROCESS, how="left", nulls_equal=True, maintain_order="left")
    is_new = (pl.col("part") < 1) & pl.col("little").fill_null(value=False)
    return known.filter(~pl.col("has_threads") | is_new)


def _how_long(row: dict[str, Any]) -> Words:
    """The part of the time that a finding is of; nothing where it is all of it."""
    return "" if row["part"] >= 1 else phrase(" for {:share} of the time", row["part"])


def _within(row: dict[str, Any]) -> Words:
    """The same, of what is itself a share of a time."""
    return "" if row["part"] >= 1 else phrase(", in {:share} of the reports", row["part"])


def _has_threads() -> pl.Expr:
    """Whether several threads share the process's time: counted, or known of the server."""
    return (pl.col("threads") > 1).fill_null(pl.col("command").str.contains(COMMANDS["mysql"]))


def _whose(row: dict[str, Any]) -> NotMeasured:
    """That the host does not know what a process works on, and where its server says so."""
    named = [by for vendor, by in NAMED_BY.items() if re.match(COMMANDS[vendor], row["command"])]
    return NotMeasured("What the process works on", "the host does not know sessions and statements", named[0])


def _told(rows: pl.DataFrame) -> list[dict[str, Any]]:
    return rows.head(MOST_TOLD).to_dicts()


def _name(row: dict[str, Any]) -> str:
    return f"{row['command']} (pid {row['pid']})"


def _state(case: Case, row: dict[str, Any], why: str) -> Evidence:
    states = [phrase("{} {:.0f %}", words, row[column]) for column, words in STATES.items() if row[column]]
    entity = f"{row['pid']} {row['command']}"
    switches = [figure.mean for figure in case.figures("prstat.ICX") if figure.entity == entity]
    involuntary = phrase(", {:.0f} involuntary switches in an interval", switches[0]) if switches else ""
    return Evidence(
        "process", f"pid = {row['pid']}", phrase("{}: {}{}", _name(row), listed(*states), involuntary), "", why
    )
