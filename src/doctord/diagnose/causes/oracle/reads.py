"""Oracle's reads: too many, and for whom."""

from collections.abc import Iterator

from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.histograms import spread
from doctord.diagnose.common.holders import to_begin_with
from doctord.diagnose.common.oracle import counted, leaders, readers
from doctord.diagnose.common.waited import mean_ms, of_kind, reads_severity, share, waited
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import Claim, Evidence, NotMeasured
from doctord.diagnose.phrase import phrase

# The same waits have names of their own on Exadata.
SINGLE = ("db file sequential read", "cell single block physical read", "db file parallel read")
SINGLE_TIMED = SINGLE[:2]
MULTI = ("db file scattered read", "direct path read", "cell multiblock physical read", "cell smart table scan",
         "cell smart index scan")  # fmt: skip
OTHERS_READ = "read by other session"
# A disk at low load takes 4 to 12 ms; beyond 20 the request queued somewhere, whatever the device is.
SLOW_READ_MS = 20.0
# Reading is what a database does: quick reads are a finding only where they are a good part of all time.
MUCH = 0.2
RATIO = "instance_efficiency.Buffer Hit %"
SEGMENT_READS = "v$segment_statistics.physical reads"
FREE_MEMORY = 0.25
HOW_LONG = NotMeasured("how long each read takes", "samples do not time waits", "AWR or Statspack of the same time")


@cause()
def too_many_single_block_reads(case: Case) -> Iterator[Claim]:
    """Much of the time goes into reading single blocks, because there are so many reads.

    Looks like: db file sequential read takes a large share although each read is as quick as its device can be.
    Hurts because: a read that is not needed costs its time on any device.
    Speaks for it: share of the time, reads per second, the statements and segments that read, the cache advice.
    Speaks against it: slow single reads (the device; samples do not tell how long they take); few reads a second. A
        buffer hit ratio speaks neither way: 99.88 % stood beside 43 % of the time in these reads.
    Remedy: First the statements that read most: better indexes, fewer rows visited, less work. Then memory: a larger
        buffer cache where the advice says that it saves reads; a keep pool for small hot segments. Faster storage last.
    Verify: Physical reads per second and the share of the event fall at the same load.
    Source: G. Fawcett, "Demystifying high-end server behavior", 2005 (40 GB of keep pool: 700 to 7 reads a second);
        Oracle Database Performance Tuning Guide 10.2, "db file sequential read".
    """
    waits = [case.waits[event] for event in SINGLE if event in case.waits]
    part = share(case, *SINGLE)
    often = sum(wait.per_second or 0.0 for wait in waits)
    ms = mean_ms([wait for wait in waits if wait.event in SINGLE_TIMED])
    if part < MUCH or not case.worth_saying(part) or (ms is not None and ms >= SLOW_READ_MS):
        return
    told = [*readers(case), *leaders(case, SEGMENT_READS, "where they read")]
    read = waited(case, *SINGLE) if waits else of_kind(case, "single read")
    for_, against = weigh(
        [
            Sign("wait", "event = 'db file sequential read'", ms, SLOW_READ_MS / 2, "{:.2g ms} a read",
                 "the device is not the trouble", "as slow as a disk: faster storage would help too", below=True),
        ]
    )  # fmt: skip
    yield Claim(
        phrase(
            "{:share of database} goes into single-block reads{}",
            part,
            "" if ms is None else phrase(": {}{:.2g ms} each", phrase("{:rate}, ", often) if often else "", ms),
        ),
        impact=part,
        confidence=0.85 if told and ms is not None else 0.7,
        for_=[*read, *told, *for_, *spread(case, *SINGLE_TIMED)[0], *_free_memory(case)],
        against=[*against, *_ratio(case)],
        not_measured=[] if ms is not None else [HOW_LONG],
        severity=reads_severity(ms, part),
        first_steps=to_begin_with(case, "reads_share"),
    )


@cause()
def full_scans(case: Case) -> Iterator[Claim]:
    """Much of the time goes into reading whole tables and indexes.

    Looks like: db file scattered read, direct path read or their kin on Exadata.
    Hurts because: a scan reads every block, whatever is wanted of them; direct reads do so again each time.
    Speaks for it: share of the time, the statements and segments that read, long table scans per second.
    Speaks against it: reports and loads that want the whole table: then bandwidth and parallelism are the question.
    Remedy: For statements that want few rows an index or partition pruning; check stale statistics, implicit
        conversions, functions on columns. For those that want all of them fewer runs, compression, a materialised view.
    Verify: The plans; physical reads and the share of these events fall.
    Source: Oracle Database Performance Tuning Guide 10.2, "db file scattered read", "direct path read"; C. Antognini,
        Troubleshooting Oracle Performance, 2nd edition, 2014.
    """
    part = share(case, *MULTI)
    if part < MUCH or not case.worth_saying(part):
        return
    told = [
        *leaders(case, "v$segment_statistics.table scans", "scanned whole"),
        *leaders(case, "v$segment_statistics.physical read requests", "where they read"),
        *readers(case),
    ]
    yield Claim(
        phrase("{:share of database} reads tables and indexes as a whole", part),
        impact=part,
        confidence=0.85 if told else 0.7,
        for_=[
            *waited(case, *MULTI),
            *told,
            *counted(case, "v$sysstat.physical read total bytes", "{:bytes/s} read"),
        ],
        first_steps=to_begin_with(case, "reads_share"),
    )


@cause()
def same_blocks_read(case: Case) -> Iterator[Claim]:
    """Sessions wait while another one reads the very blocks that they want.

    Looks like: read by other session.
    Hurts because: several sessions run the same read-heavy statement, or scan the same table, at the same time.
    Speaks for it: share of the time; which segments are read.
    Speaks against it: quick reads of few blocks: then only a start after a restart.
    Remedy: As for the reads themselves: the statement that they all run. Shift jobs that run at the same minute apart.
    Verify: The share of read by other session falls with that of the reads.
    Source: Oracle Database Performance Tuning Guide 10.2, "read by other session".
    """
    part = share(case, OTHERS_READ)
    if case.worth_saying(part):
        yield Claim(
            phrase("{:share of database} waits for blocks that another session is reading", part),
            impact=part,
            confidence=0.85,
            for_=[
                *waited(case, OTHERS_READ),
                *leaders(case, SEGMENT_READS, "where they read"),
                *readers(case),
            ],
            first_steps=to_begin_with(case, "reads_share"),
        )


def _ratio(case: Case) -> list[Evidence]:
    """The hit ratio, for whoever would bring it forward; direct reads pass the cache by and are no part of it."""
    ratio = next((figure.mean for figure in case.figures(RATIO)), None)
    if ratio is None:
        return []
    reads = "" if ratio >= 100 else phrase(" (one block in {:,.0f} was read into the cache)", 100 / (100 - ratio))
    return [
        Evidence("statistic", f"name = '{RATIO}'", phrase("buffer hit ratio {:.2f %}{}", ratio, reads), "",
                 "no evidence: a ratio of counts; the reads that are left take this time")
    ]  # fmt: skip


def _free_memory(case: Case) -> list[Evidence]:
    available = case.mean("memory", "available_bytes") or case.mean("memory", "free_bytes")
    total = case.mean("memory", "total_bytes")
    if not available or not total or available < FREE_MEMORY * total:
        return []
    return [
        Evidence("memory", "available_bytes", phrase("{:share} of memory free, {:bytes}", available / total, available),
                 phrase("{:share}", FREE_MEMORY),
                 "there is room for a larger buffer cache", "at_least")
    ]  # fmt: skip
