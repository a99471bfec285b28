"""CPU: who waits for a processor, and who or what has it meanwhile."""

from collections.abc import Iterator

import polars as pl

from doctord.analyse.host import cgroups
from doctord.analyse.host.full_moments import LEAST_IDLE_PCT, FullMoments, used_in, wanted_in
from doctord.analyse.host.other_processes import Consumer, consumers
from doctord.analyse.host.processes import DATABASE_COMMAND
from doctord.analyse.spells import LASTING, LASTING_S, held
from doctord.analyse.time import RUN_QUEUE
from doctord.diagnose.case import WORTH_SAYING_SESSIONS, WORTH_SAYING_SHARE, Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.host import pool_size
from doctord.diagnose.common.holders import cpu_users, holder, largest, named, rows_of, to_begin_with
from doctord.diagnose.common.starved import (
    MOST_WAITED,
    idle_pct,
    is_crowded,
    is_full,
    is_starved,
    severity,
    starving_moments,
    waiting,
)
from doctord.diagnose.evidence import Sign, past, weigh
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence, NotMeasured, at_most
from doctord.diagnose.phrase import phrase

# PSI counts any waiting task, so that two short tasks meeting on a quiet host give a few per cent.
PRESSURE_PCT = 20.0
# One task running and one waiting on every CPU.
QUEUE_PER_CPU = 2.0
# Tasks running are counted in: up to one for each CPU nobody waits.
NO_QUEUE_PER_CPU = 1.0
# A quarter of the host: what is left to the database is then plainly less than it was bought for.
OUTSIDE_SHARE = 0.25
# Who has most of the CPUs at the moments when sessions wait for one, or asks for most of them, is why they do.
MOST_OF_CPUS = 0.5
# One period in twenty: a group that stays below its limit on average still loses a rare period to a burst.
THROTTLED_PERIODS = 0.05
# A tenth of every second in which the whole group stands still: clients notice, even between two statements.
STANDING_STILL_S_PER_S = 0.1
# The casebook's log writer that lost the CPU had 30 % involuntary switches.
INVOLUNTARY_SHARE = 0.3
# A tenth of the CPU time asked for: hypervisors that share fairly keep below it.
STOLEN_SHARE = 0.1
# Where the number of CPUs is not known: sustained, with many involuntary switches, a bottleneck in the casebook.
LONG_QUEUE = 10.0
# From here on the casebook asks for a look at system calls, on a host that is full.
SYSTEM_PCT = 5.0
SESSIONS = "waits of the database over the same time (AWR, Statspack, sampled sessions)"
UNKNOWN_WAITS = NotMeasured(
    "who waited for a CPU, and for how long",
    "neither sessions nor the run queue's time are in it",
    f"{SESSIONS}, /proc/PID/schedstat, doctord record",
)
UNKNOWN_SESSIONS = NotMeasured("what it cost the sessions", "the host's processes alone were seen", SESSIONS)
UNKNOWN_CLIENTS = NotMeasured(
    "whether they are the database's own clients", "no session was seen that names its program", SESSIONS
)


