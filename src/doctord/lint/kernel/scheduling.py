"""How the processes are scheduled that a whole database waits for, and where their memory comes from."""

from collections.abc import Iterator

from doctord.analyse.host.scheduling import cpu_list
from doctord.lint.rule import rule
from doctord.lint.setting import Setting
from doctord.lint.subject import Subject
from doctord.lint.violation import CANNOT_JUDGE, Severity, Violation

AFTER_OTHERS = ("SCHED_BATCH", "SCHED_IDLE")
REAL_TIME = ("SCHED_FIFO", "SCHED_RR")
UNLIMITED = "kernel.sched_rt_runtime_us"
NODES = "cpu.numa_nodes"


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


@rule("process")
def memory_of_few_nodes(subject: Subject) -> Iterator[Violation]:
    """A process of the database may take memory of some NUMA nodes only.

    Why: page cache is dropped, and in the end processes are killed, while other nodes have memory free.
    Evidence: the memory nodes of its cpuset, or the policy bind of its memory, and the nodes of the host.
    Fix: AllowedMemoryNodes= and NUMAPolicy= of its unit, or no --membind in what starts it; where CPUs are bound too,
        --preferred in place of --membind takes memory elsewhere when the node is full.
    Verify: Mems_allowed_list in /proc/PID/status, the second field in /proc/PID/numa_maps; numastat -m when it is busy.
    Source: set_mempolicy(2), MPOL_BIND; cpuset(7); numactl(8).
    """
    kernel = subject.other("kernel")
    host = kernel.get(NODES) if kernel else None
    nodes = cpu_list(host.value) if host else frozenset()
    for name, told in _processes(subject).items():
        for row, allowed in _memory(told):
            if host is not None and allowed and allowed < nodes:
                yield subject.violation(
                    f"{name} takes memory of node {_listed(allowed)} of {_listed(nodes)} only",
                    settings=[row, host],
                    cost=f"{CANNOT_JUDGE}: how full those nodes are (numastat -m)",
                )
                break


def _memory(told: dict[str, Setting]) -> Iterator[tuple[Setting, frozenset[int]]]:
    """What limits the nodes that a process takes memory of, and these."""
    if (nodes := told.get("memory_nodes")) is not None:
        yield nodes, cpu_list(nodes.value)
    for name in ("numa_policy", "numa_policy_shared"):
        row = told.get(name)
        if row is not None and row.value.startswith("bind"):
            yield row, cpu_list(row.value.partition(":")[2])


def _listed(nodes: frozenset[int]) -> str:
    return ",".join(map(str, sorted(nodes)))


def _processes(subject: Subject) -> dict[str, dict[str, Setting]]:
    """What is set for each process, by the process' name and number."""
    found: dict[str, dict[str, Setting]] = {}
    for row in subject.rows:
        process, _, name = row.name.rpartition(".")
        pid, _, command = process.partition(" ")
        found.setdefault(f"{command} (pid {pid})", {})[name] = row
    return found
