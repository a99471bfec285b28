"""The scheduler's and the kernel's own work: processes that hop, that call all the time, that switch too often."""

from collections.abc import Iterator

import polars as pl

from doctord.analyse.host.closer_looks import MOVE_S, Caller, Moved, moved
from doctord.analyse.time import RUN_QUEUE
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.system_calls import CALLS_PER_CPU_S, KERNEL_CPUS, storm
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import NOT_MEASURED, WARNING_SHARE, Claim, Evidence, at_most
from doctord.diagnose.phrase import phrase

# A twentieth of a CPU at what the scheduler takes a move to cost; a task left alone is moved a few times a second.
FORCED_PER_S = 100.0
# With less idle time the queue is what moves tasks: whoever finds a CPU free takes from the others.
IDLE_PCT = 10.0
# Half of a CPU, or a twentieth of the host: less is a note.
WORTH_CPUS, WORTH_SHARE = 0.5, 0.05
# A quarter of the host: what is left to others is then plainly less.
HOST_SHARE = 0.25
WHO_BINDS = """bpftrace -e 't:syscalls:sys_enter_sched_setaffinity { printf("%d %s\\n", pid, comm); }'"""
SLOW_CLOCKS = ("hpet", "acpi_pm", "jiffies", "pit")
# C. Li, C. Ding, K. Shen, "Quantifying the cost of context switch", 2007: 3.8 us by itself, more with the caches' part.
SWITCH_S = 5e-6
# CONFIG_HZ of Linux is 100 to 1000.
TICKS_PER_S = 1000
# For two tasks that leave a CPU by themselves one is pushed off.
FORCED_PCT = 33.0
# A twentieth of the CPUs' time.
SWITCHED_SHARE = 0.05
# One task running and one waiting on every CPU.
QUEUE_PER_CPU = 2.0


@cause()
def process_hops(case: Case) -> Iterator[Claim]:
    """A process is moved from CPU to CPU while it has work to do.

    Looks like: moves between CPUs at a high rate of a process that hardly sleeps, on a host with idle CPUs; its work
        takes longer by the clock and by its own CPU time.
    Hurts because: on each CPU its data has to come into the caches again; on another node of memory it stays remote.
    Speaks for it: its moves, less the times that it slept and was woken, against the CPU time that it used.
    Speaks against it: no idle CPU: then tasks are moved because they queue, and that is what to look at.
    Remedy: Find who sets its CPUs: a script or daemon with taskset or sched_setaffinity, a balancer that writes
        cpusets, a program that binds its own threads. Let the scheduler choose, or bind it once.
    Verify: se.nr_migrations in /proc/PID/sched stands still for seconds; the same work takes less CPU time.
    Source: Linux, kernel/sched/fair.c (sysctl_sched_migration_cost, 0.5 ms); C. Li, C. Ding, K. Shen, "Quantifying the
        cost of context switch", 2007.
    """
    hopping = [one for one in moved(case.dataset) if one.forced_per_s >= FORCED_PER_S]
    idle = case.mean("cpu", "idle_pct")
    for one in hopping[:1]:
        for_, against = weigh(
            [
                Sign("process", f"pid = {one.pid}", one.forced_per_s, FORCED_PER_S, "{:.0f moves per s} at least",
                     phrase("of {:.0f}; it had not gone to sleep before them", one.moves_per_s)),
                Sign("cpu", "cpu is null", idle, IDLE_PCT, "{:.0f %} of the host's CPU time is idle",
                     "nobody had to make room", "tasks queue, and are moved for that"),
            ]
        )  # fmt: skip
        cost = Evidence("process", f"pid = {one.pid}", phrase("{:share} of its CPU time at most", one.lost), "",
                        phrase("at {:.1f ms} a move, the cost that the scheduler assumes", MOVE_S * 1000))  # fmt: skip
        yield Claim(
            phrase("{} (pid {}) is moved from CPU to CPU: {:rate}", one.command, one.pid, one.moves_per_s),
            impact=NOT_MEASURED,
            confidence=0.6 if against else 0.85,
            for_=[*for_, cost, *(_also(other) for other in hopping[1:3])],
            against=against,
            severity="warning" if one.lost >= WARNING_SHARE and not against else "note",
            first_steps=[phrase("taskset -cp {}, a few times: does it change? Who does it: {}", one.pid, WHO_BINDS)],
        )


