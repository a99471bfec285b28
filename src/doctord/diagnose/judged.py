"""What a case lets one judge: of each area whether that was measured which would show it to be in trouble.

A clean bill is worth as much as what was looked at: no finding about disks of which nothing is known is no health. What
a tool prints once is since boot, or of one moment, and shows neither trouble nor health.
"""

from collections.abc import Callable, Mapping, Sequence

import polars as pl

from doctord.analyse.host.blocked_tasks import mostly_blocked
from doctord.analyse.latency.storage import storage_histograms
from doctord.analyse.sql.logged_statements import durations_are_all_told
from doctord.analyse.storage import disks
from doctord.analyse.traces.calls import clock_s
from doctord.analyse.vitals import ACTIVE
from doctord.dataset.calltrace import Trace
from doctord.diagnose import service
from doctord.diagnose.case import Case
from doctord.diagnose.finding import NotMeasured
from doctord.diagnose.phrase import Words, phrase

# A request that finds four before it waits longer than it is served.
QUEUED = 4.0
# What holds a third of the time is missed by ten looks with a probability of 2 %, by three of 30 %.
FEWEST_MOMENTS = 10
NUMBERS_OF_SESSIONS = r"^(processlist|pg_stat_activity)\."
COLLECT: Mapping[str, str] = {
    "mysql": "ten times and more, a second apart, SHOW FULL PROCESSLIST; or doctord record",
    "postgresql": "ten times and more, a second apart, select * from pg_stat_activity; or doctord record",
    "oracle": "AWR, Statspack or ASH of the same time",
    "": "doctord record",
}
_MEMORY = ("available_bytes", "pressure_some_pct", "swap_in_per_s", "scan_per_s")
_DISK = ("read_ms", "write_ms", "request_ms", "device_ms", "util_pct", "queue", "device_queue")


def _has(table: str, *columns: str, at_once: bool = False) -> Callable[[Case], bool]:
    """Whether one of the columns was measured over some time; what does not change soon, at one moment (`at_once`)."""

    def has(case: Case) -> bool:
        rows = case.dataset.frame(table).filter(pl.any_horizontal(pl.col(columns).is_not_null()))
        return rows.height > 0 and (at_once or rows["interval_s"].count() > 0 or rows["ts"].n_unique() > 1)

    return has


def _tells_cpus(case: Case) -> bool:
    """Whether the CPUs were measured over some time; how many tasks were ready at some moments is no such figure."""
    queues = case.dataset.frame("cpu").filter(pl.col("run_queue").is_not_null())
    return _has("cpu", "idle_pct")(case) or queues["interval_s"].count() > 0


def _moments(case: Case) -> int:
    """How often sessions were looked at; of a moment without one at work their numbers stand alone."""
    sessions = case.dataset.frame("session")
    numbers = case.dataset.rows("statistic", pl.col("name").str.contains(NUMBERS_OF_SESSIONS), "ts")
    return pl.concat([sessions["ts"], numbers["ts"]]).n_unique() if sessions.height else 0


def _is_few_moments(case: Case) -> bool:
    """Whether sessions were looked at a few times only, as by a select from pg_stat_activity: what of it lasts?"""
    return case.dataset.frame("wait").is_empty() and 0 < _moments(case) < FEWEST_MOMENTS


def untold(case: Case, areas: Sequence[str]) -> tuple[NotMeasured, ...]:
    """What is missing where a database was seen, and still nothing can be judged: no area, as `judged` tells them."""
    if not case.dbs or areas:
        return ()
    looks = _moments(case)
    why: Words = "figures that count, without the time that sessions waited"
    if looks:
        why = phrase("sessions were looked at {:count time/times}, which tells nothing that lasts", looks)
    vendor = case.dbs[0].partition(":")[0]
    return (NotMeasured("where the time of sessions went", why, COLLECT.get(vendor, COLLECT[""])),)


