"""Storage: devices that queue, devices that are slow, others who use them, and limits set on them."""

from collections.abc import Iterator

import polars as pl

from doctord.analyse.host import cgroups
from doctord.analyse.host.other_processes import Consumer, consumers
from doctord.analyse.storage import disks
from doctord.analyse.storage.backups import BACKUP, Backups, backups
from doctord.dataset.waits.kinds import READS, STORAGE
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.storage.latencies import slow_histograms
from doctord.diagnose.causes.storage.way_to_disk import path_to
from doctord.diagnose.evidence import Sign, past, weigh
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence, Impact, NotMeasured, at_most
from doctord.diagnose.phrase import Phrase, phrase

# What a disk drive takes for a random request at low load; flash and cached devices stay below a millisecond.
FELT_MS = 4.0
# The casebook's log device was slow at 12 ms a write; a disk drive at low load takes less than this.
SLOW_MS = 10.0
# A request that finds four before it waits longer than it is served; one or two at a time is ordinary overlap.
QUEUED = 4.0
# Sixteen before it: more than any device serves at a time without being slower for each of them.
LONG_QUEUE = 16.0
BAD_MS = 100.0
LASTING_S = 30.0
BUSY_PCT = 90.0
SHARED_BUSY_PCT = 50.0
SHARED_MS = 2.0
# Means over fewer requests than this say little.
LEAST_REQUESTS_PER_S = 5.0
# A checkpoint fills a device for a few seconds; what lasts a quarter of the time is no burst.
LASTING = 0.25
OTHERS_SHARE = 0.5
OTHERS_BYTES_PER_S = 2**20
MOST_MOVERS = 2
MOVED = pl.col("read_bytes").fill_null(0.0) + pl.col("write_bytes").fill_null(0.0)
# Throttling lets requests through in slices of 100 ms, so that a group held at its limit is measured a little below it.
NEAR_LIMIT = 0.85
UNKNOWN_QUEUE = NotMeasured(
    "how long requests take and how many wait",
    "a device that serves many at a time may be busy all the time and have room",
    "iostat -x, sar -d, doctord record",
)
NO_LATENCY_RISE = 1.5
# Where nobody's wait was measured: more than a disk drive at work takes with the seeks of a full queue before it.
PLAINLY_SLOW_MS = 50.0


# Busy all the time with a queue, and each request waits for it; or so long a queue that busy time says nothing of a
# device that serves many at a time. By Little's law a queue longer than what is done in a second means more than a
# second each.
_BUSY = (pl.col("util_pct") >= BUSY_PCT) & (pl.col("queue") >= QUEUED)
_STUCK = pl.col("requests_per_s") < pl.col("queue")
QUEUEING = (_BUSY & ((pl.col("ms") >= FELT_MS) | _STUCK)) | (
    (pl.col("queue") >= LONG_QUEUE) & (pl.col("ms") >= SHARED_MS)
)
# What lasts half a minute is told where nobody is fine with it.
BADLY = QUEUEING & ((pl.col("ms") >= BAD_MS) | _STUCK)


@cause(
    explains=(
        "reads_slow",
        "slow_file",
        "commits_slow",
        "log_writer_starved",
        "tasks_blocked",
    ),
    waits=STORAGE,
)
def device_saturated(case: Case) -> Iterator[Claim]:
    """A device has more to do than it can: requests queue.

    Looks like: the device is busy all the time, several requests are outstanding, and each takes longer than at rest.
    Hurts because: a request waits for all that are before it; adding load adds waiting, not work done.
    Speaks for it: busy time, mean queue (by Little's law the rate times the latency), latency that rises with the
        queue, sessions waiting for I/O.
    Speaks against it: latency as usual or no higher when the queue is longer: then the device serves in parallel; a
        test of the storage (fio), which is meant to keep it busy.
    Remedy: Find who issues the requests (statements that read much, checkpoints, backups) and make them fewer: indexes,
        memory, spreading in time. Requests waiting in the host under a low cap: raise the queue depth. Then spread over
        more or faster devices.
    Verify: Queue and milliseconds per request fall at the same transactions per second.
    Source: Little's law (1961); K. Manoharan, 2008: host queue and device queue together are where requests wait.
    """
    rows = disks.intervals(case.dataset)
    yield from _always_busy(case, rows)
    for spell in _lasting(rows, QUEUEING, BADLY):
        impact = _impact(case, spell)
        if impact is None:
            continue
        signs = [*_waits(case), *_load(spell), *past(case, f"{spell.device} latency"), _rise(rows, spell.device)]
        for_, against = weigh(signs)
        test = _storage_test(case)
        yield Claim(
            _saturated(spell),
            impact=impact,
            confidence=0.6 if test else 0.85,
            for_=[*for_, *_movers(case), *path_to(case, spell.device)],
            against=[*against, *test],
            severity="note" if test else None,
        )


