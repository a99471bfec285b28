"""Oracle's enqueues beyond those on rows and tables: who waits for a lock, of which kind, on what."""

from collections.abc import Iterator

from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.histograms import spread
from doctord.diagnose.common.oracle import counted, leaders
from doctord.diagnose.common.waited import events_like, share, waited
from doctord.diagnose.finding import Claim, Evidence
from doctord.diagnose.phrase import phrase

ITL = "enq: TX - allocate ITL entry"
INDEX = "enq: TX - index contention"
ITL_SEGMENTS = "v$segment_statistics.itl waits"
BUSY_SEGMENTS = "v$segment_statistics.buffer busy waits"
SEQUENCES = ("enq: SQ - contention", "enq: SV -  contention", "enq: SV - contention")
SPACE = ("enq: HW - contention", "enq: FB - contention", "enq: SS - contention", "enq: ST - contention",
         "Data file init write", "enq: TT - contention")  # fmt: skip
OBJECT_CHECKPOINTS = ("enq: RO - fast object reuse", "enq: KO - fast object checkpoint", "enq: TO - contention",
                      "enq: RO - contention", "local write wait")  # fmt: skip
CONTROL_FILE = ("enq: CF - contention", "control file sequential read", "control file parallel write")

# Less than a tenth of the time, of which no more is known than its name, alarms nobody.
SMALL = 0.1
# What the remaining enqueues mean, and what to do (Oracle Database Reference 19c, "Oracle Enqueue Names").
MEANING = {
    "TX": (
        "another transaction, for no row, slot or index: one that is prepared and not ended, or a tablespace that is "
        "made read-only",
        "Look for transactions in doubt (dba_2pc_pending) and for open ones; ASH (blocking_session) names the one.",
    ),
    "PS": ("parallel servers are reserved", "Fewer parallel statements at once, or a queue (parallel_degree_policy)."),
    "JI": ("a materialized view is refreshed by another", "Spread the refreshes; refresh fast or less often."),
    "DX": ("a distributed transaction's branch", "Look for sessions of one global transaction that run at once."),
    "WF": ("AWR's flush", "See whether AWR's own statements or SYSAUX are slow."),
    "CI": ("a call to all instances", "Look for truncate, drop and checkpoints of objects."),
    "PR": ("a process is started", "Fewer logons: a connection pool."),
    "KM": ("the resource manager's plan is changed", "See who switches plans."),
    "RC": ("the result cache is filled", "Use the result cache for what changes seldom."),
    "MD": ("a materialized view log is changed", "No DDL on it in busy hours."),
    "AE": ("an edition", "No DDL in busy hours."),
    "TC": ("a tablespace checkpoint", "No hot backups or read-only switches in busy hours."),
    "PV": ("parallel servers start or stop", "Set parallel_min_servers so that they stay."),
    "BB": ("a global (XA) transaction across instances", "Keep one global transaction on one instance."),
}


@cause()
def transaction_slots_missing(case: Case) -> Iterator[Claim]:
    """Blocks have no slot left for one more transaction.

    Looks like: enq: TX - allocate ITL entry; ITL waits of a segment.
    Hurts because: a session that changes a row in a full block waits for another's commit, though no row is shared.
    Speaks for it: share of the time, the segments with ITL waits.
    Speaks against it: no segment with such waits.
    Remedy: Rebuild the named table or index with a higher INITRANS (and PCTFREE so that there is room to grow).
    Verify: ITL waits of the segment stop.
    Source: Oracle Database Performance Tuning Guide 19c, "enqueue (enq:)": TX allocate ITL entry.
    """
    yield from _of_kind(
        case, (ITL,), "Blocks have no transaction slot left", leaders(case, ITL_SEGMENTS, "raise its INITRANS")
    )


@cause()
def index_splits(case: Case) -> Iterator[Claim]:
    """Sessions wait while an index block is split.

    Looks like: enq: TX - index contention, often with buffer busy waits, in a cluster with gc buffer busy.
    Hurts because: keys that always grow (a sequence, a time) all go into the last block: everybody waits for its split.
    Speaks for it: share of the time, the index with most busy waits.
    Speaks against it: a purge that leaves empty blocks behind, which the split has to step over.
    Remedy: Hash-partition the index, or use a scalable sequence (18c and later); a reverse key where no ranges are
        asked for; a larger cache of the sequence in a cluster; coalesce the index after large deletes.
    Verify: The share of the event; branch and leaf node splits per second.
    Source: Oracle Support, "Troubleshooting enq: TX - index contention" (Doc ID 873243.1).
    """
    more = [
        *leaders(case, BUSY_SEGMENTS, "busy segments"),
        *counted(case, "v$sysstat.leaf node 90-10 splits", "{:rate splits at the right end}"),
        *counted(case, "v$sysstat.leaf node splits", "{:rate leaf splits}"),
    ]
    yield from _of_kind(case, (INDEX,), "Sessions wait for index splits", more)