def past_untold(case: Case) -> tuple[NotMeasured, ...]:
    """That nobody knows how a server was before whose sessions were looked at.

    What became four times slower and still waits for nothing is well by its own figures: its past alone tells.
    """
    if ACTIVE not in case.sampled_vitals or ACTIVE in case.usual:
        return ()
    known = "too little" if case.earlier and case.earlier.until else "nothing"
    why = f"{known} is recorded of the time before"
    return (NotMeasured("whether it is slower than it was", why, "doctord record, which keeps its past"),)


def _tells_disks(case: Case) -> bool:
    """Whether the database's disks were measured; of a test, which keeps them busy, its own latencies tell.

    Not where one was busy all the time for a while, and nothing tells whether anybody waited for it.
    """
    if case.other_storage is not None:
        return False
    if case.is_storage_test and case.dataset.frame("latency").is_empty():
        return False
    if not case.is_time_measured and disks.busy_untold(disks.intervals(case.dataset)):
        return False
    return _has("disk", *_DISK)(case)


def _tells_processes(case: Case) -> bool:
    """Whether the CPU time of processes was measured over some time, or their waiting; one alone shows no host."""
    at_once = case.dataset.frame("process").group_by("ts", maintain_order=True)
    numbers = at_once.agg(count=pl.struct("pid", "command").n_unique())["count"]
    timed = case.processes.filter(pl.any_horizontal(pl.col("cpu_s", "run_wait_s").is_not_null()))
    return not timed.is_empty() and numbers.max() != 1


def _is_timed(trace: Trace) -> bool:
    """Whether it tells how long calls took of what time, in more than whole seconds: a summary may not say of what."""
    has_whole = trace["trace"]["kind"] != "summary" or trace["totals"]["elapsed_s"] is not None
    return has_whole and bool(trace["totals"]["in_calls_s"]) and clock_s(trace) is None


# That a server was up and did something is no judgement by itself, and of no file is it asked.
SERVICE = "service"
# In the order in which they are told: those of a whole look at a host with a database, and what may be there instead.
WHOLE: Mapping[str, Callable[[Case], bool]] = {
    "database time": lambda case: case.is_time_measured and not _is_few_moments(case),
    SERVICE: service.is_measured,
    "CPUs": _tells_cpus,
    "memory": _has("memory", *_MEMORY),
    "disks": _tells_disks,
}
FURTHER: Mapping[str, Callable[[Case], bool]] = {
    "system calls": lambda case: case.trace is not None and _is_timed(case.trace),
    "processes": _tells_processes,
    "storage latencies": lambda case: bool(storage_histograms(case.dataset)),
    "statement durations": lambda case: durations_are_all_told(case.dataset),
    "network": _has("network", "retransmits_per_s"),
    "file systems": _has("filesystem", "used_bytes", at_once=True),
    "guests": _has("guest", "guest", at_once=True),
    "address translation": _has("translation", "ts", at_once=True),
    "I/O requests": _has("block_io", "bytes", at_once=True),
}


def judged(case: Case) -> tuple[str, ...]:
    """The areas of a whole look of which enough was measured, by name; where that is none, the further ones.

    None where most tasks wait for devices of which nothing is told: nobody knows whether these are well.
    """
    if not case.is_time_measured and (blocked := mostly_blocked(case.dataset)) and blocked.tasks >= QUEUED:
        return ()
    whole = _measured(case, WHOLE)
    return whole if set(whole) - {SERVICE} else _measured(case, FURTHER)


def not_judged(case: Case) -> tuple[str, ...]:
    """The areas of a whole look of which nothing was measured that would show trouble; none in a trace alone."""
    if case.trace is not None and not case.dataset.tables:
        return ()
    told = {*_measured(case, WHOLE), *(() if service.is_of_interest(case) else (SERVICE,))}
    return tuple(name for name in WHOLE if name not in told)


def _measured(case: Case, areas: Mapping[str, Callable[[Case], bool]]) -> tuple[str, ...]:
    return tuple(name for name, was_measured in areas.items() if was_measured(case))
