"""Tasks that wait for I/O, where nobody tells how long the devices take."""

from collections.abc import Iterator

from doctord.analyse.host.blocked_tasks import LASTING, LEAST_TASKS, MOST, Blocked, mostly_blocked
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import NOT_MEASURED, Claim, NotMeasured
from doctord.diagnose.phrase import phrase

# A large host has a few blocked tasks all day, and room for all the others. Where nobody tells how many CPUs there are:
# of the time without work, that in which a task of the CPU was blocked.
NEXT_TO_IDLE = 0.5
# A fifth of what is read being pages of memory: without them the devices would have a fifth less to do.
SWAPPED_SHARE = 0.2
PAGE_KIB = 4.0
LATENCIES = ("read_ms", "write_ms", "request_ms", "device_ms")
WHERE = "cpu is null and blocked_tasks is not null"
UNKNOWN_DEVICE = NotMeasured(
    "which device they wait for, and whether it is slow or has too much to do",
    "a device that answers fast may be asked for so much",
    "iostat -x, sar -d, pidstat -d of the same time; or doctord record",
)


@cause(explains=("time_not_measured",))
def tasks_blocked(case: Case) -> Iterator[Claim]:
    """Most of the tasks that have something to do wait for I/O.

    Looks like: procs_blocked in /proc/stat, the column b of vmstat, is higher than the run queue most of the time.
        Where they are fewer than CPUs it is a note: whether that is much, only latencies tell.
    Hurts because: a blocked task does nothing until its read or write is done: their mean number is the time lost to
        I/O in each second.
    Speaks for it: blocked tasks beside those that run or could, for how much of the time, and pages from swap among
        what is read.
    Speaks against it: a run queue as long as the blocked tasks are many.
    Remedy: Find the device and who uses it (iostat -x 5, pidstat -d 5). Where pages come back from swap, memory comes
        first. Else fewer reads and writes (indexes, a larger buffer pool, a backup at another time), then faster
        devices.
    Verify: Fewer tasks are blocked at the same transactions per second.
    Source: Kernel documentation, "The /proc Filesystem", procs_blocked; vmstat(8); Little's law (1961).
    """
    blocked = None if case.is_time_measured else mostly_blocked(case.dataset)
    if blocked is None:
        return
    for_, against = weigh(
        [
            Sign("cpu", WHERE, blocked.tasks, LEAST_TASKS, "{:.1f} tasks blocked on average",
                 phrase("{:.1f s} lost to I/O in each second", blocked.tasks)),
            Sign("cpu", WHERE, blocked.share * 100, MOST * 100, "{:.0f %} of the tasks with something to do",
                 phrase("beside {:.1f} that run or could", blocked.ready)),
            Sign("cpu", WHERE, blocked.part * 100, LASTING * 100, "so {:.0f %} of the time", "it lasts"),
            Sign("memory", "swap_in_per_s is not null", _swapped_pct(case), SWAPPED_SHARE * 100,
                 "{:.0f %} of what is read are pages from swap", "memory is short as well",
                 "memory is not what they wait for"),
        ]
    )  # fmt: skip
    yield Claim(
        phrase("Most tasks wait for I/O: {:.1f} blocked, {:.1f} running or ready", blocked.tasks, blocked.ready),
        impact=NOT_MEASURED,
        severity=None if _are_many(case, blocked) else "note",
        confidence=0.7,
        for_=for_,
        against=against,
        not_measured=[UNKNOWN_DEVICE],
    )


def _are_many(case: Case, blocked: Blocked) -> bool:
    """Whether there is a blocked task for each CPU."""
    if case.cpus:
        return blocked.tasks >= case.cpus
    idle, waiting = case.mean("cpu", "idle_pct"), case.mean("cpu", "wait_io_pct")
    return idle is not None and waiting is not None and waiting >= NEXT_TO_IDLE * (idle + waiting)


def _swapped_pct(case: Case) -> float | None:
    """Pages from swap, % of what is read from disks: as vmstat and sar -B count it, swapping is part of reading."""
    read_kib_per_s, pages_per_s = case.mean("memory", "page_in_kib_per_s"), case.mean("memory", "swap_in_per_s")
    if not read_kib_per_s or pages_per_s is None:
        return None
    return min(100.0, pages_per_s * PAGE_KIB / read_kib_per_s * 100)