@cause(
    explains=(
        "reads_slow",
        "slow_file",
        "commits_slow",
        "log_writer_starved",
    ),
    waits=STORAGE,
)
def device_slow(case: Case) -> Iterator[Claim]:
    """A device takes long for each request although little is asked of it.

    Looks like: high latency with hardly any queue and few requests per second.
    Hurts because: every read and every commit waits that long, however few there are.
    Speaks for it: milliseconds per request, no queue to explain them, sessions waiting for I/O.
    Speaks against it: a queue (then it is saturated), a latency that was always so.
    Remedy: Look below the device: a failing disk or battery of a write cache, paths of multipath, a limit of the cloud
        volume, a busy storage server or neighbour. Move the log to a faster device meanwhile.
    Verify: Milliseconds per request at the same rate, here and in a test of the device (fio) at a quiet time.
    Source: K. Manoharan's redo case, 2008: 12 ms for a log write; L. Canali, latency maps, 2013: what a disk takes.
    """
    rows = disks.intervals(case.dataset)
    least_ms = SLOW_MS if case.is_time_measured else PLAINLY_SLOW_MS
    yield from slow_histograms(case, least_ms)
    slow = (pl.col("ms") >= least_ms) & (pl.col("queue") < QUEUED) & (pl.col("requests_per_s") >= LEAST_REQUESTS_PER_S)
    for spell in _lasting(rows, slow):
        impact = _impact(case, spell)
        if impact is None:
            continue
        signs = [
            *_waits(case),
            Sign("disk", f"device = '{spell.device}'", spell.ms, least_ms, "{:.1f ms} per request", "slow at any load"),
            Sign("disk", f"device = '{spell.device}'", spell.queue, QUEUED, "{:.1f} requests outstanding",
                 phrase("no queue explains it, at {:.0f requests/s}", spell.requests_per_s), below=True),
            *past(case, f"{spell.device} latency"),
        ]  # fmt: skip
        for_, against = weigh(signs)
        yield Claim(
            phrase(
                "{} is slow: {:.0f ms} per request at {:.0f requests/s}", spell.device, spell.ms, spell.requests_per_s
            ),
            impact=impact,
            confidence=0.85 if case.is_time_measured else 0.6,
            for_=[*for_, *path_to(case, spell.device)],
            against=against,
        )


@cause(
    explains=(
        "device_saturated",
        "device_slow",
        "queue_depth_low",
        "reads_slow",
        "slow_file",
        "commits_slow",
        "log_writer_starved",
    ),
    waits=STORAGE,
)
def io_by_others(case: Case) -> Iterator[Claim]:
    """Processes outside the database, or a backup of it, keep the device busy.

    Looks like: a busy device whose bytes mostly belong to processes that are not the database's, while sessions wait;
        or to those of its processes that send a base backup, or all rows to pg_dump.
    Hurts because: the device serves whoever comes; a copy or a backup fills its queue with large requests.
    Speaks for it: bytes issued by others against those of the database; the device's busy time and latency.
    Speaks against it: bytes of others that never reached this device, or latency as usual.
    Remedy: Run the named process at a quiet time or elsewhere, limit it (ionice, cgroup io.max), or give the database
        a device of its own.
        PostgreSQL: take backups from a standby; pg_basebackup -r 32M keeps to that rate.
    Verify: With the process gone latency and the share of I/O waits fall.
    Source: Kernel documentation, /proc/PID/io; K. Manoharan's redo case, 2008: archiver and log writer on one LUN;
        PostgreSQL documentation, pg_basebackup, max-rate.
    """
    backing = backups(case.dataset, case.processes)
    outside = pl.concat([case.other_processes, backing.outside]).unique(["pid", "started"], maintain_order=True)
    others = [*consumers(outside, MOVED), *consumers(backing.inside, MOVED)]
    others.sort(key=lambda other: -other.amount)
    theirs = sum(other.amount for other in others)
    database = case.processes.filter(pl.col("database") & ~pl.col("pid").is_in(backing.inside["pid"].implode()))
    ours = sum(own.amount for own in consumers(database, MOVED))
    enough = theirs >= OTHERS_BYTES_PER_S * case.seconds and theirs >= OTHERS_SHARE * (theirs + ours)
    busy = (pl.col("util_pct") >= SHARED_BUSY_PCT) & (pl.col("ms") >= SHARED_MS)
    spell = next(iter(_lasting(disks.intervals(case.dataset), busy)), None)
    if not theirs or not enough or not case.dbs or spell is None:
        return
    part = spell.part * theirs / (theirs + ours)
    impact = _io_share(case) * part
    if not _is_felt(case, part):
        return
    for_, against = weigh([*_waits(case), *_load(spell), *past(case, f"{spell.device} latency")])
    yield Claim(
        phrase("{} and all else outside the database issue {:share} of the I/O: {:bytes/s}",
               others[0].name, theirs / (theirs + ours), theirs / case.seconds),
        impact=at_most(impact),
        confidence=0.8,
        for_=[
            Evidence("process", _by(backing), phrase("{:bytes/s}", theirs / case.seconds),
                     phrase("{:bytes/s} by the database", ours / case.seconds), "read and written by others"),
            *(_mover(case, other) for other in others[:3]),
            *for_,
        ],
        against=against,
    )  # fmt: skip