@cause(
    explains=("log_writer_preempted", "process_waits_for_cpu", "logins_slow", "switching_too_often"),
    waits=("run queue",),
)
def cpu_saturated(case: Case) -> Iterator[Claim]:
    """Sessions queue for a CPU.

    Looks like: no CPU is idle, and processes that are ready to run wait for their turn.
    Hurts because: each step of a statement waits for a CPU first; what holds a lock meanwhile makes others wait too.
    Speaks for it: the run queue's share of the time, idle time near zero, pressure, tasks in the run queue per CPU,
        and who uses the CPUs. On average a CPU may be free: then that most of the waiting is at the moments when none
        is. Where nobody's wait was measured, idle time alone says that the CPUs are saturated, and
        not what that costs.
    Speaks against it: idle time or low pressure; a run queue no longer than there are CPUs: then work fills them, and
        nobody waits. Load average and wait I/O speak neither way: the one counts tasks that wait for disks, the other
        is idle time.
    Remedy: Find the statements and processes that use the CPUs, and make them do less: plans, indexes, calls; limit
        the number of sessions at work to about the number of CPUs by a pool; then think of more CPUs.
    Verify: The run queue's share of the time falls at the same transactions per second.
    Source: Microstate accounting as in Solaris' prstat -m (LAT); kernel documentation, "PSI - Pressure Stall
        Information"; K. Manoharan, 2008: run queues are judged per CPU and against what users feel.
    """
    moments = starving_moments(case)
    if not is_starved(case) and moments is None:
        yield from () if case.is_time_measured else _saturated_host(case)
        return
    share = case.time.share(*RUN_QUEUE)
    for_, against = weigh(signs_of_saturation(case)) if moments is None else (_at_moments(case, moments), [])
    _, as_before = weigh(past(case, "CPU used"))
    at_times = "" if moments is None else phrase(" for {:share} of the time", moments.part)
    yield Claim(
        phrase("The CPUs are saturated{}: {:share} of the time is spent waiting for one", at_times, share),
        impact=share,
        confidence=0.6 if against else 0.85,
        for_=[*for_, *pool_size.evidence(case), *cpu_users(case), *named(case, "cpu_share"), *_of_sessions(case)],
        against=(*against, *as_before),
        first_steps=[*pool_size.first_step(case), *to_begin_with(case, "cpu_share")],
    )


@cause()
def cpu_full(case: Case) -> Iterator[Claim]:
    """The CPUs are full, while the sessions' time goes elsewhere.

    Looks like: no CPU is idle and the kernel sees tasks wait for one, but few sessions are among them: they queue
        behind a lock, say, or nobody is at work.
    Hurts because: whoever holds what the others wait for runs the slower for it, and who comes next finds no CPU.
    Speaks for it: idle time near zero, pressure, tasks in the run queue per CPU, and who uses the CPUs.
    Speaks against it: little of the sessions' time in the run queue: most of their waits would stay with idle CPUs.
    Remedy: Move the named process to another host or a quiet time; until then lower its weight (nice, cgroup
        cpu.weight). Where it is the database's own, look at what it does.
    Verify: CPU pressure and the run queue fall; then see what is left of the sessions' waits.
    Source: Kernel documentation, "PSI - Pressure Stall Information".
    """
    pressure, queue = case.mean("cpu", "pressure_some_pct") or 0.0, _queue_per_cpu(case) or 0.0
    is_waited_for = pressure >= PRESSURE_PCT or queue >= QUEUE_PER_CPU
    users = cpu_users(case)
    if not case.is_time_measured or not is_full(case) or is_starved(case) or not is_waited_for or not users:
        return
    first = consumers(case.cpu_users, pl.col("cpu_s"))[0]
    used = first.amount / case.process_seconds
    for_, against = weigh(signs_of_saturation(case))
    yield Claim(
        phrase("The CPUs are full: {} takes {:share} of them", first.name, used / case.cpus)
        if case.cpus
        else phrase("The CPUs are full: {} takes {:.2g} of them", first.name, used),
        impact=at_most(case.time.share("CPU") + case.time.share(*RUN_QUEUE)),
        confidence=0.6,
        for_=[*users, *for_],
        against=against,
        severity="note",  # what it costs the sessions is not known, and most of their time goes elsewhere
    )