@cause()
def sequence_contention(case: Case) -> Iterator[Claim]:
    """Sessions wait for the next values of a sequence.

    Looks like: enq: SQ - contention, enq: SV - contention (ordered, in a cluster), sequence load in the time model.
    Hurts because: with a small cache every few values the dictionary is updated, and committed, by one session for all.
    Speaks for it: share of the time; calls of the statement that updates seq$.
    Speaks against it: a NOCACHE or ORDER that the business insists on.
    Remedy: CACHE 1000 or more, NOORDER, for every sequence that is used often (also those of identity columns and
        AUDSES$, which logons use).
    Verify: The share of the events; executions of "update seq$".
    Source: Oracle Database Performance Tuning Guide 19c, "enqueue (enq:)"; Oracle Real Application Clusters
        Administration and Deployment Guide 19c (sequences).
    """
    more = counted(case, "v$sys_time_model.sequence load elapsed time", "sequence load {:.3g} s per s")
    yield from _of_kind(case, SEQUENCES, "Sessions wait for sequence numbers", more)


@cause()
def space_allocation(case: Case) -> Iterator[Claim]:
    """Sessions wait while segments or files grow.

    Looks like: enq: HW - contention, enq: FB, enq: ST, Data file init write.
    Hurts because: one session at a time moves the high-water mark; a file that extends itself is formatted meanwhile.
    Speaks for it: share of the time, the segments that are busy.
    Speaks against it: none of it in an ordinary hour: then one load.
    Remedy: Allocate ahead: extents for the segment before the load, data files at their final size or with large
        steps; partition the hot segment; store large LOBs as SecureFiles.
    Verify: The events are gone during the same load.
    Source: Oracle Database Performance Tuning Guide 19c, "enqueue (enq:)": HW; Oracle Support,
        "enq: HW - contention" (Doc ID 740075.1).
    """
    yield from _of_kind(
        case, SPACE, "Sessions wait for space to be allocated", leaders(case, BUSY_SEGMENTS, "busy segments")
    )


@cause()
def object_checkpoints(case: Case) -> Iterator[Claim]:
    """Truncates, drops and direct reads wait until the database writer has written an object's blocks.

    Looks like: enq: RO - fast object reuse, enq: KO - fast object checkpoint, local write wait.
    Hurts because: the whole buffer cache is searched and the object's changed blocks are written before it goes on.
    Speaks for it: share of the time.
    Speaks against it: a database writer that is slow for everybody.
    Remedy: Global temporary tables in place of create, fill, truncate in a loop; delete where the table is tiny; no
        direct reads (parallel, serial) of tables that are being changed.
    Verify: The share of the events.
    Source: Oracle Database Reference 19c, "Descriptions of Wait Events", local write wait; "Oracle Enqueue
        Names".
    """
    yield from _of_kind(case, OBJECT_CHECKPOINTS, "Truncates and direct reads wait for checkpoints of objects", [])


@cause()
def control_file_busy(case: Case) -> Iterator[Claim]:
    """Sessions wait for the control file.

    Looks like: enq: CF - contention, control file sequential read, control file parallel write.
    Hurts because: the control file is one, and small reads and writes of it serialise.
    Speaks for it: share of the time; how long its writes take.
    Speaks against it: a monitoring query that reads v$ views of the control file: then the query.
    Remedy: No unrecoverable direct loads in small steps (each writes the control file), fewer log switches, the control
        file on a quick device; let monitoring read v$log, v$datafile and RMAN's views less often.
    Verify: The share of the events.
    Source: Oracle Database Reference 19c, "Descriptions of Wait Events", control file parallel write; Oracle Support,
        "enq: CF - contention" (Doc ID 1072417.1).
    """
    yield from _of_kind(case, CONTROL_FILE, "Sessions wait for the control file", [])


@cause()
def other_enqueues(case: Case) -> Iterator[Claim]:
    """Sessions wait for an enqueue of another kind.

    Looks like: an event enq: that no other cause names.
    Hurts because: each waits for another session, or a job, to end what it does.
    Speaks for it: share of the time, and what Oracle uses that lock for.
    Speaks against it: a single long wait of a job that nobody waits for.
    Remedy: Find the holder (v$lock, ASH: blocking_session) and what it does.
    Verify: The share of the event.
    Source: Oracle Database Reference 19c, "Oracle Enqueue Names".
    """
    elsewhere = case.time.events_of("row lock", "table lock", "application lock")
    known = {ITL, INDEX, "enq: US - contention", *elsewhere, *SEQUENCES, *SPACE, *OBJECT_CHECKPOINTS, *CONTROL_FILE}
    for event in events_like(case, "enq: "):
        if event in known or not case.worth_saying(share(case, event)):
            continue
        what, remedy = MEANING.get(event[5:7], ("a lock of the server itself", ""))
        yield Claim(
            phrase("{}: {:share of database}", event, share(case, event)),
            impact=share(case, event),
            confidence=0.7,
            for_=[*waited(case, event, why=what), *spread(case, event)[0]],
            remedy=(remedy,) if remedy else (),
            severity="note" if share(case, event) < SMALL else None,
        )


def _of_kind(case: Case, events: tuple[str, ...], title: str, more: list[Evidence]) -> Iterator[Claim]:
    """A finding where a group of events takes a share of the time that is worth saying."""
    part = share(case, *events)
    if case.worth_saying(part):
        yield Claim(
            phrase("{}: {:share of database}", title, part),
            impact=part,
            confidence=0.85,
            for_=[*waited(case, *events), *spread(case, *events)[0], *more],
        )
