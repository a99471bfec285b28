"""Oracle's CPU: what the time model says against what the host was busy with."""

from collections.abc import Iterator

import polars as pl

from doctord.analyse.host.processors import ALL_BUSY, Processors, processors
from doctord.analyse.time import UNACCOUNTED
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.holders import cpu_users, named, to_begin_with
from doctord.diagnose.common.oracle import counted, idle_pct, per
from doctord.diagnose.common.waited import share, waited
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import NONE_YET, Claim, Evidence, NotMeasured
from doctord.diagnose.phrase import phrase

BUSY = "v$osstat.BUSY_TIME"
LOAD = "v$osstat.LOAD"
CPUS = "v$osstat.NUM_CPUS"
OURS = ("v$sys_time_model.DB CPU", "v$sys_time_model.background cpu time")
MANAGER = ("resmgr:cpu quantum", "resmgr:become active", "resmgr: pq queued", "resmgr:pq queued",
           "resmgr:small table scan", "resmgr:large I/O queued", "resmgr: I/O rate limit")  # fmt: skip
# A tenth left is what bursts within a second use up.
LEAST_IDLE_PCT = 10.0
QUEUE_PER_CPU = 2.0
# What the sums of a report do not reconcile to: rounding, and time between two instrumented calls.
RECONCILED = 0.1
# Less than two thirds of what the host did was this database's doing.
OWN_SHARE = 2 / 3
# Tasks that wait for a CPU are those of the whole host: half as many as the sessions that are missing, and they are it.
MISSING_QUEUED = 0.5
MANAGED = "v$osstat.RSRC_MGR_CPU_WAIT_TIME"
WAITED = "v$osstat.OS_CPU_WAIT_TIME"
QUEUE_UNKNOWN = NotMeasured(
    "how many tasks waited for a CPU",
    "the report has no OS_CPU_WAIT_TIME",
    "sar -q or vmstat (r) of the same time, prstat -m (LAT), lparstat and mpstat on AIX.",
)
ENTITLED = ("sar.%entc", "vmstat.cpu ec", "lparstat.%entc")
PHYSICAL = ("LPAR.PhysicalCPU", "LPAR.entitled")


@cause(
    explains=(
        "log_writer_starved",
        "library_cache_contention",
        "cursor_contention",
        "hot_buffers",
        "cluster_congested",
    ),
    waits=("cpu", "run queue"),
)
def host_cpu_short(case: Case) -> Iterator[Claim]:
    """The host has no CPU left, and sessions of the database wait for one.

    Looks like: a host that is busy all the time, or tasks that wait for a CPU (OS_CPU_WAIT_TIME); database time that is
        neither CPU nor a wait.
    Hurts because: a session that is ready but not running is in no wait event; what holds a latch meanwhile holds up
        others, so that waits of all kinds grow.
    Speaks for it: idle time, tasks that waited for a CPU, database time that nothing accounts for, tasks per CPU, busy
        threads on each core, what a partition used of what it may, who used the CPUs.
    Speaks against it: little unaccounted time: then the CPUs are used, and nobody waits for them. Idle logical CPUs say
        little where several share a core: with one busy thread on each, no core is idle.
    Remedy: The statements that use most CPU first. Where others share the host, part them or cap them (resource
        manager, instance caging). Fewer sessions at work at once: a connection pool. Then more CPUs; of a partition
        more entitled capacity and virtual CPUs.
    Verify: The unaccounted share falls at the same executions; idle time above a tenth; OS_CPU_WAIT_TIME falls.
    Source: Oracle Database Performance Tuning Guide 19c, "CPU statistics"; Oracle Database Reference 19c, V$OSSTAT;
        Dias et al., CIDR 2005; K. Manoharan, 2008; Z. Nyiri, 2017 (CPU time on AIX is parts of cores).
    """
    rest = case.time.share(*UNACCOUNTED)
    if not _short(case):
        return
    for_, against = weigh(_signs(case))
    yield Claim(
        phrase("The host has no CPU left: {:share of database} is spent ready and not running", rest),
        impact=case.felt(rest),
        confidence=0.7 if against else 0.85,
        for_=[*for_, *cpu_users(case), *named(case, "cpu_share")],
        against=against,
        first_steps=to_begin_with(case, "cpu_share"),
    )