@cause(
    explains=("cpu_saturated", "log_writer_preempted", "commits_slow", "log_writer_starved", "logins_slow"),
    waits=("run queue",),
)
def cpu_other_processes(case: Case) -> Iterator[Claim]:
    """Processes outside the database take the CPUs that it waits for.

    Looks like: no CPU is idle, the database's processes queue, and much of the CPU time went to others; all the time,
        or for seconds, again and again.
    Hurts because: the scheduler shares CPUs fairly among all that are ready, and knows nothing of who matters.
    Speaks for it: CPU used by processes outside the database, those that live too short to be sampled among them; time
        that the database's processes waited for a CPU.
    Speaks against it: a host that is full without them: then the database alone needs more than there is.
    Remedy: Move the named process to another host or a quiet time; until then lower its weight (nice, cgroup
        cpu.weight) or bind it to CPUs that the database does not use. Of processes that come and go by the hundred find
        who starts them (a monitoring script, a loop in a shell): one that stays costs a hundredth.
    Verify: With the process gone the run queue's share falls and transactions per second return.
    Source: K. Manoharan, 2008, the reactive path: confirm from the database's waits, rule out other processes first.
    """
    if moments := starving_moments(case):
        yield from _others_at_moments(case, moments)
        return
    seconds = case.process_seconds
    capacity_s = seconds * case.cpus
    others = consumers(case.other_cpu_users, pl.col("cpu_s"))
    used_s = sum(other.amount for other in others)
    if not capacity_s or used_s < OUTSIDE_SHARE * capacity_s or not case.vendors or not is_starved(case):
        return
    ours_s = float(case.cpu_users.filter("database")["cpu_s"].sum() or 0.0)
    wanted_s, ours_wanted_s = _wanted_s(case.other_cpu_users), _wanted_s(case.cpu_users.filter("database"))
    for_, against = weigh(signs_of_saturation(case))
    share = case.time.share(*RUN_QUEUE) * wanted_s / (wanted_s + ours_wanted_s) if case.dbs else None
    yield Claim(
        phrase("{} and all else outside the database take {:share} of the CPUs", others[0].name, used_s / capacity_s),
        impact=NOT_MEASURED if share is None else share,
        severity=None if share is None else severity(case, share),
        # A crowd of sessions queues behind itself, whoever else is there.
        explains_waits=wanted_s >= ours_wanted_s or not is_crowded(case),
        confidence=0.9 if case.dbs else 0.6,
        for_=[
            Evidence(
                "process",
                f"not regexp_matches(command, '{DATABASE_COMMAND}')",
                phrase("processes outside the database used {:.2f} of {} CPUs", used_s / seconds, case.cpus),
                phrase("{:share}", OUTSIDE_SHARE),
                phrase("the database's own got {:.2f}", ours_s / seconds),
            ),
            *(_consumer(other, capacity_s) for other in others[:3]),
            *_short_lived(case, others[:3]),
            *for_,
        ],
        against=against,
        not_measured=() if case.dbs else [UNKNOWN_CLIENTS],
    )


@cause(
    explains=("cpu_saturated", "log_writer_preempted", "commits_slow", "log_writer_starved", "logins_slow"),
    waits=("run queue", "cpu"),
)
def cpu_throttled(case: Case) -> Iterator[Claim]:
    """The control group's CPU limit stops the database.

    Looks like: sessions wait for a CPU although the host has idle ones; the group's throttled time grows.
    Hurts because: once the group has used its quota, all its processes stand still until the next period (100 ms as a
        rule), whoever holds a lock among them.
    Speaks for it: periods that were cut short, throttled time against CPU time used, the limit itself.
    Speaks against it: few throttled periods.
    Remedy: Raise the group's limit (cpu.max; cpu.cfs_quota_us in version 1; the limit in the container's definition),
        or run with fewer sessions and parallel workers than the limit has CPUs.
    Verify: nr_throttled stands still at the same load.
    Source: Kernel documentation, "CFS Bandwidth Control".
    """
    for group in cgroups.cpu_groups(case.dataset):
        if (finding := _throttled(case, group)) is not None:
            yield finding
            return  # what stops a group stops the groups in it


