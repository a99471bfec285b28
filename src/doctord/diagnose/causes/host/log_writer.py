"""The processes that a whole database waits for, and their CPU."""

from collections.abc import Iterator
from typing import Any

import polars as pl

from doctord.analyse.host.full_moments import LEAST_IDLE_PCT
from doctord.analyse.host.scheduling import COMPONENT, Scheduling, idle_pct, scheduling
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.host.cpu import INVOLUNTARY_SHARE, signs_of_saturation
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import Claim, Evidence
from doctord.diagnose.phrase import Phrase, Words, listed, phrase

# A hundredth of every second in the run queue: less is lost among the microseconds of ordinary scheduling.
PREEMPTED_S_PER_S = 0.01
# A tenth of every second: whoever needs that process waits a tenth longer for it, even where no time was sampled.
STARVED_S_PER_S = 0.1
LOG_WRITER = r"^postgres: (\S+: )?wal ?(writer|sender)|^ora_lg"
AUTOGROUPS = "kernel.sched_autogroup_enabled"
AWAITED = rf"{LOG_WRITER}|^postgres: (\S+: )?postmaster|^tnslsnr"
LATENCY_CRITICAL = rf"{AWAITED}|^postgres: (\S+: )?checkpointer"


@cause(explains=("commits_slow", "log_writer_starved", "standby_slows_commits"), waits=("log sync", "standby"))
def log_writer_preempted(case: Case) -> Iterator[Claim]:
    """A process that everybody waits for loses the CPU, or does not get one.

    Looks like: log writer, checkpointer, WAL sender, listener or postmaster are switched out before they are done, and
        wait; or they wait longer, each time they are woken, than they then run.
    Hurts because: each of them serves all sessions: while it waits for a CPU, every commit (or connection) waits.
    Speaks for it: its time in the run queue, with the involuntary share of its context switches, or a tenth of every
        second and more; a priority below others'; CPUs that it is bound to and that are full, while others are not.
    Speaks against it: switches that are voluntary with little time in the run queue: it waits for devices or for work.
    Remedy: Relieve the CPUs where they are saturated; then give the process CPUs of its own: AllowedCPUs= for the units
        of everybody else, or cores that are set aside at boot (isolcpus=) and taskset. A priority (renice -n -5, Nice=
        or CPUWeight= of its unit) gives it more of a CPU; since Linux 6.6 it waits for the slice of whoever runs,
        and a shorter slice of its own gives it earlier turns (chrt -o -T 100000 -p 0 PID, Linux 6.12). Real time (chrt
        -f -p 10 PID), which no other task interrupts, is for a log writer alone, and dangerous: one that loops takes
        its CPU for good, up to kernel.sched_rt_runtime_us of each second.
        PostgreSQL: each process is a session of its own, so that under autogroups nice alone changes nothing.
        Oracle: _high_priority_processes names those that are real time; ask Oracle's support before.
    Verify: pidstat -w -p PID 1: involuntary switches (nvcswch/s) fall, and so does the second number in
        /proc/PID/schedstat, its time in the run queue; and the time per commit.
    Source: K. Manoharan's redo case, 2008: 30 % involuntary switches of LGWR, log file sync far above the write itself,
        mended by class FX with priority 59 and a processor set; sched(7), systemd.resource-control(5), cpuset(7).
    """
    victims = _preempted(case)
    commits = case.time.share("Commit")
    writers = victims.filter(pl.col("command").str.contains(LOG_WRITER))
    impact = commits * _of_commits(case, writers)
    long = victims.filter(pl.col("run_wait_s") >= STARVED_S_PER_S * pl.col("seconds"))
    if not case.worth_saying(impact) and long.is_empty():
        return
    worst = victims.row(0, named=True)
    is_forced = worst["icsw"] >= INVOLUNTARY_SHARE * (worst["icsw"] + worst["vcsw"])
    how = "is switched out and waits for a CPU" if is_forced else "waits for a CPU whenever it is woken"
    placed = scheduling(case.dataset, worst["pid"])
    full, free = _own_cpus(case, worst, placed)
    yield Claim(
        phrase("{} (pid {}) {}", worst["command"], worst["pid"], how),
        impact=case.felt(impact),
        confidence=0.8,
        for_=[*(_victim(row) for row in victims.head(3).iter_rows(named=True)), *_settings(worst, placed), *full],
        against=[*free, *weigh(signs_of_saturation(case))[1]] if not full else free,
        first_steps=_steps(case, worst, placed, is_bound=bool(full)),
    )