@cause()
def time_unaccounted(case: Case) -> Iterator[Claim]:
    """Database time is neither CPU nor a wait, although the host has CPUs to spare.

    Looks like: DB time well above DB CPU plus all foreground waits.
    Hurts because: it is somebody's time, and the server cannot say on what.
    Speaks for it: the difference, and idle time on the host.
    Speaks against it: a busy host, or tasks that waited for a CPU: then it is the run queue.
    Remedy: Find out below the server: a hypervisor that withholds CPUs (steal time, ready time), a capped partition,
        paging of the processes, bursts shorter than the report. Collect sar or vmstat of the same time, microstates of
        the processes (prstat -mL), or the hypervisor's figures.
    Verify: DB time equals DB CPU plus waits within a few per cent.
    Source: Oracle Database Performance Tuning Guide 19c, "Time model statistics"; T. Poder, 2010 (unaccounted time).
    """
    rest, idle = case.time.share(*UNACCOUNTED), _least_idle(case)
    full = idle is not None and idle <= LEAST_IDLE_PCT
    if rest < RECONCILED or not case.worth_saying(rest) or full or _short(case):
        return
    cpus = processors(case.dataset)
    yield Claim(
        phrase("{:share of database} is neither CPU nor a wait", rest),
        impact=rest,
        confidence=0.5,
        for_=[
            Evidence("wait", "DB time - DB CPU - waits", phrase("{:share of database}", rest),
                     phrase("{:share}", RECONCILED), "unaccounted for", "at_least"),
            *([] if idle is None or cpus.share_cores else
              [Evidence("cpu", "cpu is null", phrase("{:.0f %} of the CPU time idle", idle), "",
                        "the run queue is not full")]),
            *_threads(cpus),
        ],
        not_measured=[QUEUE_UNKNOWN] if cpus.waiting is None else [],
    )  # fmt: skip


@cause()
def resource_manager_limits(case: Case) -> Iterator[Claim]:
    """The database's own resource manager keeps sessions from running.

    Looks like: resmgr:cpu quantum, resmgr:become active, queued parallel statements.
    Hurts because: a session that may not run waits although its work is ready.
    Speaks for it: share of the time, the plan, idle CPUs of the host.
    Speaks against it: a host without idle CPUs: then the manager only decides who waits.
    Remedy: See which plan is active and why (maintenance windows switch plans by themselves); give the consumer group
        its due share; with instance caging raise cpu_count to what the host can give.
    Verify: The share of the events while the host has CPUs to spare.
    Source: Oracle Database Administrator's Guide 19c, "Managing Resources with Oracle Database Resource Manager".
    """
    part = share(case, *MANAGER)
    if not case.worth_saying(part):
        return
    allowed, cpus = case.setting_of_any("cpu_count"), max((one.mean for one in case.figures(CPUS)), default=None)
    plan = case.setting_of_any("resource_manager_plan")
    for_, against = weigh(
        [
            Sign("cpu", "cpu is null", idle_pct(case), LEAST_IDLE_PCT, "{:.0f %} of the CPU time idle",
                 "the host would let them run", "the host is full: someone has to wait"),
        ]
    )  # fmt: skip
    yield Claim(
        phrase("The resource manager holds sessions back: {:share of database}", part),
        impact=part,
        confidence=0.7 if against else 0.9,
        for_=[
            *waited(case, *MANAGER),
            *counted(case, MANAGED, "{:.1f} processes were ready and held back on average"),
            *for_,
            *([Evidence("setting", "name = 'resource_manager_plan'", phrase("plan {}", plan), "", "")] if plan else []),
            *([Evidence("setting", "name = 'cpu_count'", phrase("cpu_count {}", allowed),
                        phrase("{:.0f CPUs} of the host", cpus),
                        "instance caging" if allowed.isdigit() and int(allowed) < cpus else "not caged")]
              if allowed and cpus else []),
        ],
        against=against,
    )  # fmt: skip


@cause()
def partition_above_entitlement(case: Case) -> Iterator[Claim]:
    """A shared partition runs above the CPU that it is entitled to.

    Looks like: on AIX %entc (ec) above 100, physc (pc) above the entitled capacity.
    Hurts because: what is beyond the entitlement is lent: when the other partitions want theirs, it is gone, and
        what was quick becomes slow without any change here. Virtual processors are dispatched apart from each other.
    Speaks for it: consumption against the entitlement over the interval.
    Speaks against it: a pool with idle processors: it costs nothing as long as they stay idle.
    Remedy: Raise the entitlement to the usual consumption at the busiest, with virtual processors not far above it.
    Verify: %entc stays below 100 at the busiest hour.
    Source: IBM, PowerVM Virtualization Introduction and Configuration (SG24-7940); AIX documentation, lparstat.
    """
    used = _entitlement_pct(case)
    if used is not None and used > 100.0:
        yield Claim(
            phrase("The partition uses {:.0f %} of the CPU that it is entitled to", used),
            impact=NONE_YET,
            confidence=0.7,
            for_=[
                Evidence("statistic", f"name in {(*ENTITLED, *PHYSICAL)}", phrase("{:.0f %} of its entitlement", used),
                         phrase("{:.0f %}", 100),
                         "the rest is lent by other partitions", "at_least")
            ],
        )  # fmt: skip


def _entitlement_pct(case: Case) -> float | None:
    """CPU used of what the partition is entitled to, %; null when it is not known."""
    told = next((figure.mean for name in ENTITLED for figure in case.figures(name)), None)
    part = per(case, *PHYSICAL)
    return told if told is not None or part is None else part * 100


