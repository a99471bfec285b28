"""Oracle's undo: readers that come too late, and no room for what is to be kept."""

from collections.abc import Iterator

from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.oracle import counted, leaders
from doctord.diagnose.common.waited import share, waited
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence
from doctord.diagnose.phrase import phrase

TOO_OLD = "v$undostat.ssolderrcnt"
NO_SPACE = "v$undostat.nospaceerrcnt"
LONGEST = "v$undostat.max_query_s"
BLOCKS = "v$undostat.undo_blocks"
CONTENTION = "enq: US - contention"


@cause()
def snapshot_too_old(case: Case) -> Iterator[Claim]:
    """Queries fail because the undo that they need has been overwritten (ORA-01555).

    Looks like: ssolderrcnt in v$undostat; ORA-01555 in the alert log.
    Hurts because: a query of hours is thrown away at its end and is started again.
    Speaks for it: the count of failures, the longest query against undo_retention.
    Speaks against it: queries shorter than the retention: then LOBs (their own retention) or delayed cleanout.
    Remedy: undo_retention above the longest query that must succeed, and an undo tablespace with room for it
        (undo blocks per second x block size x retention); make the query shorter; no commits inside its own loop.
    Verify: ssolderrcnt stays 0 while the longest query runs through.
    Source: Oracle Database Administrator's Guide 19c, "Managing Undo"; Oracle Database Reference 19c, V$UNDOSTAT.
    """
    failures = case.amount(TOO_OLD)
    if failures <= 0:
        return
    longest = max((figure.largest for figure in case.figures(LONGEST)), default=None)
    retention = case.setting_of_any("undo_retention")
    long = longest is not None and retention is not None and retention.isdigit() and longest > int(retention)
    told = [] if longest is None else [
        Evidence("statistic", f"name = '{LONGEST}'", phrase("the longest query took {:time}", longest),
                 phrase("undo_retention {} s", retention or 'unknown'), "longer than undo is kept for" if long else "")
    ]  # fmt: skip
    yield Claim(
        "Queries fail because their undo is gone (ORA-01555)",
        impact=NOT_MEASURED,
        confidence=0.95,
        for_=[
            Evidence("statistic", f"name = '{TOO_OLD}'", phrase("{:,.0f} failures", failures), "none", "ORA-01555"),
            *(told if long or retention is None else []),
            *counted(case, BLOCKS, "{:rate undo blocks}"),
        ],
        against=[] if long or retention is None else told,
    )


@cause(explains=("undo_contention",))
def undo_out_of_space(case: Case) -> Iterator[Claim]:
    """The undo tablespace has no room: transactions fail or steal what queries still need (ORA-30036).

    Looks like: nospaceerrcnt in v$undostat.
    Hurts because: changes fail, and undo within its retention is overwritten.
    Speaks for it: the count of failures, undo per second.
    Speaks against it: one runaway transaction: then the transaction.
    Remedy: Enlarge the undo tablespace, or let its files extend to a limit; split very large transactions.
    Verify: nospaceerrcnt stays 0.
    Source: Oracle Database Reference 19c, V$UNDOSTAT; Oracle Database Administrator's Guide 19c, "Managing Undo".
    """
    failures = case.amount(NO_SPACE)
    if failures > 0:
        yield Claim(
            "The undo tablespace has no room",
            impact=NOT_MEASURED,
            confidence=0.95,
            for_=[
                Evidence("statistic", f"name = '{NO_SPACE}'", phrase("{:,.0f} failures", failures), "none", ""),
                *counted(case, BLOCKS, "{:rate undo blocks}"),
            ],
        )


@cause()
def undo_contention(case: Case) -> Iterator[Claim]:
    """Sessions wait for undo segments to be brought online.

    Looks like: enq: US - contention, often with row cache lock on dc_rollback_segments.
    Hurts because: a burst of transactions wants more undo segments than are online; one at a time is brought back.
    Speaks for it: share of the time.
    Speaks against it: an undo tablespace that is out of room: then that is the cause.
    Remedy: Room in the undo tablespace; a fixed undo_retention in place of one tuned to days; keep segments online
        (_rollback_segment_count) as Oracle Support advises.
    Verify: The event is gone in the next burst.
    Source: Oracle Support, "enq: US - contention" (Doc ID 1332738.1).
    """
    part = share(case, CONTENTION)
    if case.worth_saying(part):
        yield Claim(
            phrase("Sessions wait for undo segments: {:share of database}", part),
            impact=part,
            confidence=0.8,
            for_=[*waited(case, CONTENTION), *leaders(case, "v$waitstat.time", "the class of the block")],
        )