def _preempted(case: Case) -> pl.DataFrame:
    """Such processes that lose the CPU before they are done, or wait for one longer than they run, the worst first.

    A new session's process bears the postmaster's title for its first moments: what was seen for a part of the time
    only is left out.
    """
    waits, seconds = pl.col("run_wait_s"), pl.col("seconds")
    is_forced = pl.col("icsw") >= INVOLUNTARY_SHARE * (pl.col("icsw") + pl.col("vcsw"))
    is_starved = pl.col("command").str.contains(AWAITED) & (waits >= STARVED_S_PER_S * seconds)
    return case.processes.filter(
        pl.col("command").str.contains(LATENCY_CRITICAL)
        & (seconds >= case.process_seconds / 2)
        & (pl.col("icsw") + pl.col("vcsw")).is_not_null()
        & ((is_forced & (waits >= PREEMPTED_S_PER_S * seconds)) | (is_starved & (waits >= pl.col("cpu_s"))))
    ).sort("run_wait_s", descending=True, maintain_order=True)


def _of_commits(case: Case, writers: pl.DataFrame) -> float:
    """Share (0 to 1) of the time of commits in which the log writer waits for a CPU, and they for it."""
    waits_s = float((writers["run_wait_s"] / writers["seconds"]).max() or 0.0)  # type: ignore[arg-type]
    commits = case.active.filter(pl.col("wait_class") == "Commit").unique("ts", maintain_order=True)
    awaited_s = float(commits["interval_s"].sum() or 0.0) / case.seconds if case.seconds else 0.0
    return min(waits_s / awaited_s, 1.0) if awaited_s else waits_s


def _victim(row: dict[str, Any]) -> Evidence:
    switches = row["icsw"] + row["vcsw"]
    return Evidence(
        "process",
        f"pid = {row['pid']}",
        phrase(
            "{}: {:.0%} of its switches involuntary, {:.0f ms} of every second in the run queue",
            row["command"],
            row["icsw"] / switches if switches else 0.0,
            row["run_wait_s"] / row["seconds"] * 1000,
        ),
        phrase("{:.0%} and {:.0f ms}", INVOLUNTARY_SHARE, PREEMPTED_S_PER_S * 1000),
        phrase("it had work to do and no CPU; it ran {:.0f ms} of every second", row["cpu_s"] / row["seconds"] * 1000),
        "at_least",
    )


def _settings(row: dict[str, Any], placed: Scheduling | None) -> list[Evidence]:
    """How it is scheduled, and where."""
    if placed is None or placed.policy is None:
        return []
    priority: Words = phrase("priority {}", placed.rt_priority) if placed.rt_priority else ""
    nice: Words = "" if placed.nice is None else phrase("nice {}", placed.nice)
    cpus: Words = phrase("CPUs {}", _ranges(placed)) if placed.cpus else ""
    why = "others come before it" if (placed.nice or 0) > 0 else "no more than any other process"
    return [
        Evidence("setting", f"component = '{COMPONENT}' and name like '{row['pid']} %'",
                 listed(placed.policy, priority, nice, cpus), "", "it is real time" if placed.is_real_time else why)
    ]  # fmt: skip


def _own_cpus(case: Case, row: dict[str, Any], placed: Scheduling | None) -> tuple[list[Evidence], list[Evidence]]:
    """What speaks for it and against it of the CPUs that it is bound to, where there are others."""
    if placed is None or not placed.is_bound(case.cpus):
        return [], []
    here, elsewhere = idle_pct(case.dataset, placed.cpus), idle_pct(case.dataset, placed.cpus, others=True)
    why = "" if elsewhere is None else phrase("it may run nowhere else; the others are {:.0f % idle}", elsewhere)
    where = f"cpu in ({', '.join(map(str, sorted(placed.cpus)))})"
    return weigh(
        [
            Sign("cpu", where, here, LEAST_IDLE_PCT, "{:.0f %} idle time of the CPUs it is bound to",
                 why, "there is room on the CPUs that it is bound to", below=True, subject=row["command"])
        ]
    )  # fmt: skip


def _steps(case: Case, row: dict[str, Any], placed: Scheduling | None, *, is_bound: bool) -> list[Phrase]:
    """What to begin with, by how it is scheduled."""
    pid, steps = row["pid"], list[Phrase]()
    if is_bound:
        steps.append(phrase("taskset -acp 0-{} {}: it may run on all CPUs again.", case.cpus - 1, pid))
    if placed is not None and (placed.nice or 0) > 0:
        steps.append(phrase("renice -n 0 -p {}: nobody comes before it any more; then -5.", pid))
    elif placed is None or not placed.is_real_time:
        steps.append(phrase("renice -n -5 -p {}: it comes before others.", pid))
    if placed is not None and placed.autogroup_nice is not None and case.setting(AUTOGROUPS) == "1":
        steps.append(
            phrase(
                "Sessions are grouped ({} = 1), and nice counts within one: echo -5 > /proc/{}/autogroup.",
                AUTOGROUPS,
                pid,
            )
        )
    return steps


def _ranges(placed: Scheduling) -> str:
    return ", ".join(map(str, sorted(placed.cpus)[:8])) + (", ..." if len(placed.cpus) > 8 else "")