def _least_idle(case: Case) -> float | None:
    """Idle time of the busiest host, %; null when it was not measured."""
    idle = pl.col("idle_pct") + pl.col("wait_io_pct").fill_null(0.0)
    weight = pl.col("interval_s").fill_null(1.0)
    hosts = (
        case.host_cpu.filter(pl.col("idle_pct").is_not_null())
        .group_by("host", maintain_order=True)
        .agg(((idle * weight).sum() / weight.sum()).alias("idle"))
    )
    return float(hosts["idle"].min()) if hosts.height else None  # type: ignore[arg-type]


def _short(case: Case) -> bool:
    """Whether sessions waited for a CPU: none was idle, or so many tasks waited as sessions are missing."""
    idle, rest = _least_idle(case), case.time.share(*UNACCOUNTED)
    if case.time.of != "database" or not case.waits:
        return False
    felt, cpus = case.worth_saying(rest), processors(case.dataset)
    if idle is not None and idle <= LEAST_IDLE_PCT:
        queue = _queue(case, cpus)
        return felt or (queue is not None and queue >= QUEUE_PER_CPU)
    queued = cpus.waiting is not None and cpus.waiting >= _missing(case)
    cores_gone = cpus.used_up or (cpus.in_cores and cpus.all_cores_busy)
    return felt and rest >= RECONCILED and (queued or cores_gone)


def _missing(case: Case) -> float:
    """So many tasks waiting for a CPU account for the database time that nothing else does."""
    return MISSING_QUEUED * case.time.share(*UNACCOUNTED) * case.time.seconds_per_second


def _queue(case: Case, cpus: Processors) -> float | None:
    """Tasks running or ready for each CPU; for each core, where CPU time is counted in parts of these."""
    load, count = case.total(LOAD), cpus.cores if cpus.in_cores else case.total(CPUS)
    return load / count if load is not None and count else None


def _signs(case: Case) -> list[Sign]:
    """What the host's figures say of a CPU that is missing."""
    cpus, rest, idle = processors(case.dataset), case.time.share(*UNACCOUNTED), _least_idle(case)
    ours = _own_share(case, cpus)
    whose = "{:.0f %} of the time of the cores is this database's" if cpus.in_cores else (
        "{:.0f %} of the busy time is this database's"
    )  # fmt: skip
    return [
        Sign("cpu", "cpu is null", idle, LEAST_IDLE_PCT, "{:.1f %} of the CPU time idle", "nothing is left",
             "" if cpus.share_cores else "idle over the whole interval: it may have been full for a part of it",
             below=True),
        Sign("wait", "neither CPU nor a wait", rest * 100, 5.0, "{:.1f %} of database time unaccounted for",
             "sessions that were ready and not running", "sessions hardly queued"),
        Sign("statistic", f"name = '{WAITED}'", cpus.waiting, _missing(case),
             "{:.1f} tasks waited for a CPU on average", "sessions that are missing among them",
             "fewer than sessions are missing"),
        Sign("statistic", "name like 'v$osstat.NUM_%'", cpus.busy if cpus.share_cores else None,
             ALL_BUSY * (cpus.cores or 0.0),
             "{:.1f} threads at work on average",
             phrase("on {:.0f} cores: no idle logical CPU ({:.0f} in all) is an idle core", cpus.cores, cpus.logical)),
        Sign("statistic", "partition", cpus.consumed if cpus.limit else None,
             ALL_BUSY * (cpus.limit or 0.0), "{:.2f} cores used",
             "all that the partition may use"),
        Sign("statistic", f"name = '{LOAD}'", _queue(case, cpus), QUEUE_PER_CPU,
             "{:.1f} tasks running or ready per core" if cpus.in_cores else "{:.1f} tasks running or ready per CPU",
             "they queue"),
        Sign("statistic", f"name = '{BUSY}'", None if ours is None else ours * 100, OWN_SHARE * 100, whose,
             "it is the database's own work", "" if cpus.in_cores else "others on the host use the rest"),
    ]  # fmt: skip


def _threads(cpus: Processors) -> list[Evidence]:
    """Threads at work against cores, where idle logical CPUs are no idle CPUs."""
    if not cpus.share_cores or cpus.busy is None:
        return []
    told = phrase("{:.1f} threads at work on average, on {:.0f} cores of {:.0f} logical CPUs", cpus.busy, cpus.cores,
                  cpus.logical)  # fmt: skip
    return [Evidence("statistic", "name like 'v$osstat.NUM_%'", told, "", "idle logical CPUs are no idle cores")]


def _own_share(case: Case, cpus: Processors) -> float | None:
    """Of the host's busy time, what this database used (0 to 1); null when either was not measured.

    Where CPU time is counted in parts of cores, of all their time: busy threads are not what it could be held against.
    """
    whole, used = cpus.cores if cpus.in_cores else case.total(BUSY), [case.total(name) for name in OURS]
    if not whole or used[0] is None:
        return None
    return min(sum(cpu or 0.0 for cpu in used) / whole, 1.0)
