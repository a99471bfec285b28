"""Microstates: what single processes of a database spend their time on, where the database itself was not asked."""

import re
from collections.abc import Iterator
from typing import Any

import polars as pl

from doctord.analyse.host.processes import COMMANDS, DATABASE_COMMAND
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence, NotMeasured
from doctord.diagnose.holders import cpu_users
from doctord.diagnose.phrase import listed, phrase

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
# How each vendor's server says what a process, or a thread of it, works on.
NAMED_BY = {
    "oracle": "v$process.spid to v$session and its sql_id.",
    "postgresql": "pid of pg_stat_activity.",
    "mysql": "performance_schema.threads, THREAD_OS_ID to PROCESSLIST_ID; pidstat -t or top -H for its threads.",
}


@cause()
def process_on_one_cpu(case: Case) -> Iterator[Claim]:
    """A process of the database has a whole CPU and would need more.

    Looks like: user and kernel time together near 100 % of one CPU, no time asleep, hardly an involuntary switch. Of a
        process with several threads (MySQL's) that is not told: they may have part of a CPU each.
    Hurts because: it does one thing after the other, so that it is as quick as one CPU is; more CPUs change nothing.
    Speaks for it: its microstates over the interval.
    Speaks against it: time waiting for a CPU: then there are too few of them.
    Remedy: Find its session and statement, and make that do less: its plan, its functions, the rows it looks at. Work
        that has to be done goes faster in parallel, or on faster CPUs.
    Verify: The same statement takes less time, and the process sleeps between two of them.
    Source: K. Manoharan, notes on Oracle on Solaris, 2008: 100 % USR in prstat -m is CPU-bound; R. McDougall, J. Mauro,
        B. Gregg, "Solaris Performance and Tools", 2006 (microstates).
    """
    rows = _own(case).with_columns(on_cpu=pl.sum_horizontal("usr_pct", "sys_pct"))
    bound = rows.filter(pl.col("on_cpu").is_between(WHOLE_CPU_PCT, ONE_CPU_PCT) & ~_has_threads()).sort(
        "on_cpu",
        descending=True,
        maintain_order=True,
    )
    if bound.is_empty():
        return
    first = bound.row(0, named=True)
    waiting = rows.filter(pl.col("sleep_pct") >= WAITING_PCT).head(MOST_TOLD)
    alone = f"{_name(first)} uses the whole of one CPU"
    together = f"{_name(first)} and {bound.height - 1} more use the whole of a CPU each"
    yield Claim(
        alone if bound.height == 1 else together,
        impact=NOT_MEASURED,
        confidence=0.85,
        for_=[_state(case, row, "it waits for nothing: it is bound by its CPU") for row in _told(bound)],
        against=[_state(case, row, "this one waits, and not for a CPU") for row in _told(waiting)],
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
    waiting = (
        _own(case)
        .filter(pl.col("run_wait_pct") >= CPU_WAIT_PCT)
        .sort("run_wait_pct", descending=True, maintain_order=True)
    )
    if waiting.is_empty():
        return
    first = waiting.row(0, named=True)
    yield Claim(
        phrase("{} waits for a CPU {:share} of the time", _name(first), first["run_wait_pct"] / 100)
        if first["run_wait_pct"] <= ONE_CPU_PCT
        else phrase("{:.1f} threads of {} wait for a CPU on average", first["run_wait_pct"] / 100, _name(first)),
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
    waiting = _own(case).filter(pl.col("lock_pct") >= LOCK_PCT).sort("lock_pct", descending=True, maintain_order=True)
    if waiting.is_empty():
        return
    first = waiting.row(0, named=True)
    yield Claim(
        phrase("{} waits for locks {:share} of the time", _name(first), first["lock_pct"] / 100),
        impact=NOT_MEASURED,
        confidence=0.85,
        for_=[_state(case, row, "its threads wait for each other") for row in _told(waiting)],
        not_measured=[_whose(first)],
    )


def _own(case: Case) -> pl.DataFrame:
    """Processes of databases by mean microstates, where no database tells its time better itself."""
    process = case.dataset.frame("process").filter(pl.col("command").str.contains(DATABASE_COMMAND))
    if case.time.of == "database":
        process = process.clear()
    last, most = pl.col("command").last(), pl.col("threads").max()
    return (
        process.group_by("pid", "started", maintain_order=True)
        .agg(last, most, pl.col(STATES).mean())
        .sort("pid", maintain_order=True)
    )


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