@cause(explains=("cpu_saturated", "cpu_full", "cpu_other_processes", "process_on_one_cpu"))
def system_call_storm(case: Case) -> Iterator[Claim]:
    """A process does hardly anything but call the kernel.

    Looks like: much time in the kernel, of one process, with hundreds of thousands of system calls a second.
    Hurts because: a CPU is used up for the way into the kernel and back; the work itself, done in larger pieces, would
        take a small part of it.
    Speaks for it: its calls for each second on a CPU; its time in the kernel against its own.
    Speaks against it: calls that take long each: then it is what they do that costs, as copying or writing back. It is
        a note of a client of the database, whose calls are its messages.
    Remedy: See which call it is, and make it rarer: larger reads and writes, one call for many rows or messages, a
        clock that is read without a call (clocksource tsc or kvm-clock), no polling without a pause.
        PostgreSQL: look for partitions that are asked for their size (lseek), and for loops of tiny statements.
    Verify: Its calls per second and its time in the kernel fall at the same work.
    Source: K. Manoharan, notes on Oracle on Solaris, 2008: a high share of the kernel asks for a look at system calls,
        and reads one at a time were the case; Linux, vdso(7).
    """
    if one := storm(case):
        yield Claim(
            phrase("{} (pid {}) makes {:rate system calls}", one.command, one.pid, one.calls_per_s),
            impact=NOT_MEASURED,
            confidence=0.85,
            for_=[*_of_caller(one), *_of_host(case, one), *_slow_clock(case)],
            severity="warning" if _is_dear(case, one) and not _is_client(case, one) else "note",
            explains_waits=one.cpus >= HOST_SHARE * max(case.cpus, 1),
            first_steps=[phrase("doctord trace --pid {} --for 10s: which call, and of what size.", one.pid)],
        )


def _is_dear(case: Case, one: Caller) -> bool:
    return one.kernel >= min(WORTH_CPUS, WORTH_SHARE * max(case.cpus, 1))


def _is_client(case: Case, one: Caller) -> bool:
    """Whether it works for the database's sessions: its calls are the messages to the server, as many as are sent."""
    own = case.processes.filter(pl.col("database"))["pid"]
    return one.pid not in {*own, *case.other_processes["pid"]}


@cause()
def switching_too_often(case: Case) -> Iterator[Claim]:
    """The CPUs lose time by switching between tasks that all are ready to run.

    Looks like: several tasks running or ready for each CPU, tens of thousands of involuntary switches a second.
    Hurts because: each switch costs some microseconds, and the caches are filled anew for whoever comes: the more tasks
        share a CPU, the less work is done by all of them together.
    Speaks for it: time in the run queue; tasks per CPU; involuntary switches per second of a CPU, and what these cost.
    Speaks against it: switches that are voluntary: tasks that wait for something, which no scheduler can change. Tasks
        that yield (sched_yield) count as pushed off: more of them than were woken and than the clock ticks do that.
    Remedy: Fewer tasks at once: a pool with about as many connections as CPUs, fewer parallel workers. Longer slices
        (SCHED_BATCH for what nobody waits for; base_slice_ns of the scheduler in debugfs).
    Verify: Involuntary switches fall, and transactions per second rise at the same load.
    Source: C. Li, C. Ding, K. Shen, "Quantifying the cost of context switch", 2007; K. Manoharan, 2008: run queues with
        many involuntary switches.
    """
    switches, queue = _pushed_off(case), case.mean("cpu", "run_queue")
    if switches is None or queue is None:
        return
    lost = switches * SWITCH_S / case.cpus
    if lost < SWITCHED_SHARE or queue < QUEUE_PER_CPU * case.cpus:
        return
    waiting = case.time.share(*RUN_QUEUE) or None
    for_, against = weigh(
        [
            Sign("session", "wait_class = 'CPU'", waiting if waiting is None else waiting * 100, 0.0,
                 "{:.0f %} of the time in the run queue", "ready to run, and waiting for a CPU"),
            Sign("cpu", "cpu is null", queue / case.cpus, QUEUE_PER_CPU, "{:.1f tasks running or ready} per CPU",
                 "for each task on a CPU another one waits"),
            Sign("cpu", "cpu is null", switches / case.cpus, SWITCHED_SHARE / SWITCH_S,
                 "{:.0f involuntary switches per s} on a CPU",
                 phrase("{:.1f %} of its time, at {:.0f us} each", lost * 100, SWITCH_S * 1e6)),
            Sign("cpu", "cpu is null", _forced(case, switches), FORCED_PCT, "{:.0f %} of all switches are involuntary",
                 "tasks are pushed off the CPUs", "most tasks leave the CPU by themselves"),
        ]
    )  # fmt: skip
    yield Claim(
        phrase("{:.0f %} of the CPU time goes into switching between tasks that are all ready", lost * 100),
        impact=at_most(lost),
        confidence=0.6,
        for_=for_,
        against=against,
    )


