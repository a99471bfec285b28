"""Processes that somebody traces: each system call stops them twice, until the tracer lets them go on."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.finding import Claim, Evidence, NotMeasured
from doctord.diagnose.phrase import Words, listed, phrase

# What the kernel calls the place where a process waits for who traces it.
STOPPED: Final = "ptrace_stop"
TRACERS: Final = ("strace", "ltrace", "gdb", "gdbserver", "lldb", "rr", "truss")
# Who looks with strace for a moment, as a check-up may, takes less.
LEAST, FELT = 0.02, 0.1
WHO: Final = NotMeasured(
    "who traces them",
    "no tracer was seen among the processes",
    "grep -H TracerPid /proc/PID/status, of the server's processes",
)


@cause(
    explains=(
        "connection_churn",
        "logins_slow",
        "cpu_other_processes",
        "cpu_saturated",
        "system_call_storm",
        "statement_dominates",
        "commits_slow",
        "other_waits",
    )
)
def processes_traced(case: Case) -> Iterator[Claim]:
    """Sessions are traced by strace, a debugger or their like.

    Looks like: sessions at work are found standing in `ptrace_stop`; logins, which make hundreds of system calls, take
        several times as long; a process like strace uses the CPU.
    Hurts because: strace stops a process at the beginning and the end of each system call, and has it go on after two
        switches of context; gdb stands it still for as long as it looks.
    Speaks for it: samples of sessions in ptrace_stop; the tracer among the processes, and its CPU time.
    Speaks against it: a share of a per cent or two: somebody looks for a moment.
    Remedy: End the tracer (it detaches by itself at SIGINT or SIGTERM; kill -9 leaves a process stopped at times). To
        watch a server at work use what does not stop it: perf trace or bpftrace; strace for seconds, and of few system
        calls.
    Verify: TracerPid in /proc/PID/status of the server's processes is 0; no session stands in ptrace_stop.
    Source: strace(1), "Bugs"; ptrace(2); proc(5), TracerPid; B. Gregg, "strace Wow Much Syscall",
        2014.
    """
    share = sum(part.share for part in case.time.shares if part.event == STOPPED)
    if share < LEAST:
        return
    tracers = _tracers(case)
    yield Claim(
        phrase("Sessions are traced{}: {:share of database} stands still for that",
               phrase(" by {}", listed(*(name for name, _ in tracers))) if tracers else "", share),
        impact=share,
        confidence=0.95 if tracers else 0.85,
        severity="warning" if share >= FELT else "note",
        for_=[
            Evidence("session", f"event = '{STOPPED}'", phrase("{:share}", share), phrase("{:share}", LEAST),
                     "sessions stand in the kernel's ptrace_stop", "at_least"),
            *(
                Evidence("process", f"command = '{name}'", told, "", "a tracer is at work")
                for name, told in tracers
            ),
        ],
        not_measured=[] if tracers else [WHO],
    )  # fmt: skip


def _tracers(case: Case) -> list[tuple[str, Words]]:
    """The tracers among the host's processes, each with its CPU time."""
    rows = case.processes.filter(pl.col("command").is_in(TRACERS))
    sums = rows.group_by("command", maintain_order=True).agg(pl.col("cpu_s").sum(), pl.col("pid").first())
    return [
        (command, phrase("{} (pid {}): {:.2f} CPUs", command, pid, cpu_s / case.process_seconds))
        for command, cpu_s, pid in sums.sort("command", maintain_order=True).iter_rows()
        if case.process_seconds
    ]
