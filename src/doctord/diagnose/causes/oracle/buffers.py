"""Oracle's buffers: blocks that many want at once, and a database writer that is late."""

from collections.abc import Iterator

from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.holders import to_begin_with
from doctord.diagnose.common.oracle import counted, holders_ran, leaders
from doctord.diagnose.common.waited import behind, share, waited
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import Claim
from doctord.diagnose.phrase import phrase

BUSY = "buffer busy waits"
CHAINS = "latch: cache buffers chains"
NO_FREE = ("free buffer waits", "write complete waits", "latch: cache buffers lru chain")
WRITES = "db file parallel write"
SLOW_WRITE_MS = 20.0


@cause()
def hot_blocks(case: Case) -> Iterator[Claim]:
    """Several sessions want to change the same block at the same moment.

    Looks like: buffer busy waits.
    Hurts because: one holds the block, the others wait, although each wants another row in it.
    Speaks for it: share of the time, the class of the blocks, the segments.
    Speaks against it: waits that come with slow reads (before 10g the same event; now read by other session).
    Remedy: By class: data blocks of a growing index, see index_splits; data blocks of a table, spread the rows (hash
        partitions, automatic segment space management, PCTFREE); segment header, extents and ASSM; undo header,
        more undo segments (automatic undo); undo blocks, shorter readers of hot rows.
    Verify: buffer busy waits of the segment, and the event's share.
    Source: Oracle Database Performance Tuning Guide 19c, "buffer busy waits".
    """
    part = share(case, BUSY)
    if case.worth_saying(part):
        yield Claim(
            phrase("Sessions wait for blocks that others hold: {:share of database}", part),
            impact=part,
            confidence=0.85,
            for_=[
                *waited(case, BUSY),
                *leaders(case, "v$waitstat.time", "the class of the block"),
                *leaders(case, "v$segment_statistics.buffer busy waits", "where the blocks are"),
            ],
        )


@cause()
def hot_buffers(case: Case) -> Iterator[Claim]:
    """Sessions wait for the latch of one chain of buffers: many read the same few blocks in memory.

    Looks like: latch: cache buffers chains.
    Hurts because: every look at a block takes its chain's latch; a plan that looks at the same blocks millions of times
        makes it the narrow place, and burns CPU besides.
    Speaks for it: share of the time, logical reads per second, the statements with most of them.
    Speaks against it: a host without a free CPU: a holder that is not running makes latches look contended.
    Remedy: The statements with most buffer gets: nested loops over the same inner index, missing or unselective
        indexes; spread a truly hot block.
    Verify: Buffer gets of the statement, and the share of the latch.
    Source: Oracle Database Performance Tuning Guide 19c, "latch events"; Oracle Support,
        "latch: cache buffers chains" (Doc ID 1342917.1).
    """
    part = share(case, CHAINS)
    if not case.worth_saying(part):
        return
    for_, against = weigh([holders_ran(case)])
    yield Claim(
        phrase("Sessions wait for the latches of hot buffers: {:share of database}", part),
        impact=part,
        confidence=0.6 if against else 0.85,
        for_=[
            *waited(case, CHAINS),
            *counted(case, "v$sysstat.session logical reads", "{:rate logical reads}"),
            *leaders(case, "v$sqlstats.gets", "a statement with many"),
            *leaders(case, "v$segment_statistics.logical reads", "where"),
            *for_,
        ],
        against=against,
        first_steps=to_begin_with(case, "gets_share"),
    )


@cause()
def database_writer_late(case: Case) -> Iterator[Claim]:
    """Sessions find no free buffer: the database writer does not clean them fast enough.

    Looks like: free buffer waits, write complete waits.
    Hurts because: a session that needs a buffer for a read, or for a change, stands still until one was written.
    Speaks for it: share of these waits, the duration of db file parallel write, asynchronous I/O that is off.
    Speaks against it: quick writes: then the cache is too small for the changes, or there are too few writers.
    Remedy: Asynchronous I/O (filesystemio_options = setall, disk_asynch_io = true), more db_writer_processes, quicker
        or more devices for the data files; steady checkpoints (fast_start_mttr_target); a larger cache rides
        out bursts.
    Verify: free buffer waits near zero at the same block changes.
    Source: Oracle Database Performance Tuning Guide 19c, "free buffer waits"; J. Doelle and S. Langer, 2012 (settings).
    """
    part = share(case, *NO_FREE)
    if not case.worth_saying(part):
        return
    write = case.background.get(WRITES)
    for_, against = weigh(
        [
            Sign("wait", f"event = '{WRITES}'", write.ms if write else None, SLOW_WRITE_MS, "writes of {:.1f ms}",
                 "the data files' device is slow", "the device is quick: the cache, or too few writers"),
        ]
    )  # fmt: skip
    options = case.setting_of_any("filesystemio_options")
    yield Claim(
        phrase("Sessions wait for the database writer: {:share of database}", part),
        impact=part,
        confidence=0.7 if against else 0.85,
        for_=[
            *waited(case, *NO_FREE),
            *(
                behind(case, WRITES, phrase("{:.0f ms}", SLOW_WRITE_MS), phrase("filesystemio_options is {}", options))
                if options
                else []
            ),
            *for_,
            *counted(case, "v$sysstat.db block changes", "{:rate block changes}"),
        ],
        against=against,
    )