def _pushed_off(case: Case) -> float | None:
    """Involuntary switches a second, without those of tasks that yield (sched_yield(2)), which count as such.

    A task is pushed off at the clock's tick, or for one that was woken, and who is woken has gone to sleep before.
    """
    involuntary, switches = case.mean("cpu", "icsw_per_s"), case.mean("cpu", "csw_per_s")
    if involuntary is None or not case.cpus:
        return None
    if switches is None:
        return involuntary
    return min(involuntary, switches - involuntary + TICKS_PER_S * case.cpus)


def _forced(case: Case, pushed_off: float) -> float | None:
    """Share of the context switches without yields that were involuntary, %."""
    involuntary, switches = case.mean("cpu", "icsw_per_s"), case.mean("cpu", "csw_per_s")
    if involuntary is None or not switches:
        return None
    return 100 * pushed_off / (switches - involuntary + pushed_off)


def _of_caller(one: Caller) -> list[Evidence]:
    rate, kernel = one.calls_per_cpu_s, one.kernel * 100
    where, each = f"pid = {one.pid}", phrase("{:.2f us} in the kernel each", one.call_s * 1e6)
    return [
        Evidence("process", where, phrase("{:.0f calls per s} on a CPU", rate),
                 phrase("{:.0f calls per s}", CALLS_PER_CPU_S), each, "at_least"),
        Evidence("process", where, phrase("{:.0f % of a CPU} in the kernel", kernel),
                 phrase("{:.0f %}", KERNEL_CPUS * 100), phrase("of {:.0f %} that it uses", one.cpus * 100), "at_least"),
    ]  # fmt: skip


def _of_host(case: Case, one: Caller) -> list[Evidence]:
    """Its part of all calls of the host, where those are counted: over the same intervals, when we count."""
    calls = case.mean("cpu", "syscalls_per_s")
    if calls is None or calls < one.calls_per_s:
        return []
    figure = phrase("{:share} of the host's system calls", one.calls_per_s / calls)
    return [Evidence("cpu", "cpu is null and syscalls_per_s is not null", figure, "",
                     phrase("{:rate} in all", calls))]  # fmt: skip


def _slow_clock(case: Case) -> list[Evidence]:
    clock = case.setting("cpu.clocksource")
    if clock not in SLOW_CLOCKS:
        return []
    return [Evidence("setting", "name = 'cpu.clocksource'", clock, "", "each look at the clock is a system call")]


def _also(one: Moved) -> Evidence:
    words = phrase("{} (pid {}): {:.0f moves per s}", one.command, one.pid, one.moves_per_s)
    return Evidence("process", f"pid = {one.pid}", words, "", "this one, too")