@cause(
    explains=(
        "device_slow",
        "device_saturated",
        "queue_depth_low",
        "reads_slow",
        "slow_file",
        "commits_slow",
        "log_writer_starved",
        "buffer_pool_small",
        "checkpoints_too_frequent",
    ),
    waits=STORAGE,
)
def cgroup_io_limit(case: Case) -> Iterator[Claim]:
    """An I/O limit of the database's control group holds its requests back.

    Looks like: sessions wait for I/O, the group's rate stands at a limit set for it, the device itself is well.
    Hurts because: beyond the limit each request is held back in the kernel until the next slice, long before the device
        sees it: no figure of the device shows it.
    Speaks for it: rate against limit over time; share of database time waiting for I/O.
    Speaks against it: a rate that reaches the limit only in bursts.
    Remedy: Raise the limit (io.max; blkio.throttle.* in version 1; IOReadBandwidthMax and the like in systemd; the
        container's definition), or make the database issue less.
    Verify: The rate stays below the limit, and the share of I/O waits falls.
    Source: Kernel documentation, "Control Group v2", io.max, and "Block IO Controller", throttling.
    """
    reached = [limit for limit in cgroups.io_limits(case.dataset, NEAR_LIMIT) if limit.part >= LASTING]
    if not reached:
        return
    directions = {limit.direction for limit in reached}
    reads_only = directions == {cgroups.READ}
    impact = _io_share(case, reads_only=reads_only) * reached[0].part
    if not _is_felt(case, reached[0].part, reads_only=reads_only):
        return
    group, _, device = reached[0].entity.rpartition(" ")
    healthy = (pl.col("device") == device) & (pl.col("ms") < FELT_MS)
    quick = next((spell for spell in disks.spells(disks.intervals(case.dataset), healthy)), None)
    yield Claim(
        phrase("Control group {} is at its {} limit on {}", group, reached[0].direction, device),
        impact=at_most(impact),
        confidence=0.95,
        for_=[
            *(_at_limit(limit) for limit in reached),
            *weigh(_waits(case))[0],
            *([Evidence("disk", f"device = '{device}'", phrase("the device takes {:.1f ms} per request", quick.ms),
                        phrase("{:.0f ms}", FELT_MS), "the waiting is above the device", "at_most")] if quick else []),
        ],
    )  # fmt: skip


def _io_share(case: Case, *, reads_only: bool = False) -> float:
    """Share of the time that a device can be to blame for: waiting for a replica's commit is none of it."""
    reads = case.time.share("User I/O") + case.time.share("I/O")
    if reads_only:
        return reads
    return reads + case.time.share("System I/O") + case.time.share("Commit") - case.time.share("Commit", "SyncRep")


def _saturated(spell: disks.Spell) -> Phrase:
    """A device with its queue and what a request takes; where hardly any is done, how few."""
    if spell.ms is None or spell.requests_per_s < min(LEAST_REQUESTS_PER_S, spell.queue or 0.0):
        done = phrase("{:.1f requests/s} done", spell.requests_per_s)
        return phrase("{} is stuck: {:.0f} requests outstanding, {}", spell.device, spell.queue, done)
    return phrase("{} is saturated: {:.0f} requests outstanding, {:.0f ms} each", spell.device, spell.queue, spell.ms)


def _storage_test(case: Case) -> list[Evidence]:
    """A test of the storage among the files: as many requests wait as it asks for at a time."""
    if not case.is_storage_test:
        return []
    return [
        Evidence("statistic", "component = 'fio'", phrase("fio ran"), "", "a test is meant to keep its device busy")
    ]


def _always_busy(case: Case, rows: pl.DataFrame) -> Iterator[Claim]:
    """Devices that are busy all the time, of which neither latency nor queue is known: a while may be a burst."""
    for spell in disks.busy_untold(rows):
        if (impact := _impact(case, spell)) is None:
            continue
        for_, against = weigh([*_waits(case), *_load(spell)])
        is_most = spell.part >= disks.MOST_OF_THE_TIME
        saturated = phrase("{} is saturated: busy {:.0f %} of the time", spell.device, spell.util_pct)
        unknown = phrase("Cannot tell whether {} has room: always busy for {:.0f s}", spell.device, spell.longest_s)
        yield Claim(
            saturated if is_most else unknown,
            impact=impact,
            confidence=0.6,
            for_=for_,
            against=against,
            not_measured=[UNKNOWN_QUEUE],
            severity=None if is_most else "note",
        )