@cause(waits=("cpu", "run queue"))
def cpu_stolen(case: Case) -> Iterator[Claim]:
    """The hypervisor gives the host's CPU time to others.

    Looks like: steal time; the same statements take more time with the same CPU time counted by the host.
    Hurts because: a virtual CPU that is not running holds up whatever is on it, locks included, and nothing inside the
        machine can see why.
    Speaks for it: steal time as a share of the CPU time that the machine asked for.
    Speaks against it: little CPU in the time model: then the stolen time was nobody's wait.
    Remedy: Ask for reserved CPUs or a less loaded hypervisor; on burstable cloud machines look at the credits.
    Verify: steal_pct falls, and CPU time per transaction with it.
    Source: proc(5), steal; J. Doelle and S. Langer, 2012: guests that shared a hypervisor with fifty others.
    """
    steal, idle = case.mean("cpu", "steal_pct"), idle_pct(case)
    if steal is None or idle is None or idle >= 100:
        return
    stolen = steal / (100 - idle)
    impact = (case.time.share("CPU") + case.time.share(*RUN_QUEUE)) * stolen
    if stolen < STOLEN_SHARE or not case.worth_saying(impact):
        return
    yield Claim(
        phrase("The hypervisor withholds {:share} of the CPU time that this machine asks for", stolen),
        impact=impact,
        confidence=0.9,
        for_=[
            Evidence(
                "cpu",
                "cpu is null",
                phrase("{:.1f %} of all CPU time stolen", steal),
                phrase("{:.1f %}", STOLEN_SHARE * (100 - idle)),
                "the machine was ready to run and did not get a CPU",
                "at_least",
            )
        ],
    )


def _throttled(case: Case, group: cgroups.CpuGroup) -> Claim | None:
    throttled, part, limit = group.throttled_s_per_s, group.cut_short, group.limit_cpus
    if not throttled or not case.seconds:
        return None
    used = float(case.processes.filter("database")["cpu_s"].sum() or 0.0) / case.process_seconds
    wanting = case.time.share("CPU") + case.time.share(*RUN_QUEUE)
    impact = max(case.time.share(*RUN_QUEUE), wanting * throttled / (throttled + used))
    felt = case.worth_saying(impact) or (impact >= WORTH_SAYING_SHARE and throttled >= STANDING_STILL_S_PER_S)
    if not felt or (part is not None and part < THROTTLED_PERIODS):
        return None
    allowed = "limited" if limit is None else phrase("limited to {:g CPUs}", limit)
    for_, against = weigh(
        [
            Sign("statistic", f"name = 'cpu.nr_throttled_per_s' and entity = '{group.path}'",
                 None if part is None else part * 100, THROTTLED_PERIODS * 100,
                 "{:.0f %} of the periods were cut short", phrase("the group is {}", allowed)),
            Sign("cpu", "cpu is null", idle_pct(case), LEAST_IDLE_PCT, "{:.0f %} of the host's CPU time is idle",
                 "the host has room that the limit denies", "the host itself has little left"),
        ]
    )  # fmt: skip
    return Claim(
        phrase("Control group {} is {} and kept from the CPUs for {:share} of the time", group.path, allowed, impact),
        impact=impact,
        confidence=0.85 if part is None else 0.95,
        for_=[
            Evidence(
                "statistic",
                f"name = 'cpu.throttled_s_per_s' and entity = '{group.path}'",
                phrase("throttled {:.2f s per s}", throttled),
                "none",
                phrase("the database used {:.2f CPUs} meanwhile", used),
            ),
            *for_,
        ],
        against=against,
    )


def _others_at_moments(case: Case, moments: FullMoments) -> Iterator[Claim]:
    """That others have the CPUs at the moments when sessions wait for one, though on average there is room."""
    rows, capacity_s = case.other_processes, moments.seconds * case.cpus
    used_s = used_in(case.dataset, rows["pid"], moments.ends)
    others = consumers(rows, pl.col("cpu_s"))
    if not others or used_s < OUTSIDE_SHARE * capacity_s:
        return
    database = case.processes.filter("database")
    wanted_s, ours_wanted_s = (wanted_in(case.dataset, some["pid"], moments.ends) for some in (rows, database))
    named = [
        (other, used_in(case.dataset, rows.filter(command=other.command)["pid"], moments.ends)) for other in others[:3]
    ]
    yield Claim(
        phrase("{} and all else outside the database take {:share} of the CPUs at times: {:count time/times} in "
               "{:.0f s}", others[0].name, used_s / capacity_s, moments.times, case.process_seconds),
        impact=case.time.share(*RUN_QUEUE) * wanted_s / (wanted_s + ours_wanted_s),
        explains_waits=used_s >= MOST_OF_CPUS * capacity_s or wanted_s >= ours_wanted_s,
        confidence=0.85,
        for_=[
            *(
                Evidence("process", f"command = '{other.command}'",
                         phrase("{}: {:share} of the host's CPU time at these moments", other.name, then / capacity_s),
                         phrase("{:share}", OUTSIDE_SHARE), "not a process of the database")
                for other, then in named
            ),
            *_at_moments(case, moments),
        ],
    )  # fmt: skip


