"""How the processes are scheduled that a whole database waits for."""

from collections.abc import Iterator

from doctord.analyse.host.scheduling import cpu_list
from doctord.lint.rule import rule
from doctord.lint.setting import Setting
from doctord.lint.subject import Subject
from doctord.lint.violation import CANNOT_JUDGE, Severity, Violation

AFTER_OTHERS = ("SCHED_BATCH", "SCHED_IDLE")
REAL_TIME = ("SCHED_FIFO", "SCHED_RR")
UNLIMITED = "kernel.sched_rt_runtime_us"


@rule("process")
def comes_after_others(subject: Subject) -> Iterator[Violation]:
    """A process that a whole database waits for has a lower priority than any other program.

    Why: where CPUs are short it gets one last, and every commit or connection waits with it.
    Evidence: a nice value above 0, or the policy SCHED_BATCH or SCHED_IDLE.
    Fix: Start the server without nice; Nice=0 and CPUSchedulingPolicy=other in its unit; renice -n 0 -p PID for now.
    Verify: ps -o ni,cls -p PID; its time in the run queue (/proc/PID/schedstat, second number) when the CPUs are full.
    Source: sched(7); systemd.exec(5), Nice=, CPUSchedulingPolicy=.
    """
    for name, told in _processes(subject).items():
        nice, policy = told.get("nice"), told.get("policy")
        low = nice if nice is not None and (nice.number or 0) > 0 else None
        late = policy if policy is not None and policy.value in AFTER_OTHERS else None
        if (found := low or late) is not None:
            yield subject.violation(
                f"{name}: {f'nice {found.value}' if found is low else found.value}",
                settings=[found],
                cost="whoever computes beside it comes first: commits and connections wait while the CPUs are full",
                severity=Severity.WARNING,
            )


@rule("process")
def real_time_unlimited(subject: Subject) -> Iterator[Violation]:
    """A process of the database is real time, and nothing limits real time.

    Why: one that loops takes its CPU for good; not even a login gets through to end it.
    Evidence: the policy SCHED_FIFO or SCHED_RR, and kernel.sched_rt_runtime_us = -1.
    Fix: kernel.sched_rt_runtime_us = 950000 leaves a twentieth of each second to all others.
    Verify: sysctl kernel.sched_rt_runtime_us.
    Source: sched(7), "Limiting the CPU usage of real-time and deadline processes".
    """
    kernel = subject.other("kernel")
    limit = kernel.get(UNLIMITED) if kernel else None
    if limit is None or limit.value.strip() != "-1":
        return
    for name, told in _processes(subject).items():
        policy = told.get("policy")
        if policy is not None and policy.value in REAL_TIME:
            yield subject.violation(
                f"{name}: {policy.value} with {UNLIMITED} = -1",
                settings=[policy, limit],
                cost="availability: a loop in it keeps its CPU from everybody, the kernel's own threads among them",
                severity=Severity.WARNING,
            )


@rule("process")
def bound_to_few_cpus(subject: Subject) -> Iterator[Violation]:
    """A process that a whole database waits for may run on one CPU only.

    Why: it waits whenever that CPU is busy, be all others idle.
    Evidence: the CPUs that it may run on, and how many the host has.
    Fix: taskset -acp 0-LAST PID, AllowedCPUs= and CPUAffinity= of its unit; or keep everybody else off that CPU.
    Verify: Cpus_allowed_list in /proc/PID/status; its time in the run queue.
    Source: sched_setaffinity(2), cpuset(7), systemd.exec(5).
    """
    cpus = subject.machine.cpus
    for name, told in _processes(subject).items():
        allowed = told.get("cpus")
        if allowed is not None and cpus is not None and len(cpu_list(allowed.value)) == 1 < cpus:
            yield subject.violation(
                f"{name} may run on CPU {allowed.value} of {cpus}",
                settings=[allowed],
                cost=f"{CANNOT_JUDGE}: how busy that CPU is (mpstat -P {allowed.value} 1)",
            )


def _processes(subject: Subject) -> dict[str, dict[str, Setting]]:
    """What is set for each process, by the process' name and number."""
    found: dict[str, dict[str, Setting]] = {}
    for row in subject.rows:
        process, _, name = row.name.rpartition(".")
        pid, _, command = process.partition(" ")
        found.setdefault(f"{command} (pid {pid})", {})[name] = row
    return found