def _impact(case: Case, spell: disks.Spell) -> Impact | None:
    """What a device's trouble costs: unknown where the database's time was not measured, none where nobody waited."""
    if not case.is_time_measured:
        return NOT_MEASURED
    return at_most(_io_share(case) * spell.part) if _is_felt(case, spell.part) else None


def _is_felt(case: Case, part: float, *, reads_only: bool = False) -> bool:
    """Whether a part (0 to 1) of the waits for storage is worth a finding, with the locks that are waited for behind.

    Where nobody waits for storage there is nothing that those locks could be added to.
    """
    share = _io_share(case, reads_only=reads_only)
    behind = case.roots.behind(READS if reads_only else STORAGE)
    return bool(share) and case.worth_saying((share + behind) * part)


def _lasting(rows: pl.DataFrame, condition: pl.Expr, severe: pl.Expr | None = None) -> list[disks.Spell]:
    """Devices for which a condition held a quarter of the time, or a severe one for half a minute on end."""
    known = [spell for spell in disks.spells(rows, condition) if spell.part >= LASTING]
    others = [] if severe is None else disks.spells(rows, severe)
    told = {spell.device for spell in known}
    return known + [spell for spell in others if spell.longest_s >= LASTING_S and spell.device not in told]


def _waits(case: Case) -> list[Sign]:
    waited = _io_share(case) * 100 if case.time.shares else None
    return [
        Sign("session", "wait_class in ('User I/O', 'System I/O', 'Commit')", waited, 5.0,
             "{:.0f %} of the time waiting for I/O", "sessions wait for storage"),
    ]  # fmt: skip


def _load(spell: disks.Spell) -> list[Sign]:
    where = f"device = '{spell.device}'"
    return [
        Sign("disk", where, spell.util_pct, BUSY_PCT, "busy {:.0f %} of the time", "hardly a moment without a request",
             "the device has moments of rest"),
        Sign("disk", where, spell.queue, QUEUED, "{:.1f} requests outstanding",
             phrase("{:.0f requests/s} at {:.1f ms}", spell.requests_per_s, spell.ms), "few requests at a time"),
        Sign("disk", where, spell.ms, FELT_MS, "{:.1f ms} per request", "more than a disk takes at rest",
             "a disk at rest takes that"),
        Sign("disk", where, spell.host_queue, 1.0, "{:.1f} requests waiting in the host",
             "the device takes no more at a time"),
    ]  # fmt: skip


def _rise(rows: pl.DataFrame, device: str) -> Sign:
    return Sign("disk", f"device = '{device}'", disks.rise(rows, device), NO_LATENCY_RISE,
                "a request takes {:.1f} times as long in the busier half of the time", "latency rises with the queue",
                "latency does not rise with the queue")  # fmt: skip


def _by(backing: Backups) -> str:
    """The rows of those that are not at work for the database's clients."""
    pids = ", ".join(map(str, backing.inside["pid"]))
    return "not starts_with(command, 'postgres')" + (f" or pid in ({pids})" if pids else "")


def _movers(case: Case) -> list[Evidence]:
    """Who reads and writes most on this host: no process is told by device."""
    most = consumers(case.processes, MOVED)[:MOST_MOVERS] if case.process_seconds else []
    return [
        Evidence("process", f"command = '{one.command}'",
                 phrase("{}: {:bytes/s}", one.name, one.amount / case.process_seconds), "read and written",
                 "who issues most, on all devices together")
        for one in most if one.amount >= OTHERS_BYTES_PER_S * case.process_seconds
    ]  # fmt: skip


def _mover(case: Case, other: Consumer) -> Evidence:
    is_backup = bool(other.pid) and BACKUP in other.command
    return Evidence(
        "process",
        f"pid = {other.pid}" if is_backup else f"command = '{other.command}'",
        phrase("{}: {:bytes/s}", other.name, other.amount / case.seconds),
        "read and written",
        "the database's own process, for a backup" if is_backup else "not a process of the database",
    )


def _at_limit(limit: cgroups.IoLimit) -> Evidence:
    bytes_limited = "bytes" in limit.name
    rate, most = (
        (phrase("{:bytes/s}", value) if bytes_limited else phrase("{:.0f requests/s}", value))
        for value in (limit.rate, limit.limit)
    )
    return Evidence(
        "statistic",
        f"name = '{limit.name}' and entity = '{limit.entity}'",
        phrase("{} on average, at the limit {:.0%} of the time", rate, limit.part),
        phrase("limit {}", most),
        phrase("{}s are held back", limit.direction),
    )