def _at_moments(case: Case, moments: FullMoments) -> list[Evidence]:
    """How often no CPU was left, how much of the waiting was just then, and how much room there is on average."""
    return [
        Evidence("cpu", f"cpu is null and idle_pct <= {LEAST_IDLE_PCT:g}",
                 phrase("{:count time/times}, {:.0f s} together", moments.times, moments.seconds), "",
                 phrase("as good as no CPU time idle; {:.0f %} on average", idle_pct(case))),
        Evidence("process", "run_wait_pct is not null",
                 phrase("{:share} of the sessions' waiting for a CPU is at these moments", moments.waited),
                 phrase("{:share}", MOST_WAITED), "an average hides them", "at_least"),
    ]  # fmt: skip


def _wanted_s(processes: pl.DataFrame) -> float:
    """Seconds in which processes were on a CPU or ready for one: who queues makes others queue as well."""
    return float(processes.select(pl.col("cpu_s", "run_wait_s").fill_null(0.0).sum()).sum_horizontal().item())


def _of_sessions(case: Case) -> list[Evidence]:
    """Users and programs with their part of the sessions' CPU time, where there are several."""
    parts = [largest(case, "cpu_share", kind) for kind in ("user", "program")]
    return [holder(one, "cpu_share") for those in parts if len(those) > 1 for one in those]


def _queue_per_cpu(case: Case) -> float | None:
    queue = case.mean("cpu", "run_queue")
    return None if queue is None or not case.cpus else queue / case.cpus


def _saturated_host(case: Case) -> Iterator[Claim]:
    """CPUs that are full, where no session's wait was measured; a note where nobody waits for one."""
    full, longest_s = _full_spells(case.host_cpu)
    idle, per_cpu = idle_pct(case), _queue_per_cpu(case)
    if idle is None or (full < LASTING and longest_s < LASTING_S):
        return
    for_, against = weigh([*signs_of_saturation(case, full, longest_s), *_host_signs(case)])
    ready = waiting(case)
    is_waited_for = (ready or 0.0) >= WORTH_SAYING_SESSIONS or (per_cpu or 0.0) > NO_QUEUE_PER_CPU
    often = (
        phrase(" for {:share} of the time", full)
        if full >= LASTING
        else phrase(" for {:.0f min} on end", longest_s / 60)
    )
    yield Claim(
        phrase("The CPUs are saturated{}: {:.0f %} of their time is used", "" if full >= 1 else often, 100 - idle),
        impact=NOT_MEASURED,
        confidence=0.85 if (ready or 0.0) >= WORTH_SAYING_SESSIONS and not against else 0.6,
        for_=[*for_, *cpu_users(case)],
        against=against,
        not_measured=[UNKNOWN_WAITS if ready is None else UNKNOWN_SESSIONS],
        severity=None if is_waited_for or (ready is None and per_cpu is None) else "note",
    )


def _full_spells(host_cpu: pl.DataFrame) -> tuple[float, float]:
    """Share (0 to 1) of the time in which the CPUs were as good as never idle, and the longest such time, seconds."""
    idle = pl.col("idle_pct") + pl.col("wait_io_pct").fill_null(0.0)
    full = held(host_cpu.filter(pl.col("idle_pct").is_not_null()), idle <= LEAST_IDLE_PCT)
    return (full["part"].item() or 0.0, full["longest_s"].item() or 0.0) if full.height else (0.0, 0.0)


def _involuntary_share(case: Case) -> float | None:
    """Share (0 to 1) of context switches that were not asked for."""
    switches, involuntary = case.mean("cpu", "csw_per_s"), case.mean("cpu", "icsw_per_s")
    return None if not switches or involuntary is None else involuntary / switches


def _host_signs(case: Case) -> list[Sign]:
    """What else speaks where only figures of the host as a whole are at hand."""
    lost = _involuntary_share(case)
    queue = case.mean("cpu", "run_queue") if _queue_per_cpu(case) is None else None
    return [
        Sign("cpu", "cpu is null", queue, LONG_QUEUE, "{:.0f} tasks running or ready",
             "how many CPUs share them is not told"),
        Sign("cpu", "cpu is null", None if lost is None else lost * 100, INVOLUNTARY_SHARE * 100,
             "{:.0f %} of the context switches involuntary",
             "who runs is pushed off the CPU", "who leaves a CPU mostly has nothing to do"),
        Sign("cpu", "cpu is null", case.mean("cpu", "sys_pct"), SYSTEM_PCT, "{:.0f %} of the time in the kernel",
             "look at the system calls: truss -c, strace -c, dtrace"),
    ]  # fmt: skip


def signs_of_saturation(case: Case, full: float | None = None, longest_s: float | None = None) -> list[Sign]:
    """What speaks of saturated CPUs; of a host alone with the share of the time in which they were, and the longest."""
    pressure = case.mean("cpu", "pressure_some_pct")
    return [
        Sign("session", "wait_class = 'CPU'", case.time.share(*RUN_QUEUE) * 100 or None, WORTH_SAYING_SHARE * 100,
             "{:.0f %} of the time in the run queue", "ready to run, and waiting for a CPU"),
        Sign("process", "run_wait_pct is not null", waiting(case), WORTH_SAYING_SESSIONS,
             "{:.2f} processes waiting for a CPU on average", "as the kernel's scheduler accounts for it"),
        Sign("cpu", "cpu is null", idle_pct(case), LEAST_IDLE_PCT, "{:.1f %} of the CPU time idle",
             "nothing is left", "" if full else "there is CPU left", below=True),
        Sign("cpu", f"cpu is null and idle_pct <= {LEAST_IDLE_PCT:g}", None if full is None else full * 100,
             LASTING * 100, "as good as never idle for {:.0f %} of the time", "longer than a burst"),
        Sign("cpu", f"cpu is null and idle_pct <= {LEAST_IDLE_PCT:g}", longest_s, LASTING_S,
             "never idle for {:.0f s} on end", "longer than a burst"),
        Sign("cpu", "cpu is null", _queue_per_cpu(case), QUEUE_PER_CPU, "{:.1f} tasks running or ready per CPU",
             "for each task on a CPU another one waits", "the run queue is short when looked at"),
        Sign("cpu", "cpu is null", pressure, PRESSURE_PCT, "pressure: some task waited for a CPU {:.0f %} of the time",
             "the kernel sees the queue too", "hardly anybody waited"),
    ]  # fmt: skip


def _consumer(other: Consumer, capacity_s: float) -> Evidence:
    return Evidence(
        *rows_of(other),
        phrase("{}: {:share} of the host's CPU time", other.name, other.amount / capacity_s),
        "",
        "not a process of the database",
    )


def _short_lived(case: Case, users: list[Consumer]) -> list[Evidence]:
    """How many of those come and go that live too short to be sampled, and what each costs."""
    names = {user.command for user in users if user.pid is None}
    return [
        Evidence(
            "statistic",
            f"name = 'short_lived.ends_per_s' and entity = '{one.command}'",
            phrase("{:.0f} of {} come and go per s", one.count / case.process_seconds, one.command),
            "",
            phrase("{:time} of CPU each{}", one.cpu_s / one.count,
                   "" if one.elapsed_s is None else phrase(", in a life of {:time}", one.elapsed_s)),
        )
        for one in case.short_lived
        if one.command in names and one.count
    ]  # fmt: skip
